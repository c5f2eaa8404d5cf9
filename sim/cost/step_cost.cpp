#include <algorithm>
#include <string>

#include "sim/core/error.h"
#include "sim/cost/attention_time.h"
#include "sim/cost/layer_cost.h"
#include "sim/cost/step_time.h"

namespace shiftpoint {
namespace {

// Weights that share one scale in the int4 checkpoints (compressed-tensors, group 32): a rank's
// slice of an expert must be whole groups.
constexpr std::int64_t kExpertScaleGroup = 32;

void check_deployment(const ModelConfig& model, const HardwareConfig& hardware, double slice) {
  const std::string over_ranks = " over " + std::to_string(hardware.ranks) + " ranks";
  if (model.attention_heads % hardware.ranks != 0) {
    throw_bad_input({}, "hardware.ranks",
                    std::to_string(model.attention_heads) + " attention heads" + over_ranks,
                    "a number of ranks that divides the heads");
  }
  if (model.dense_layers > model.layers) {
    throw_bad_input({}, "model.dense_layers", std::to_string(model.dense_layers),
                    "at most the " + std::to_string(model.layers) + " layers of the model");
  }
  if (model.attention_replicated_params_per_layer > model.attention_params_per_layer) {
    throw_bad_input({}, "model.attention_replicated_params_per_layer",
                    std::to_string(model.attention_replicated_params_per_layer),
                    "at most model.attention_params_per_layer = " +
                        std::to_string(model.attention_params_per_layer));
  }
  if (slice >= 1) return;
  if (model.expert_intermediate_size % hardware.ranks != 0) {
    throw_bad_input({}, "hardware.ranks",
                    std::to_string(model.expert_intermediate_size) +
                        " columns of a tp-sliced expert" + over_ranks,
                    "a number of ranks that divides model.expert_intermediate_size");
  }
  const std::int64_t columns = model.expert_intermediate_size / hardware.ranks;
  if (model.expert_bits_per_weight < 8 && columns % kExpertScaleGroup != 0) {
    throw_bad_input({}, "hardware.ranks",
                    std::to_string(columns) + " columns of a tp-sliced expert a rank",
                    "a multiple of " + std::to_string(kExpertScaleGroup) +
                        ", the weights that share one scale");
  }
}

class StepCost final : public CostModel {
 public:
  StepCost(const ModelConfig& model, const HardwareConfig& hardware, const CostConfig& config,
           double slice, std::int64_t draft_tokens)
      : model_(model),
        hardware_(hardware),
        config_(config),
        layer_(model, hardware, slice),
        attention_(find_attention_variant(config.attention)),
        graph_(config.launch_mode == "graph"),
        draft_tokens_(draft_tokens) {}

  StepTime verify_step(const VerifyWork& work, ExpertDetail* detail) const override {
    SIM_CHECK(!work.context_tokens.empty(), "a verify step without requests");
    AttentionShape shape;
    shape.context_tokens = work.context_tokens;
    shape.query_tokens = work.query_tokens;
    shape.heads = model_.attention_heads / hardware_.ranks;
    shape.latent_dims = model_.kv_latent_dims;
    shape.rope_dims = model_.kv_rope_dims;
    shape.bytes_per_element = model_.kv_bytes_per_element;
    shape.nsplit = config_.nsplit;
    const AttentionTime attention = attention_.time(shape, hardware_);

    const std::int64_t requests = static_cast<std::int64_t>(work.context_tokens.size());
    const std::int64_t tokens = requests * work.query_tokens;
    StepTime step;
    add_layers(step, tokens, tokens, work.loads, detail);
    step[Part::kAttention] = model_.layers * nanos_from_us(attention.us);
    step.attention_source_ns[static_cast<int>(attention.source)] = step[Part::kAttention];
    step.outside_table = attention.outside_table;
    std::int64_t kernels = model_.layers * config_.kernels_per_layer;
    if (draft_tokens_ > 1) {
      step[Part::kDraft] = nanos_from_us(layer_.draft_us(requests * draft_tokens_));
      kernels += model_.drafter_layers * config_.kernels_per_layer;
    }
    add_launch(step, kernels, model_.layers * attention.counts.kernels);
    return step;
  }

  StepTime prefill_step(const PrefillWork& work, ExpertDetail* detail) const override {
    std::int64_t tokens = 0;
    double attention_us = 0;
    for (const PrefillChunk& chunk : work.chunks) {
      tokens += chunk.new_tokens;
      attention_us += prefill_attention_us(chunk);
    }
    SIM_CHECK(tokens > 0, "a prefill step without tokens");
    StepTime step;
    // One row of logits a chunk: only its last token can be sampled.
    add_layers(step, tokens, static_cast<std::int64_t>(work.chunks.size()), work.loads, detail);
    step[Part::kAttention] = model_.layers * nanos_from_us(attention_us);
    step.attention_source_ns[static_cast<int>(TimingSource::kModel)] = step[Part::kAttention];
    add_launch(step, model_.layers * config_.kernels_per_layer, 0);
    return step;
  }

  double weight_bytes_per_rank() const override {
    return layer_.weight_bytes_per_rank(draft_tokens_ > 1);
  }

 private:
  // Absorbed form: every new token against the prefix and, on average, half of the chunk. Engines
  // that expand the latent for prompts compute less, so long prefixes come out slow here.
  double prefill_attention_us(const PrefillChunk& chunk) const {
    const double new_tokens = static_cast<double>(chunk.new_tokens);
    const double prefix = static_cast<double>(chunk.prefix_tokens);
    const std::int64_t rank_heads = model_.attention_heads / hardware_.ranks;  // divides: checked
    const double heads = static_cast<double>(rank_heads);
    const double dims = static_cast<double>(2 * model_.kv_latent_dims + model_.kv_rope_dims);
    const double flops = 2 * dims * heads * new_tokens * (prefix + new_tokens / 2);
    const double bytes = (prefix + new_tokens) * static_cast<double>(model_.kv_row_elements()) *
                         model_.kv_bytes_per_element;
    return std::max(flops / (hardware_.mma_tflops * 1e6), bytes / (hardware_.dram_read_gbps * 1e3));
  }

  void add_layers(StepTime& step, std::int64_t tokens, std::int64_t sampled_tokens,
                  std::span<const LayerLoad> loads, ExpertDetail* detail) const {
    SIM_CHECK(static_cast<std::int64_t>(loads.size()) == model_.moe_layers(),
              std::to_string(loads.size()) + " loads for " + std::to_string(model_.moe_layers()) +
                  " layers with experts");
    step[Part::kDense] = model_.dense_layers * nanos_from_us(layer_.dense_layer_us(tokens)) +
                         model_.moe_layers() * nanos_from_us(layer_.moe_layer_dense_us(tokens)) +
                         nanos_from_us(layer_.head_us(sampled_tokens));
    step[Part::kCollective] = 2 * model_.layers * nanos_from_us(layer_.collective_us(tokens));
    if (detail != nullptr) {
      detail->experts_ns.resize(loads.size() * static_cast<std::size_t>(hardware_.ranks));
    }
    for (std::size_t i = 0; i < loads.size(); ++i) {
      add_experts(step, loads[i],
                  detail == nullptr
                      ? nullptr
                      : detail->experts_ns.data() + i * static_cast<std::size_t>(hardware_.ranks));
    }
  }

  void add_experts(StepTime& step, const LayerLoad& load, Nanos* rank_ns) const {
    const std::size_t ranks = static_cast<std::size_t>(hardware_.ranks);
    SIM_CHECK(load.rank_activated_experts.size() == ranks && load.rank_pairs.size() == ranks,
              "a load of " + std::to_string(load.rank_activated_experts.size()) + " ranks for " +
                  std::to_string(ranks));
    Nanos sum = 0;
    Nanos slowest = 0;
    Nanos ns = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      // tp-sliced ranks all have the same load: price it once.
      const bool as_before =
          rank > 0 && load.rank_activated_experts[rank] == load.rank_activated_experts[rank - 1] &&
          load.rank_pairs[rank] == load.rank_pairs[rank - 1];
      if (!as_before) {
        ns = nanos_from_us(
            layer_.experts_us(load.rank_activated_experts[rank], load.rank_pairs[rank]));
      }
      sum += ns;
      slowest = std::max(slowest, ns);
      if (rank_ns != nullptr) rank_ns[rank] = ns;
    }
    const Nanos mean = sum / hardware_.ranks;
    step[Part::kExperts] += mean;
    step[Part::kExpertWait] += slowest - mean;
  }

  // `timed_kernels`: those whose launch gap is part of their measured time already.
  void add_launch(StepTime& step, std::int64_t kernels, std::int64_t timed_kernels) const {
    const Nanos gpu_ns = step.total_ns();
    step[Part::kHost] = nanos_from_us(config_.host_us);
    if (graph_) {
      const std::int64_t gaps = std::max<std::int64_t>(0, kernels - timed_kernels);
      step[Part::kLaunch] = nanos_from_us(hardware_.graph_launch_us +
                                          static_cast<double>(gaps) * hardware_.graph_node_gap_us);
      return;
    }
    const Nanos host_ns = nanos_from_us(static_cast<double>(kernels) * hardware_.launch_us);
    step[Part::kLaunch] = std::max<Nanos>(0, host_ns - gpu_ns);
  }

  ModelConfig model_;
  HardwareConfig hardware_;
  CostConfig config_;
  LayerCost layer_;
  const AttentionVariant& attention_;
  bool graph_;
  std::int64_t draft_tokens_;
};

}  // namespace

std::unique_ptr<CostModel> make_cost_model(const ModelConfig& model, const HardwareConfig& hardware,
                                           const CostConfig& config, double slice,
                                           std::int64_t draft_tokens) {
  check_deployment(model, hardware, slice);
  return std::make_unique<StepCost>(model, hardware, config, slice, draft_tokens);
}

}  // namespace shiftpoint
