#include "sim/cost/layer_cost.h"

#include <algorithm>

namespace shiftpoint {
namespace {

// Query and KV down-projection (one), query up-projection, absorbed key and value products, output.
constexpr double kAttentionProducts = 5;
constexpr double kFeedForwardProducts = 2;  // gate with up, down
constexpr double kFeedForwardMatrices = 3;
constexpr double kActivationBytes = 2;  // bf16
constexpr double kBytesPerKb = 1024;    // unit of collective_beta_us_per_kb

}  // namespace

LayerCost::LayerCost(const ModelConfig& model, const HardwareConfig& hardware, double slice)
    : model_(model), hardware_(hardware), slice_(slice) {
  const double ranks = static_cast<double>(hardware.ranks);
  const double hidden = static_cast<double>(model.hidden_size);
  const double attention =
      model.attention_replicated_params_per_layer +
      (model.attention_params_per_layer - model.attention_replicated_params_per_layer) / ranks;
  const double shared = kFeedForwardMatrices * hidden *
                        static_cast<double>(model.shared_experts * model.expert_intermediate_size);
  const double feed_forward =
      kFeedForwardMatrices * hidden * static_cast<double>(model.dense_intermediate_size);
  dense_layer_ = {attention + feed_forward / ranks, kAttentionProducts + kFeedForwardProducts};
  moe_layer_ = {attention + shared / ranks,
                kAttentionProducts + (model.shared_experts > 0 ? kFeedForwardProducts : 0)};
  head_ = {hidden * static_cast<double>(model.vocabulary) / ranks, 1};
  expert_params_ =
      kFeedForwardMatrices * hidden * static_cast<double>(model.expert_intermediate_size);
}

double LayerCost::products_us(const Products& products, std::int64_t tokens) const {
  const double read_us =
      products.params * model_.dense_bytes_per_weight / (hardware_.dram_read_gbps * 1e3);
  const double compute_us =
      2 * products.params * static_cast<double>(tokens) / (hardware_.gemm_tflops * 1e6);
  return products.count * hardware_.gemm_floor_us + std::max(read_us, compute_us);
}

double LayerCost::dense_layer_us(std::int64_t tokens) const {
  return products_us(dense_layer_, tokens);
}

double LayerCost::moe_layer_dense_us(std::int64_t tokens) const {
  return products_us(moe_layer_, tokens);
}

double LayerCost::head_us(std::int64_t tokens) const {
  return products_us(head_, tokens);
}

double LayerCost::experts_us(std::int64_t activated_experts, std::int64_t pairs) const {
  if (activated_experts == 0) return kRoutingShareOfMoeFloor * hardware_.moe_floor_us;
  const double params = expert_params_ * slice_;
  const double read_us = static_cast<double>(activated_experts) * params *
                         model_.expert_bits_per_weight / 8 / (hardware_.moe_read_gbps * 1e3);
  const double compute_us = 2 * static_cast<double>(pairs) * params / (hardware_.gemm_tflops * 1e6);
  return hardware_.moe_floor_us + std::max(read_us, compute_us);
}

double LayerCost::collective_us(std::int64_t tokens) const {
  if (hardware_.ranks == 1) return 0;
  const double kb =
      static_cast<double>(model_.hidden_size * tokens) * kActivationBytes / kBytesPerKb;
  return hardware_.collective_alpha_us + hardware_.collective_beta_us_per_kb * kb;
}

double LayerCost::draft_us(std::int64_t tokens) const {
  const double layers = static_cast<double>(model_.drafter_layers);
  const Products products = {
      model_.drafter_bytes / model_.dense_bytes_per_weight / static_cast<double>(hardware_.ranks),
      layers * (kAttentionProducts + kFeedForwardProducts)};
  return products_us(products, tokens) + 2 * layers * collective_us(tokens);
}

double LayerCost::weight_bytes_per_rank(bool with_drafter) const {
  const double moe_layers = static_cast<double>(model_.moe_layers());
  const double ranks = static_cast<double>(hardware_.ranks);
  const double dense_params = static_cast<double>(model_.dense_layers) * dense_layer_.params +
                              moe_layers * moe_layer_.params +
                              2 * head_.params;  // output head and embedding
  // E/R whole experts, or 1/R of each of E: the same bytes.
  const double expert_bytes = moe_layers * static_cast<double>(model_.experts) * expert_params_ *
                              model_.expert_bits_per_weight / 8 / ranks;
  return dense_params * model_.dense_bytes_per_weight + expert_bytes +
         (with_drafter ? model_.drafter_bytes / ranks : 0);
}

}  // namespace shiftpoint
