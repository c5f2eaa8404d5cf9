#include "sim/config/hf_model.h"

#include <map>

#include "sim/config/scenario.h"
#include "sim/core/error.h"
#include "sim/test_support/catch.h"
#include "sim/test_support/temporary_folder.h"

using namespace shiftpoint;
using shiftpoint::test::message_of;

namespace {

// The shape of Kimi K2.5 (public config.json; wrapped in text_config because the model also sees).
const char* const kKimi = R"({"model_type": "kimi_k25", "text_config": {
  "num_hidden_layers": 61, "first_k_dense_replace": 1, "hidden_size": 7168, "num_attention_heads": 64,
  "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
  "v_head_dim": 128, "intermediate_size": 18432, "moe_intermediate_size": 2048,
  "n_routed_experts": 384, "num_experts_per_tok": 8, "n_shared_experts": 1, "vocab_size": 163840,
  "quantization_config": {"quant_method": "compressed-tensors", "config_groups": {"group_0":
    {"weights": {"num_bits": 4, "group_size": 32}}}}}})";

}  // namespace

TEST_CASE("config.json of Kimi K2.5 gives the values of the shipped preset") {
  const test::TemporaryFolder folder;
  const std::string json = folder.write("config.json", kKimi);
  const std::string preset = (test::source_dir() / "data/models/kimi-k2.6.cfg").string();
  const LoadedScenario a =
      load_scenario(folder.write("a.cfg", "[model]\npreset = " + json + "\n"), {});
  const LoadedScenario b =
      load_scenario(folder.write("b.cfg", "[model]\npreset = " + preset + "\n"), {});
  const std::map<std::string, double> rounded = {{"model.attention_params_per_layer", 1e-4}};
  int compared = 0;
  for (std::size_t i = 0; i < a.settings.size(); ++i) {
    const Setting& s = a.settings[i];
    if (s.origin.find("config.json") == std::string::npos) continue;
    CAPTURE(s.key, s.value, b.settings[i].value);
    ++compared;
    CHECK(s.tag.starts_with("cited: "));
    if (rounded.count(s.key) > 0) {  // the preset holds 101.12e6
      CHECK(std::stod(s.value) ==
            Approx(std::stod(b.settings[i].value)).epsilon(rounded.at(s.key)));
    } else {
      CHECK(s.value == b.settings[i].value);
    }
  }
  CHECK(compared == 16);
}

TEST_CASE("config.json that cannot be priced is refused by name") {
  const auto failure = [](const std::string& text) {
    return message_of<UserError>([&] { read_hf_config(text, "config.json"); });
  };
  CHECK(failure("[1]") == "config.json: no JSON object; accepted: a config.json");
  CHECK(failure(R"({"num_hidden_layers": "61"})") ==
        "config.json: 'num_hidden_layers': found \"61\"; accepted: a whole number, 0 or more");
  // A grouped-query model has no latent cache.
  CHECK(failure(R"({"num_hidden_layers": 48, "hidden_size": 2048, "num_attention_heads": 32})") ==
        "config.json: 'kv_lora_rank': not in the file; accepted: config.json of a model with a "
        "latent "
        "(MLA) cache");
}

TEST_CASE("weights: fp8, mxfp4 and unquantised files") {
  std::string text = kKimi;
  const auto bits = [](const std::string& json) {
    for (const ModelValue& v : read_hf_config(json, "x")) {
      if (v.key == "model.expert_bits_per_weight") return v.value;
    }
    return std::string();
  };
  CHECK(bits(text) == "4.5");  // 4 + 16 / 32
  const auto with = [&](const std::string& quantization) {
    std::string changed = text;
    const auto from = changed.find("\"quantization_config\"");
    return changed.replace(from, changed.size() - from, quantization + "}}");
  };
  CHECK(bits(with(R"("quantization_config": {"quant_method": "fp8"})")) == "8");
  CHECK(bits(with(R"("quantization_config": {"quant_method": "mxfp4"})")) == "4.25");
  CHECK(bits(with(R"("torch_dtype": "bfloat16")")) == "16");
}
