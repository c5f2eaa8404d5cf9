// Routes the tokens of one step through every MoE layer and keeps what the step's cost and
// statistics need. Owns the scratch buffers, so that a step allocates nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/core/model.h"
#include "sim/moe/routing.h"

namespace shiftpoint {

// Mean over MoE layers. Imbalance: maximum over ranks divided by mean over ranks.
struct LoadSummary {
  double activated_experts = 0;
  double expert_imbalance = 0;  // of activated experts
  double pair_imbalance = 0;    // of token-expert pairs
  double idle_ranks = 0;        // ranks without an activated expert
};

class LoadDraws {
 public:
  LoadDraws(const ModelConfig& model, const MoeConfig& config, std::int64_t ranks,
            std::uint64_t seed);

  double slice() const { return placement_->slice(); }

  // Draws experts for exactly these tokens in every MoE layer. `tokens` is empty and `count` given
  // where the step has more tokens than moe.exact_tokens_max: then loads are their expectation.
  std::span<const LayerLoad> draw(std::span<const RoutedToken> tokens, std::int64_t count);

  LoadSummary summary() const;
  std::int64_t exact_tokens_max() const { return exact_tokens_max_; }

  // Token-expert pairs and tokens routed so far, over all MoE layers: pairs = tokens * k by
  // construction of a correct router, which the simulator checks at its end.
  std::int64_t pairs() const { return pairs_; }
  std::int64_t layer_tokens() const { return layer_tokens_; }

 private:
  std::unique_ptr<Router> router_;
  std::unique_ptr<Placement> placement_;
  std::int64_t dense_layers_ = 0;
  std::int64_t exact_tokens_max_ = 0;
  std::uint64_t seed_ = 0;
  std::int64_t pairs_ = 0;
  std::int64_t layer_tokens_ = 0;
  std::vector<LayerLoad> loads_;
  std::vector<std::uint16_t> experts_;
};

}  // namespace shiftpoint
