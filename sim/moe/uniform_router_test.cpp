#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sim/core/error.h"
#include "sim/moe/routing.h"
#include "sim/test_support/catch.h"

using namespace shiftpoint;

namespace {

using Ids = std::vector<std::uint16_t>;

Ids route(const Router& router, std::uint64_t seed, std::int64_t layer,
          const std::vector<RoutedToken>& tokens) {
  Ids out;
  router.route(seed, layer, tokens, out);
  return out;
}

struct Mean {
  double n = 0, sum = 0, squares = 0;
  void add(double x) {
    n += 1;
    sum += x;
    squares += x * x;
  }
  double value() const { return sum / n; }
  double standard_error() const {
    return std::sqrt(std::max(squares / n - value() * value(), 0.0) / n);
  }
};

void check_within_4_errors(const Mean& mean, double expected, double standard_error) {
  INFO("mean " << mean.value() << " expected " << expected << " error " << standard_error);
  CHECK(std::abs(mean.value() - expected) <= 4 * standard_error + 1e-12);
}

}  // namespace

TEST_CASE("a token's experts are distinct and in range") {
  const std::pair<std::int64_t, std::int64_t> shapes[] = {
      {1, 1}, {2, 1}, {8, 2}, {8, 8}, {64, 64}, {384, 8}, {65, 64}, {4097, 7}, {65535, 64}};
  for (const auto& [experts, k] : shapes) {
    INFO(experts << " experts, k " << k);
    const auto router = make_router("uniform", experts, k);
    std::vector<RoutedToken> tokens;
    for (std::uint32_t i = 0; i < 300; ++i) tokens.push_back({i / 9, 3, i % 9});
    const Ids out = route(*router, 1, 5, tokens);
    REQUIRE(out.size() == tokens.size() * static_cast<std::size_t>(k));
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      const auto first = out.begin() + static_cast<std::ptrdiff_t>(t) * k;
      const std::set<std::uint16_t> mine(first, first + k);
      REQUIRE(static_cast<std::int64_t>(mine.size()) == k);
      REQUIRE(*mine.rbegin() < experts);
    }
  }
}

TEST_CASE("a token's draws do not depend on its batch") {
  const auto router = make_router("uniform", 384, 8);
  // More tokens than the router has marks (255), so that it starts them again on the way.
  std::vector<RoutedToken> tokens;
  for (std::uint32_t i = 0; i < 700; ++i) tokens.push_back({i / 9, i % 5, i % 9});
  const Ids together = route(*router, 9, 17, tokens);
  Ids appended;
  for (const RoutedToken& token : tokens) {
    router->route(9, 17, std::span(&token, 1), appended);  // appends
  }
  CHECK(appended == together);
  std::reverse(tokens.begin(), tokens.end());
  const Ids reversed = route(*router, 9, 17, tokens);
  bool same = true;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    for (std::size_t i = 0; i < 8; ++i) {
      same &= reversed[t * 8 + i] == together[(tokens.size() - 1 - t) * 8 + i];
    }
  }
  CHECK(same);
}

TEST_CASE("draws depend on seed, layer and every part of the token's identity") {
  const auto router = make_router("uniform", 384, 8);
  const Ids base = route(*router, 7, 3, {{1, 2, 4}});
  CHECK(base == route(*router, 7, 3, {{1, 2, 4}}));
  CHECK(base != route(*router, 8, 3, {{1, 2, 4}}));
  CHECK(base != route(*router, 7, 4, {{1, 2, 4}}));
  CHECK(base != route(*router, 7, 3, {{2, 2, 4}}));
  CHECK(base != route(*router, 7, 3, {{1, 3, 4}}));
  CHECK(base != route(*router, 7, 3, {{1, 2, 5}}));
  CHECK(base != route(*router, 7, 4, {{1, 2, 3}}));  // node and layer are not added up
  CHECK_THROWS_AS(route(*router, 7, 65536, {{1, 2, 4}}), InvariantError);
  CHECK_THROWS_AS(route(*router, 7, -1, {{1, 2, 4}}), InvariantError);
  CHECK_THROWS_AS(route(*router, 7, 3, {{1, 2, 65536}}), InvariantError);
}

TEST_CASE("every subset is equally likely: 2 of 5 experts") {
  const auto router = make_router("uniform", 5, 2);
  std::map<std::pair<int, int>, int> counts;
  constexpr int kTokens = 100000;
  for (std::uint32_t i = 0; i < kTokens; ++i) {
    const Ids out = route(*router, 2, 0, {{i, 0, 0}});
    ++counts[std::minmax(out[0], out[1])];
  }
  REQUIRE(counts.size() == 10);
  double chi_square = 0;
  for (const auto& [subset, count] : counts) {
    const double excess = count - kTokens / 10.0;
    chi_square += excess * excess / (kTokens / 10.0);
  }
  INFO("chi-square " << chi_square);
  // The 1e-6 quantiles, lower and upper, of 9 degrees of freedom.
  CHECK(chi_square > 0.228);
  CHECK(chi_square < 44.8);
}

TEST_CASE("experts are equally popular: chi-square") {
  // With 40000 experts two in five 16-bit pieces are refused; taking them would show at once.
  const std::pair<std::int64_t, std::int64_t> shapes[] = {{384, 8}, {40000, 2}};
  for (const auto& [experts, k] : shapes) {
    const auto router = make_router("uniform", experts, k);
    constexpr int kTokens = 200000;
    std::vector<RoutedToken> tokens;
    for (std::uint32_t i = 0; i < kTokens; ++i) tokens.push_back({i % 50, i / 50, i % 9});
    std::vector<int> counts(static_cast<std::size_t>(experts), 0);
    for (const std::uint16_t expert : route(*router, 4, 11, tokens)) ++counts[expert];
    // Experts of a token are drawn without replacement: a count has variance N p (1 - p), and two
    // have covariance -N p (1 - p) / (E - 1), so this scaling gives E - 1 degrees of freedom.
    const double e = static_cast<double>(experts);
    const double p = static_cast<double>(k) / e;
    double chi_square = 0;
    for (const int count : counts) {
      const double excess = count - kTokens * p;
      chi_square += excess * excess / (kTokens * p * (1 - p)) * ((e - 1) / e);
    }
    INFO(experts << " experts, chi-square " << chi_square);
    CHECK(std::abs(chi_square - (e - 1)) < 5 * std::sqrt(2 * (e - 1)));  // 5 standard deviations
  }
}

TEST_CASE("a token worked by hand from Philox's published known answer") {
  // This seed and all coordinates 0 give the words 6627e8d5 e169c58d bc57ac4c 9b00dbd8 (see
  // core_test.cpp), hence the pieces e8d5 6627 c58d e169 ac4c bc57 dbd8 9b00, lower half first.
  const std::uint64_t seed = std::uint64_t{4U * 0x9E3779B9U & 0xffffffffU} << 32;
  // Of 384: piece * 377 >> 16, piece * 378 >> 16, ..., piece * 384 >> 16; none refused.
  CHECK(route(*make_router("uniform", 384, 8), seed, 0, {{0, 0, 0}}) ==
        Ids{342, 150, 292, 334, 256, 281, 328, 232});
  // Of 10: draws of 0..2, 0..3, ..., 0..9 are 2 1 3 5 4 5 7 6; one that is already chosen stands
  // for the last of its range.
  CHECK(route(*make_router("uniform", 10, 8), seed, 0, {{0, 0, 0}}) == Ids{2, 1, 3, 5, 4, 7, 8, 6});
}

TEST_CASE("tokens that differ in one coordinate overlap as independent ones do") {
  const auto router = make_router("uniform", 384, 8);
  // Overlap of two independent 8-subsets of 384: hypergeometric, mean 64/384, variance
  // 8 (8/384) (376/384) (376/383).
  const double error_of_one = std::sqrt(8 * (8. / 384) * (376. / 384) * (376. / 383));
  constexpr std::uint32_t kPairs = 20000;
  const auto overlap = [](const Ids& a, const Ids& b) {
    int both = 0;
    for (const std::uint16_t expert : a) both += std::find(b.begin(), b.end(), expert) != b.end();
    return both;
  };
  Mean request, step, node, layer;
  for (std::uint32_t i = 0; i < kPairs; ++i) {
    const RoutedToken token = {i, 1, 2};
    const Ids base = route(*router, 6, 8, {token});
    request.add(overlap(base, route(*router, 6, 8, {{i + kPairs, 1, 2}})));
    step.add(overlap(base, route(*router, 6, 8, {{i, 2, 2}})));
    node.add(overlap(base, route(*router, 6, 8, {{i, 1, 3}})));
    layer.add(overlap(base, route(*router, 6, 9, {token})));
  }
  for (const Mean& mean : {request, step, node, layer}) {
    check_within_4_errors(mean, 64.0 / 384, error_of_one / std::sqrt(double{kPairs}));
  }
}

TEST_CASE("drawn loads agree with the closed forms within 4 standard errors") {
  struct Shape {
    std::int64_t experts, k, ranks, tokens;
  };
  const Shape shapes[] = {{384, 8, 8, 1}, {384, 8, 8, 9},   {384, 8, 8, 64}, {128, 4, 8, 9},
                          {128, 8, 4, 3}, {256, 8, 32, 16}, {8, 2, 8, 2}};
  for (const Shape& s : shapes) {
    INFO(s.experts << " experts, k " << s.k << ", ranks " << s.ranks << ", tokens " << s.tokens);
    const auto router = make_router("uniform", s.experts, s.k);
    const auto placement = make_placement("whole-expert", s.experts, s.k, s.ranks);
    Mean activated, idle, most;
    LayerLoad load;
    Ids out;
    std::vector<RoutedToken> tokens(static_cast<std::size_t>(s.tokens));
    constexpr std::uint32_t kLayers = 20000;
    for (std::uint32_t i = 0; i < kLayers; ++i) {
      for (std::uint32_t t = 0; t < tokens.size(); ++t) tokens[t] = {t / 9, i / 60, t % 9};
      out.clear();
      router->route(5, i % 60, tokens, out);
      placement->fill(out, load);
      activated.add(static_cast<double>(load.activated_experts));
      most.add(*std::max_element(load.rank_activated_experts.begin(),
                                 load.rank_activated_experts.end()));
      const auto idle_ranks = std::count(load.rank_pairs.begin(), load.rank_pairs.end(), 0);
      idle.add(static_cast<double>(idle_ranks) / static_cast<double>(s.ranks));
    }
    check_within_4_errors(activated, expected_activated_experts(s.experts, s.k, s.tokens),
                          activated.standard_error());
    check_within_4_errors(most, expected_max_rank_experts(s.experts, s.k, s.ranks, s.tokens),
                          most.standard_error());
    // The error comes from the expectation, since a rare idle rank may not be seen at all: a share
    // of `ranks` events has at most the variance of one.
    const double p = idle_rank_probability(s.experts, s.k, s.ranks, s.tokens);
    check_within_4_errors(idle, p, std::max(idle.standard_error(), std::sqrt(p / kLayers)));
  }
}

TEST_CASE("routers name what is accepted") {
  CHECK(router_names() == "uniform");
  CHECK_THROWS_WITH(make_router("zipf", 8, 2), "'moe.routing': found 'zipf'; accepted: uniform");
  CHECK_THROWS_WITH(make_router("uniform", 8, 9),
                    "'model.experts_per_token': found 9 of 8 experts; accepted: 1 to 64, and no "
                    "more than there are experts");
  CHECK_THROWS_AS(make_router("uniform", 65536, 8), UserError);
  CHECK_THROWS_AS(make_router("uniform", 384, 65), UserError);
  CHECK_THROWS_AS(make_router("uniform", 384, 0), UserError);
}
