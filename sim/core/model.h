// The served model, as far as a decode step's time and memory depend on it. Bytes and counts of the
// whole model, before any split over ranks. Presets: data/models/*.cfg, every value with its
// source.
#pragma once

#include <cstdint>
#include <string>

#include "sim/core/option_table.h"

namespace shiftpoint {

struct ModelConfig {
  std::string preset;
  std::int64_t layers = 61;
  std::int64_t dense_layers = 1;  // first layers without experts
  std::int64_t hidden_size = 7168;
  std::int64_t attention_heads = 64;
  std::int64_t kv_latent_dims = 512;  // MLA latent: also the value width
  std::int64_t kv_rope_dims = 64;
  double kv_bytes_per_element = 2;  // 2: bf16, 1: fp8
  double attention_params_per_layer = 101.12e6;
  // Down-projections of query and KV, 7168 * (1536 + 576): every rank holds and reads them whole.
  double attention_replicated_params_per_layer = 15138816;
  std::int64_t dense_intermediate_size = 18432;
  std::int64_t experts = 384;
  std::int64_t experts_per_token = 8;
  std::int64_t shared_experts = 1;
  std::int64_t expert_intermediate_size = 2048;
  double expert_bits_per_weight = 4.5;  // int4 and one bf16 scale per 32 weights
  double dense_bytes_per_weight = 2;    // everything that is not a routed expert
  std::int64_t vocabulary = 163840;
  double drafter_bytes = 6.96e9;  // weights read by one draft forward, before any split
  std::int64_t drafter_layers = 6;

  std::int64_t moe_layers() const { return layers - dense_layers; }
  std::int64_t kv_row_elements() const { return kv_latent_dims + kv_rope_dims; }
  double kv_row_bytes() const {
    return static_cast<double>(kv_row_elements()) * kv_bytes_per_element;
  }
  // Bytes of one token in the pool of one rank: MLA rows are replicated on every tensor-parallel
  // rank.
  double kv_bytes_per_token() const { return kv_row_bytes() * static_cast<double>(layers); }
  double expert_params() const {
    return 3.0 * static_cast<double>(hidden_size) * static_cast<double>(expert_intermediate_size);
  }
  double expert_bytes() const { return expert_params() * expert_bits_per_weight / 8.0; }
};

inline constexpr Option<ModelConfig> kModelOptions[] = {
    {"preset", "",
     "file of data/models without .cfg, a path to a .cfg, or a Hugging Face config.json",
     &ModelConfig::preset},
    {"layers", "", "transformer layers", &ModelConfig::layers, range(1, 1000)},
    {"dense_layers", "", "first layers without experts", &ModelConfig::dense_layers,
     range(0, 1000)},
    {"hidden_size", "", "width of the residual stream", &ModelConfig::hidden_size, range(1, 1e6)},
    {"attention_heads", "", "query heads of the whole model", &ModelConfig::attention_heads,
     range(1, 4096)},
    {"kv_latent_dims", "", "MLA latent width, also the value width", &ModelConfig::kv_latent_dims,
     range(1, 65536)},
    {"kv_rope_dims", "", "MLA rotary width", &ModelConfig::kv_rope_dims, range(0, 65536)},
    {"kv_bytes_per_element", "B", "2 for bf16, 1 for fp8", &ModelConfig::kv_bytes_per_element,
     range(0.25, 8)},
    {"attention_params_per_layer", "", "attention weights of one layer",
     &ModelConfig::attention_params_per_layer, range(0, 1e12)},
    {"attention_replicated_params_per_layer", "", "those of them that every rank holds whole",
     &ModelConfig::attention_replicated_params_per_layer, range(0, 1e12)},
    {"dense_intermediate_size", "", "width of the dense layers' feed-forward",
     &ModelConfig::dense_intermediate_size, range(0, 1e7)},
    {"experts", "", "routed experts of a layer", &ModelConfig::experts, range(1, 65535)},
    {"experts_per_token", "", "routed experts that one token selects (top-k)",
     &ModelConfig::experts_per_token, range(1, 64)},
    {"shared_experts", "", "experts that every token passes", &ModelConfig::shared_experts,
     range(0, 64)},
    {"expert_intermediate_size", "", "width of one expert", &ModelConfig::expert_intermediate_size,
     range(1, 1e7)},
    {"expert_bits_per_weight", "bit", "routed expert weights, scales included",
     &ModelConfig::expert_bits_per_weight, range(1, 64)},
    {"dense_bytes_per_weight", "B", "all other weights", &ModelConfig::dense_bytes_per_weight,
     range(0.125, 8)},
    {"vocabulary", "", "rows of the output head", &ModelConfig::vocabulary, range(1, 1e8)},
    {"drafter_bytes", "B", "weights that one draft forward reads", &ModelConfig::drafter_bytes,
     range(0, 1e13)},
    {"drafter_layers", "", "layers of the drafter", &ModelConfig::drafter_layers, range(0, 1000)},
};

}  // namespace shiftpoint
