#include "sim/config/hf_model.h"

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "sim/core/error.h"

namespace shiftpoint {
namespace {

using Json = nlohmann::json;

class HfConfig {
 public:
  HfConfig(Json json, std::string name) : json_(std::move(json)), name_(std::move(name)) {}

  // The first of `fields` that is there and not null, as an integer: model families use different
  // names.
  std::int64_t integer(std::initializer_list<const char*> fields) {
    for (const char* field : fields) {
      const auto at = json_.find(field);
      if (at == json_.end() || at->is_null()) continue;
      if (!at->is_number_integer() || at->get<std::int64_t>() < 0) {
        throw_bad_input({name_, 0}, field, "found " + at->dump(), "a whole number, 0 or more");
      }
      used_ = field;
      return at->get<std::int64_t>();
    }
    std::string names;
    for (const char* field : fields) names += (names.empty() ? "" : " or ") + std::string(field);
    throw_bad_input({name_, 0}, names, "not in the file",
                    "config.json of a model with a latent (MLA) cache");
  }
  std::int64_t integer_or(const char* field, std::int64_t otherwise) {
    const auto at = json_.find(field);
    used_ = field;
    return at == json_.end() || at->is_null() ? otherwise : integer({field});
  }
  const std::string& used() const { return used_; }
  const Json& json() const { return json_; }

 private:
  Json json_;
  std::string name_;
  std::string used_;
};

struct WeightBits {
  double expert_bits;
  double dense_bytes;
  std::string why;
};

// Scales included where the file says how many weights share one (16 bits a scale).
WeightBits weight_bits(const Json& config) {
  const auto quantization = config.find("quantization_config");
  if (quantization == config.end() || quantization->is_null()) {
    return {16, 2, "no quantization_config: bf16"};
  }
  const std::string method = quantization->value("quant_method", "");
  if (method == "fp8") return {8, 1, "quantization_config.quant_method fp8"};
  if (method == "mxfp4") return {4.25, 2, "quantization_config.quant_method mxfp4, 8 bits per 32"};
  const Json::json_pointer weights("/config_groups/group_0/weights");
  if (quantization->contains(weights)) {
    const Json& group = (*quantization)[weights];
    const double bits = group.value("num_bits", 16);
    const auto size = group.contains("group_size") && group["group_size"].is_number_integer()
                          ? group["group_size"].get<std::int64_t>()
                          : 0;
    return {bits + (size > 0 ? 16.0 / static_cast<double>(size) : 0), 2,
            "quantization_config.config_groups.group_0.weights"};
  }
  return {16, 2, "quantization_config '" + method + "' is not known: bf16 assumed"};
}

}  // namespace

std::vector<ModelValue> read_hf_config(const std::string& text, const std::string& name) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) throw_bad_input({name, 0}, "", "no JSON object", "a config.json");
  const Json outer = json;
  if (json.contains("text_config") && json["text_config"].is_object()) json = json["text_config"];
  if (!json.contains("quantization_config") && outer.contains("quantization_config")) {
    json["quantization_config"] = outer["quantization_config"];
  }
  HfConfig c(json, name);
  std::vector<ModelValue> values;
  const auto add = [&](const char* key, double value, const std::string& why) {
    values.push_back({std::string("model.") + key, fmt::format("{}", value), "cited: " + why});
  };
  const auto integer = [&](const char* key, std::initializer_list<const char*> fields) {
    const std::int64_t value = c.integer(fields);
    values.push_back({std::string("model.") + key, std::to_string(value), "cited: " + c.used()});
    return static_cast<double>(value);
  };
  integer("layers", {"num_hidden_layers"});
  values.push_back({"model.dense_layers", std::to_string(c.integer_or("first_k_dense_replace", 0)),
                    "cited: first_k_dense_replace"});
  const double hidden = integer("hidden_size", {"hidden_size"});
  const double heads = integer("attention_heads", {"num_attention_heads"});
  const double latent = integer("kv_latent_dims", {"kv_lora_rank"});
  const double rope = integer("kv_rope_dims", {"qk_rope_head_dim"});
  integer("dense_intermediate_size", {"intermediate_size"});
  integer("experts", {"n_routed_experts", "num_experts", "num_local_experts"});
  integer("experts_per_token", {"num_experts_per_tok"});
  values.push_back({"model.shared_experts", std::to_string(c.integer_or("n_shared_experts", 0)),
                    "cited: n_shared_experts"});
  integer("expert_intermediate_size", {"moe_intermediate_size"});
  integer("vocabulary", {"vocab_size"});
  const auto nope = static_cast<double>(c.integer({"qk_nope_head_dim"}));
  const auto value_dims = static_cast<double>(c.integer({"v_head_dim"}));
  const auto q_lora = static_cast<double>(c.integer_or("q_lora_rank", 0));
  const double query = q_lora > 0 ? hidden * q_lora + q_lora * heads * (nope + rope)
                                  : hidden * heads * (nope + rope);
  add("attention_params_per_layer",
      query + hidden * (latent + rope) + latent * heads * (nope + value_dims) +
          heads * value_dims * hidden,
      "projections from q_lora_rank, kv_lora_rank and the head widths");
  // Tensor parallelism slices the head-wise projections only.
  add("attention_replicated_params_per_layer", hidden * (q_lora + latent + rope),
      "down-projections, whole on every rank");
  const WeightBits bits = weight_bits(c.json());
  add("expert_bits_per_weight", bits.expert_bits, bits.why);
  add("dense_bytes_per_weight", bits.dense_bytes, bits.why);
  return values;
}

}  // namespace shiftpoint
