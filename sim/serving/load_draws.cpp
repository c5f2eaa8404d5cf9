#include "sim/serving/load_draws.h"

#include <algorithm>

namespace shiftpoint {

LoadDraws::LoadDraws(const ModelConfig& model, const MoeConfig& config, std::int64_t ranks,
                     std::uint64_t seed)
    : router_(make_router(config.routing, model.experts, model.experts_per_token)),
      placement_(make_placement(config.placement, model.experts, model.experts_per_token, ranks)),
      dense_layers_(model.dense_layers),
      exact_tokens_max_(config.exact_tokens_max),
      seed_(seed),
      loads_(static_cast<std::size_t>(std::max<std::int64_t>(0, model.moe_layers()))) {}

std::span<const LayerLoad> LoadDraws::draw(std::span<const RoutedToken> tokens,
                                           std::int64_t count) {
  if (count > exact_tokens_max_) {
    // Every layer has the same expectation.
    if (!loads_.empty()) placement_->fill_expected(count, loads_.front());
    std::fill(loads_.begin() + (loads_.empty() ? 0 : 1), loads_.end(),
              loads_.empty() ? LayerLoad{} : loads_.front());
  } else {
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      experts_.clear();
      router_->route(seed_, dense_layers_ + static_cast<std::int64_t>(i), tokens, experts_);
      placement_->fill(experts_, loads_[i]);
    }
  }
  for (const LayerLoad& load : loads_) {
    pairs_ += load.pairs;
    layer_tokens_ += load.tokens;
  }
  return loads_;
}

LoadSummary LoadDraws::summary() const {
  LoadSummary sum;
  for (const LayerLoad& load : loads_) {
    std::int64_t experts = 0;
    std::int64_t pairs = 0;
    std::int64_t max_experts = 0;
    std::int64_t max_pairs = 0;
    std::int64_t idle = 0;
    for (std::size_t r = 0; r < load.rank_pairs.size(); ++r) {
      experts += load.rank_activated_experts[r];
      pairs += load.rank_pairs[r];
      max_experts = std::max<std::int64_t>(max_experts, load.rank_activated_experts[r]);
      max_pairs = std::max(max_pairs, load.rank_pairs[r]);
      idle += load.rank_activated_experts[r] == 0 ? 1 : 0;
    }
    const auto ranks = static_cast<double>(load.rank_pairs.size());
    sum.activated_experts += static_cast<double>(load.activated_experts);
    sum.expert_imbalance += static_cast<double>(max_experts) * ranks / static_cast<double>(experts);
    sum.pair_imbalance += static_cast<double>(max_pairs) * ranks / static_cast<double>(pairs);
    sum.idle_ranks += static_cast<double>(idle);
  }
  const double layers = std::max<double>(1, static_cast<double>(loads_.size()));
  return {sum.activated_experts / layers, sum.expert_imbalance / layers,
          sum.pair_imbalance / layers, sum.idle_ranks / layers};
}

}  // namespace shiftpoint
