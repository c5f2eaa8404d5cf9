#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/core/error.h"
#include "sim/moe/expert_set.h"
#include "sim/moe/routing.h"
#include "sim/test_support/catch.h"

using namespace shiftpoint;

namespace {

using Ids = std::vector<std::uint16_t>;
using Counts = std::vector<std::int32_t>;
using Pairs = std::vector<std::int64_t>;

Ids routed(std::int64_t experts, std::int64_t k, std::uint32_t tokens, std::int64_t layer) {
  std::vector<RoutedToken> batch;
  for (std::uint32_t t = 0; t < tokens; ++t) batch.push_back({t / 9, 4, t % 9});
  Ids out;
  make_router("uniform", experts, k)->route(3, layer, batch, out);
  return out;
}

template <class Numbers>
std::int64_t total(const Numbers& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

}  // namespace

TEST_CASE("three tokens worked by hand: 2 of 8 experts over 4 ranks") {
  const Ids experts = {0, 1, 1, 6, 0, 7};  // activated 0 1 | 6 7: ranks 0 and 3, two each
  LayerLoad load;
  make_placement("whole-expert", 8, 2, 4)->fill(experts, load);
  CHECK(load.tokens == 3);
  CHECK(load.pairs == 6);
  CHECK(load.activated_experts == 4);
  CHECK(load.rank_activated_experts == Counts{2, 0, 0, 2});
  CHECK(load.rank_pairs == Pairs{4, 0, 0, 2});
  make_placement("tp-sliced", 8, 2, 4)->fill(experts, load);
  CHECK(load.tokens == 3);
  CHECK(load.pairs == 6);
  CHECK(load.activated_experts == 4);
  CHECK(load.rank_activated_experts == Counts{4, 4, 4, 4});
  CHECK(load.rank_pairs == Pairs{6, 6, 6, 6});
}

TEST_CASE("a load that is filled again keeps nothing of its past") {
  for (const char* name : {"tp-sliced", "whole-expert"}) {
    const auto eight = make_placement(name, 384, 8, 8);
    const auto two = make_placement(name, 384, 8, 2);
    LayerLoad used;
    eight->fill(routed(384, 8, 500, 0), used);
    LayerLoad fresh;
    two->fill(routed(384, 8, 2, 1), used);
    two->fill(routed(384, 8, 2, 1), fresh);
    CHECK(used.activated_experts == fresh.activated_experts);
    CHECK(used.rank_activated_experts == fresh.rank_activated_experts);
    CHECK(used.rank_pairs == fresh.rank_pairs);
    two->fill({}, used);
    CHECK(used.tokens == 0);
    CHECK(used.rank_activated_experts == Counts{0, 0});
    CHECK(used.rank_pairs == Pairs{0, 0});
  }
}

TEST_CASE("pairs and experts are conserved whatever the number of ranks") {
  for (const std::uint32_t tokens : {1U, 9U, 64U, 1000U}) {
    const Ids ids = routed(384, 8, tokens, tokens);
    Ids distinct = ids;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (const std::int64_t ranks : {1, 2, 3, 8, 48, 384}) {
      LayerLoad whole;
      make_placement("whole-expert", 384, 8, ranks)->fill(ids, whole);
      CHECK(whole.pairs == std::int64_t{tokens} * 8);
      CHECK(total(whole.rank_pairs) == whole.pairs);
      CHECK(whole.activated_experts == static_cast<std::int64_t>(distinct.size()));
      CHECK(total(whole.rank_activated_experts) == whole.activated_experts);
      const std::int64_t most = *std::max_element(whole.rank_activated_experts.begin(),
                                                  whole.rank_activated_experts.end());
      CHECK(most >= (whole.activated_experts + ranks - 1) / ranks);
      CHECK(most <= 384 / ranks);
      for (std::size_t r = 0; r < whole.rank_pairs.size(); ++r) {
        CHECK(whole.rank_pairs[r] >= whole.rank_activated_experts[r]);
      }
      if (ranks == 1) CHECK(most == whole.activated_experts);
      if (tokens == 1) CHECK(whole.activated_experts == 8);
      if (tokens == 1 && ranks == 384) CHECK(most == 1);

      // tp-sliced: max over ranks / mean over ranks is exactly 1, of both counts.
      LayerLoad sliced;
      make_placement("tp-sliced", 384, 8, ranks)->fill(ids, sliced);
      CHECK(sliced.activated_experts == whole.activated_experts);
      CHECK(sliced.rank_pairs == Pairs(static_cast<std::size_t>(ranks), sliced.pairs));
      CHECK(sliced.rank_activated_experts ==
            Counts(static_cast<std::size_t>(ranks),
                   static_cast<std::int32_t>(sliced.activated_experts)));
    }
  }
}

TEST_CASE("all experts of every token: every rank holds its share") {
  LayerLoad load;
  make_placement("whole-expert", 64, 64, 8)->fill(routed(64, 64, 5, 0), load);
  CHECK(load.activated_experts == 64);
  CHECK(load.rank_activated_experts == Counts(8, 8));
  CHECK(load.rank_pairs == Pairs(8, 40));
}

TEST_CASE("renaming experts renames ranks and changes nothing else") {
  const auto placement = make_placement("whole-expert", 384, 8, 8);
  const Ids ids = routed(384, 8, 40, 2);
  LayerLoad load;
  placement->fill(ids, load);

  // Within a rank, experts in reverse order: the same ranks hold them.
  Ids renamed = ids;
  for (auto& id : renamed) id = static_cast<std::uint16_t>(id / 48 * 48 + 47 - id % 48);
  LayerLoad within;
  placement->fill(renamed, within);
  CHECK(within.activated_experts == load.activated_experts);
  CHECK(within.rank_activated_experts == load.rank_activated_experts);
  CHECK(within.rank_pairs == load.rank_pairs);

  // Expert e becomes 383 - e: rank r's experts move to rank 7 - r.
  renamed = ids;
  for (auto& id : renamed) id = static_cast<std::uint16_t>(383 - id);
  LayerLoad mirrored;
  placement->fill(renamed, mirrored);
  std::reverse(mirrored.rank_activated_experts.begin(), mirrored.rank_activated_experts.end());
  std::reverse(mirrored.rank_pairs.begin(), mirrored.rank_pairs.end());
  CHECK(mirrored.rank_activated_experts == load.rank_activated_experts);
  CHECK(mirrored.rank_pairs == load.rank_pairs);
}

TEST_CASE("expected loads keep totals and are balanced to within rounding") {
  const auto whole = make_placement("whole-expert", 384, 8, 8);
  const auto sliced = make_placement("tp-sliced", 384, 8, 8);
  LayerLoad load;
  whole->fill_expected(9, load);  // 66.2827 activated experts: 66 = 8 x 8 + 2; 72 pairs
  CHECK(load.tokens == 9);
  CHECK(load.pairs == 72);
  CHECK(load.activated_experts == 66);
  CHECK(load.rank_activated_experts == Counts{9, 9, 8, 8, 8, 8, 8, 8});
  CHECK(load.rank_pairs == Pairs(8, 9));
  sliced->fill_expected(9, load);
  CHECK(load.activated_experts == 66);
  CHECK(load.rank_activated_experts == Counts(8, 66));
  CHECK(load.rank_pairs == Pairs(8, 72));
  for (const std::int64_t tokens : {0, 1, 3, 1025, 8192, 100000}) {
    whole->fill_expected(tokens, load);
    CHECK(load.tokens == tokens);
    CHECK(total(load.rank_pairs) == tokens * 8);
    CHECK(load.activated_experts == std::lround(expected_activated_experts(384, 8, tokens)));
    CHECK(load.activated_experts <= 384);
    CHECK(total(load.rank_activated_experts) == load.activated_experts);
    const auto [least, most] = std::minmax_element(load.rank_pairs.begin(), load.rank_pairs.end());
    CHECK(*most - *least <= 1);
  }
}

TEST_CASE("the share of an expert that a rank reads") {
  CHECK(make_placement("tp-sliced", 384, 8, 8)->slice() == 0.125);
  CHECK(make_placement("whole-expert", 384, 8, 8)->slice() == 1.0);
  CHECK(make_placement("tp-sliced", 384, 8, 7)->slice() == 1.0 / 7);  // no whole experts to divide
}

TEST_CASE("placements name what is accepted") {
  CHECK(placement_names() == "tp-sliced|whole-expert");
  CHECK_THROWS_WITH(make_placement("ep", 8, 2, 2),
                    "'moe.placement': found 'ep'; accepted: tp-sliced|whole-expert");
  CHECK_THROWS_WITH(make_placement("whole-expert", 384, 8, 7),
                    "'moe.placement': found whole-expert with 384 experts over 7 ranks; accepted: "
                    "a number of ranks that divides 384");
  CHECK_THROWS_AS(make_placement("whole-expert", 384, 8, 768), UserError);
  CHECK_THROWS_AS(make_placement("tp-sliced", 384, 8, 0), UserError);
  CHECK_THROWS_AS(make_placement("tp-sliced", 4, 8, 1), UserError);
}

TEST_CASE("ids beyond the model and half tokens are refused, never wrapped") {
  for (const char* name : {"tp-sliced", "whole-expert"}) {
    const auto placement = make_placement(name, 8, 2, 4);
    LayerLoad load;
    CHECK_THROWS_AS(placement->fill(Ids{1, 8}, load), InvariantError);
    CHECK_THROWS_AS(placement->fill(Ids{1, 2, 3}, load), InvariantError);
  }
}

TEST_CASE("expert sets count members of any range") {
  ExpertSet set(300);
  std::vector<bool> model(300, false);
  for (std::uint32_t i = 0; i < 300; i += 1 + i % 7) {
    set.insert(i);
    model[i] = true;
  }
  for (std::int64_t begin = 0; begin <= 300; begin += 13) {
    for (std::int64_t end = begin; end <= 300; ++end) {
      REQUIRE(set.count(begin, end) ==
              std::count(model.begin() + begin, model.begin() + end, true));
    }
  }
}
