#include <variant>

#include "sim/core/error.h"
#include "sim/cost/preset_for_test.h"
#include "sim/cost/step_time.h"

using namespace shiftpoint;

namespace {

std::string refusal(const ModelConfig& model, const HardwareConfig& hardware, double slice) {
  try {
    make_cost_model(model, hardware, CostConfig{}, slice, 1);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("deployments that cannot work are refused with their numbers") {
  ModelConfig model;
  HardwareConfig hardware;
  hardware.ranks = 7;
  CHECK(refusal(model, hardware, 1).find("64 attention heads over 7 ranks") != std::string::npos);
  hardware.ranks = 8;
  model.expert_intermediate_size = 2044;
  CHECK(refusal(model, hardware, 0.125).find("2044 columns of a tp-sliced expert over 8 ranks") !=
        std::string::npos);
  CHECK(refusal(model, hardware, 1).empty());  // whole experts are not cut
  model.expert_intermediate_size = 1920;       // 240 columns a rank: not whole groups of 32
  CHECK(refusal(model, hardware, 0.125).find("240 columns") != std::string::npos);
  model.expert_bits_per_weight = 16;
  CHECK(refusal(model, hardware, 0.125).empty());
  model = {};
  model.dense_layers = 62;
  CHECK(refusal(model, hardware, 0.125).find("61 layers") != std::string::npos);
  model = {};
  model.attention_params_per_layer = 1e6;
  CHECK(refusal(model, hardware, 0.125).find("attention_replicated_params") != std::string::npos);
}

TEST_CASE("the RTX PRO 6000 preset and the Kimi preset are the defaults of the option tables") {
  const auto same = [](const auto& preset, const auto& defaults, const auto& options) {
    for (const auto& option : options) {
      INFO(option.name);
      std::visit([&](auto member) { CHECK(preset.*member == defaults.*member); }, option.member);
    }
  };
  same(test::read_preset("hardware/rtx-pro-6000-server.cfg", kHardwareOptions), HardwareConfig{},
       kHardwareOptions);
  same(test::read_preset("models/kimi-k2.6.cfg", kModelOptions), ModelConfig{}, kModelOptions);
}

TEST_CASE("names of parts and sources") {
  const char* parts[] = {"attention", "experts", "expert_wait", "collective",
                         "dense",     "draft",   "host",        "launch"};
  for (int part = 0; part < kParts; ++part) {
    CHECK(std::string(part_name(static_cast<Part>(part))) == parts[part]);
  }
  CHECK(std::string(timing_source_name(TimingSource::kModel)) == "model");
  CHECK(std::string(timing_source_name(TimingSource::kProfile)) == "profile");
  CHECK(std::string(timing_source_name(TimingSource::kLive)) == "live");
}
