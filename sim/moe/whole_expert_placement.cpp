// Expert parallelism without copies: rank r holds the experts r * experts/ranks and following, each
// whole (the "linear" placement of public engines). A token's pairs go where its experts lie, so
// ranks differ in activated experts and in pairs.
#include <cmath>
#include <string>

#include "sim/core/error.h"
#include "sim/moe/expert_set.h"
#include "sim/moe/routing.h"

namespace shiftpoint {
namespace {

// Part `index` of `total` split into `parts` whole numbers that differ by at most one.
std::int64_t share(std::int64_t total, std::int64_t parts, std::int64_t index) {
  return total / parts + (index < total % parts ? 1 : 0);
}

class WholeExpertPlacement final : public Placement {
 public:
  WholeExpertPlacement(std::int64_t experts, std::int64_t experts_per_token, std::int64_t ranks)
      : experts_(experts),
        k_(experts_per_token),
        ranks_(ranks),
        experts_per_rank_(experts / ranks) {
    for (std::int64_t e = 0; e < experts; ++e) {
      rank_of_.push_back(static_cast<std::uint16_t>(e / experts_per_rank_));
    }
  }

  void fill(std::span<const std::uint16_t> experts_of_tokens, LayerLoad& load) const override {
    load.pairs = static_cast<std::int64_t>(experts_of_tokens.size());
    SIM_CHECK(load.pairs % k_ == 0, std::to_string(load.pairs) + " pairs of " + std::to_string(k_));
    load.tokens = load.pairs / k_;
    load.activated_experts = 0;
    load.rank_activated_experts.resize(static_cast<std::size_t>(ranks_));
    load.rank_pairs.assign(static_cast<std::size_t>(ranks_), 0);
    ExpertSet activated(experts_);
    for (const std::uint16_t expert : experts_of_tokens) {
      SIM_CHECK(expert < experts_,
                "expert " + std::to_string(expert) + " of " + std::to_string(experts_));
      activated.insert(expert);
      ++load.rank_pairs[rank_of_[expert]];
    }
    for (std::int64_t rank = 0; rank < ranks_; ++rank) {
      const std::int64_t first = rank * experts_per_rank_;
      const std::int64_t here = activated.count(first, first + experts_per_rank_);
      load.rank_activated_experts[static_cast<std::size_t>(rank)] = static_cast<std::int32_t>(here);
      load.activated_experts += here;
    }
  }

  void fill_expected(std::int64_t tokens, LayerLoad& load) const override {
    load.tokens = tokens;
    load.pairs = tokens * k_;
    load.activated_experts = std::llround(expected_activated_experts(experts_, k_, tokens));
    load.rank_activated_experts.clear();
    load.rank_pairs.clear();
    for (std::int64_t rank = 0; rank < ranks_; ++rank) {
      load.rank_activated_experts.push_back(
          static_cast<std::int32_t>(share(load.activated_experts, ranks_, rank)));
      load.rank_pairs.push_back(share(load.pairs, ranks_, rank));
    }
  }

  double slice() const override { return 1; }

 private:
  std::int64_t experts_, k_, ranks_, experts_per_rank_;
  std::vector<std::uint16_t> rank_of_;  // by expert
};

}  // namespace

std::unique_ptr<Placement> make_whole_expert_placement(std::int64_t experts,
                                                       std::int64_t experts_per_token,
                                                       std::int64_t ranks) {
  if (experts % ranks != 0) {
    throw_bad_input({}, "moe.placement",
                    "found whole-expert with " + std::to_string(experts) + " experts over " +
                        std::to_string(ranks) + " ranks",
                    "a number of ranks that divides " + std::to_string(experts));
  }
  return std::make_unique<WholeExpertPlacement>(experts, experts_per_token, ranks);
}

}  // namespace shiftpoint
