// Plain tensor parallelism: every rank holds 1/ranks of the intermediate columns of every expert.
// All ranks read the same activated experts and work on the same pairs, so the imbalance between
// ranks is exactly 1, of activated experts and of pairs.
#include <cmath>
#include <string>

#include "sim/core/error.h"
#include "sim/moe/expert_set.h"
#include "sim/moe/routing.h"

namespace shiftpoint {
namespace {

class TpSlicedPlacement final : public Placement {
 public:
  TpSlicedPlacement(std::int64_t experts, std::int64_t experts_per_token, std::int64_t ranks)
      : experts_(experts), k_(experts_per_token), ranks_(ranks) {}

  void fill(std::span<const std::uint16_t> experts_of_tokens, LayerLoad& load) const override {
    const auto pairs = static_cast<std::int64_t>(experts_of_tokens.size());
    SIM_CHECK(pairs % k_ == 0, std::to_string(pairs) + " pairs of " + std::to_string(k_));
    ExpertSet activated(experts_);
    for (const std::uint16_t expert : experts_of_tokens) {
      SIM_CHECK(expert < experts_,
                "expert " + std::to_string(expert) + " of " + std::to_string(experts_));
      activated.insert(expert);
    }
    set(pairs / k_, activated.count(0, experts_), load);
  }

  void fill_expected(std::int64_t tokens, LayerLoad& load) const override {
    set(tokens, std::llround(expected_activated_experts(experts_, k_, tokens)), load);
  }

  double slice() const override { return 1.0 / static_cast<double>(ranks_); }

 private:
  void set(std::int64_t tokens, std::int64_t activated, LayerLoad& load) const {
    load.tokens = tokens;
    load.pairs = tokens * k_;
    load.activated_experts = activated;
    const auto ranks = static_cast<std::size_t>(ranks_);
    load.rank_activated_experts.assign(ranks, static_cast<std::int32_t>(activated));
    load.rank_pairs.assign(ranks, load.pairs);
  }

  std::int64_t experts_, k_, ranks_;
};

}  // namespace

std::unique_ptr<Placement> make_tp_sliced_placement(std::int64_t experts,
                                                    std::int64_t experts_per_token,
                                                    std::int64_t ranks) {
  return std::make_unique<TpSlicedPlacement>(experts, experts_per_token, ranks);
}

}  // namespace shiftpoint
