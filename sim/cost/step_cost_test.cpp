#include <algorithm>
#include <vector>

#include "sim/core/random.h"
#include "sim/cost/attention_time.h"
#include "sim/cost/step_time.h"
#include "sim/test_support/catch.h"

using namespace shiftpoint;

namespace {

LayerLoad load_of(std::vector<std::int32_t> activated, std::vector<std::int64_t> pairs) {
  LayerLoad load;
  for (const std::int32_t count : activated) load.activated_experts += count;
  for (const std::int64_t count : pairs) load.pairs += count;
  load.rank_activated_experts = std::move(activated);
  load.rank_pairs = std::move(pairs);
  return load;
}

// Round numbers: a layer's attention has 4e6 weights (1e6 of them whole on every rank), experts and
// feed-forward 3 * 1000 * 1000 = 3e6, the head 1000 * 2000 = 2e6; memory reads 1 MB in 1 us.
ModelConfig toy_model() {
  ModelConfig model;
  model.layers = 3;
  model.dense_layers = 1;
  model.hidden_size = 1000;
  model.attention_heads = 8;
  model.attention_params_per_layer = 4e6;
  model.attention_replicated_params_per_layer = 1e6;
  model.dense_intermediate_size = 1000;
  model.experts = 16;
  model.experts_per_token = 2;
  model.shared_experts = 1;
  model.expert_intermediate_size = 1000;
  model.expert_bits_per_weight = 8;
  model.vocabulary = 2000;
  model.drafter_bytes = 8e6;
  model.drafter_layers = 2;
  return model;
}

HardwareConfig toy_hardware(std::int64_t ranks) {
  HardwareConfig hardware;
  hardware.ranks = ranks;
  hardware.dram_read_gbps = 1000;
  hardware.moe_read_gbps = 500;
  hardware.gemm_tflops = 1;  // 1e6 operations in 1 us
  hardware.gemm_floor_us = 10;
  hardware.moe_floor_us = 20;
  hardware.collective_alpha_us = 5;
  hardware.collective_beta_us_per_kb = 1.024;  // 1 us a 1000 B
  hardware.graph_launch_us = 7;
  hardware.graph_node_gap_us = 0.5;
  hardware.launch_us = 4;
  return hardware;
}

CostConfig toy_config() {
  CostConfig config;
  config.attention = "packed";
  config.host_us = 123.4564;
  config.kernels_per_layer = 12;
  return config;
}

StepTime verify(const CostModel& cost, const std::vector<std::int64_t>& contexts,
                std::int64_t query_tokens, const std::vector<LayerLoad>& loads,
                ExpertDetail* detail = nullptr) {
  VerifyWork work;
  work.context_tokens = contexts;
  work.query_tokens = query_tokens;
  work.loads = loads;
  return cost.verify_step(work, detail);
}

}  // namespace

TEST_CASE("one token on one rank, by hand") {
  const auto cost = make_cost_model(toy_model(), toy_hardware(1), toy_config(), 1.0, 1);
  const std::vector<LayerLoad> loads(2, load_of({2}, {2}));
  const StepTime step = verify(*cost, {1000}, 1, loads);
  // Dense layer: 7 products x 10 us, (4 + 3) MB x 2 = 14 us of reading, 2 x 7e6 operations = 14 us.
  // MoE layer: the same with the shared expert. Head: 10 + 4 us.
  CHECK(step[Part::kDense] == 84'000 + 2 * 84'000 + 14'000);
  // Experts: 20 us, and 2 x 3 MB at 500 GB/s = 12 us equals 2 pairs x 6e6 operations = 12 us.
  CHECK(step[Part::kExperts] == 2 * 32'000);
  CHECK(step[Part::kExpertWait] == 0);
  CHECK(step[Part::kCollective] == 0);
  CHECK(step[Part::kDraft] == 0);
  CHECK(step[Part::kHost] == 123'456);
  // 3 layers x 12 kernels, of which the two of attention carry their gaps: 7 + 30 x 0.5.
  CHECK(step[Part::kLaunch] == 22'000);
  AttentionShape shape;
  const std::vector<std::int64_t> contexts = {1000};
  shape.context_tokens = contexts;
  shape.query_tokens = 1;
  shape.heads = 8;
  shape.nsplit = 0;
  const double attention_us = find_attention_variant("packed").time(shape, toy_hardware(1)).us;
  CHECK(step[Part::kAttention] == 3 * nanos_from_us(attention_us));
  CHECK(step.attention_source_ns[static_cast<int>(TimingSource::kModel)] == step[Part::kAttention]);
  CHECK(cost->weight_bytes_per_rank() == Approx(2.0 * (3 * 7e6 + 2 * 2e6) + 2 * 16 * 3e6));
}

TEST_CASE("slices, collectives and the draft over two ranks, by hand") {
  const auto cost = make_cost_model(toy_model(), toy_hardware(2), toy_config(), 0.5, 4);
  const std::vector<LayerLoad> loads(2, load_of({6, 6}, {8, 8}));
  const StepTime step = verify(*cost, {1000}, 4, loads);
  // Layers: 70 us, and 1e6 whole + (3e6 + 3e6) / 2 = 4e6 weights x 2 x 4 tokens = 32 us (reading
  // takes 8). Head: 10 us and 1e6 weights x 2 x 4 = 8 us.
  CHECK(step[Part::kDense] == 3 * 102'000 + 18'000);
  // 6 x 3 MB / 2 at 500 GB/s = 18 us; 8 pairs x 3e6 operations = 24 us is more.
  CHECK(step[Part::kExperts] == 2 * 44'000);
  CHECK(step[Part::kExpertWait] == 0);
  // 4 tokens x 2000 B: 5 + 8 us, twice a layer.
  CHECK(step[Part::kCollective] == 6 * 13'000);
  // 2 layers x 7 products x 10 us, 2e6 weights of a rank x 2 x 4 tokens = 16 us, 4 x 13 us.
  CHECK(step[Part::kDraft] == 140'000 + 16'000 + 52'000);
  // The drafter's 2 layers add 24 kernels: 7 + (36 + 24 - 6) x 0.5.
  CHECK(step[Part::kLaunch] == 34'000);
  // Half of (1 + 6/2) x 3 and 2 heads of 1e6, of 16 experts, and of the drafter.
  CHECK(cost->weight_bytes_per_rank() == Approx(2.0 * (3 * 4e6 + 2 * 1e6) + 2 * 16 * 1.5e6 + 4e6));
}

TEST_CASE("whole experts: the slowest rank of every layer counts") {
  const auto cost = make_cost_model(toy_model(), toy_hardware(2), toy_config(), 1.0, 1);
  const std::vector<LayerLoad> loads = {load_of({10, 0}, {10, 0}), load_of({0, 10}, {0, 10})};
  ExpertDetail detail;
  const StepTime step = verify(*cost, {1000}, 5, loads, &detail);
  // t(10) = 20 + 10 x 3 MB at 500 GB/s = 80 us; a rank without experts still routes: 0.3 x 20 us.
  CHECK(detail.experts_ns == std::vector<Nanos>{80'000, 6'000, 6'000, 80'000});
  CHECK(step[Part::kExperts] + step[Part::kExpertWait] == 2 * 80'000);
  CHECK(step[Part::kExperts] == 2 * 43'000);
  const std::vector<LayerLoad> even(2, load_of({5, 5}, {5, 5}));
  const StepTime balanced = verify(*cost, {1000}, 5, even);
  CHECK(balanced[Part::kExperts] == 2 * 50'000);  // 2 t(5): less than 2 t(10)
  CHECK(balanced[Part::kExpertWait] == 0);
}

TEST_CASE("parts and details add up exactly for random work") {
  const ModelConfig model;
  const HardwareConfig hardware;
  for (const char* launch_mode : {"graph", "eager"}) {
    CostConfig config;
    config.launch_mode = launch_mode;
    const auto cost = make_cost_model(model, hardware, config, 1.0, 9);
    for (std::uint32_t trial = 0; trial < 20; ++trial) {
      std::vector<LayerLoad> loads;
      for (std::uint32_t layer = 0; layer < 60; ++layer) {
        std::vector<std::int32_t> activated;
        std::vector<std::int64_t> pairs;
        for (std::uint32_t rank = 0; rank < 8; ++rank) {
          const RandomBlock draw = random_block(1, Stream::kRouting, trial, layer, rank, 0);
          activated.push_back(static_cast<std::int32_t>(draw[0] % 49));
          pairs.push_back(activated.back() == 0 ? 0 : activated.back() + draw[1] % 9);
        }
        loads.push_back(load_of(activated, pairs));
      }
      const std::vector<std::int64_t> contexts(1 + trial, 1000 * trial + 17);
      ExpertDetail detail;
      const StepTime step = verify(*cost, contexts, 9, loads, &detail);
      Nanos sum = 0;
      for (int part = 0; part < kParts; ++part) sum += step[static_cast<Part>(part)];
      CHECK(step.total_ns() == sum);
      Nanos slowest = 0;
      REQUIRE(detail.experts_ns.size() == 480);
      for (std::size_t layer = 0; layer < 60; ++layer) {
        const auto first = detail.experts_ns.begin() + static_cast<std::ptrdiff_t>(8 * layer);
        slowest += *std::max_element(first, first + 8);
      }
      CHECK(step[Part::kExperts] + step[Part::kExpertWait] == slowest);
      CHECK(verify(*cost, contexts, 9, loads).total_ns() == step.total_ns());
    }
  }
}

TEST_CASE("eager launches hide behind work, or the work behind them") {
  const ModelConfig model;
  HardwareConfig hardware;
  CostConfig graph;
  CostConfig eager;
  eager.launch_mode = "eager";
  const std::vector<LayerLoad> loads(
      60, load_of(std::vector<std::int32_t>(8, 8), std::vector<std::int64_t>(8, 8)));
  // Launch-bound: 61 x 14 kernels at 100 us are the step, whatever the GPU does.
  hardware.launch_us = 100;
  const auto slow_host = make_cost_model(model, hardware, eager, 0.125, 1);
  const StepTime bound = verify(*slow_host, {1000}, 1, loads);
  CHECK(bound.total_ns() == 61 * 14 * 100'000 + 2'000'000);
  const auto replay = make_cost_model(model, hardware, graph, 0.125, 1);
  CHECK(bound.total_ns() > verify(*replay, {1000}, 1, loads).total_ns());
  // GPU-bound: launches cost nothing.
  hardware.launch_us = 1;
  const auto fast_host = make_cost_model(model, hardware, eager, 0.125, 1);
  CHECK(verify(*fast_host, {1000}, 1, loads)[Part::kLaunch] == 0);
}

TEST_CASE("nothing drafted, no draft time; drafting adds it and its weights") {
  const std::vector<LayerLoad> loads(
      60, load_of(std::vector<std::int32_t>(8, 8), std::vector<std::int64_t>(8, 8)));
  const auto plain = make_cost_model({}, {}, {}, 0.125, 1);
  const auto drafting = make_cost_model({}, {}, {}, 0.125, 9);
  CHECK(verify(*plain, {1000}, 1, loads)[Part::kDraft] == 0);
  CHECK(verify(*drafting, {1000}, 9, loads)[Part::kDraft] > 0);
  CHECK(drafting->weight_bytes_per_rank() - plain->weight_bytes_per_rank() == Approx(6.96e9 / 8));
  // 594 GB of checkpoint over 8 ranks, the 15.14 M replicated weights of a layer seven times more.
  CHECK(plain->weight_bytes_per_rank() ==
        Approx((570.8e9 + 23.4e9 + 7 * 61 * 15138816.0 * 2) / 8).epsilon(0.01));
}

TEST_CASE("more experts and more context never take less") {
  const auto cost = make_cost_model({}, {}, {}, 1.0, 9);
  Nanos before = 0;
  for (std::int32_t experts = 0; experts <= 48; ++experts) {
    const std::vector<LayerLoad> loads(
        60, load_of({experts, 4, 4, 4, 4, 4, 4, 4}, {experts, 4, 4, 4, 4, 4, 4, 4}));
    const StepTime step = verify(*cost, {4096}, 9, loads);
    CHECK(step[Part::kExperts] + step[Part::kExpertWait] >= before);
    before = step[Part::kExperts] + step[Part::kExpertWait];
  }
  const std::vector<LayerLoad> loads(
      60, load_of(std::vector<std::int32_t>(8, 8), std::vector<std::int64_t>(8, 9)));
  before = 0;
  for (std::int64_t context = 0; context <= 200000; context += 5000) {
    const Nanos total = verify(*cost, {context, 3000}, 9, loads).total_ns();
    CHECK(total >= before);
    before = total;
  }
}

TEST_CASE("prefill: chunks share the weights, attention grows with the prefix") {
  HardwareConfig hardware = toy_hardware(1);
  hardware.mma_tflops = 1;
  const auto cost = make_cost_model(toy_model(), hardware, toy_config(), 1.0, 9);
  const std::vector<LayerLoad> loads(2, load_of({16}, {400}));
  const std::vector<PrefillChunk> chunks = {{100, 0}, {100, 1000}};
  PrefillWork work;
  work.chunks = chunks;
  work.loads = loads;
  const StepTime step = cost->prefill_step(work, nullptr);
  // 2176 x 8 heads x 100 x (50 + 1050) operations at 1 TFLOP/s.
  CHECK(step[Part::kAttention] == 3 * nanos_from_us(2176.0 * 8 * 100 * 1100 / 1e6));
  // 200 tokens through 7e6 weights: 70 + 2800 us a layer; head for 2 rows: 10 + 8 us.
  CHECK(step[Part::kDense] == 3 * 2'870'000 + 18'000);
  CHECK(step[Part::kExperts] == 2 * (20'000 + 2'400'000));  // 400 pairs x 6e6 operations
  CHECK(step[Part::kDraft] == 0);
  CHECK(step[Part::kLaunch] == 25'000);  // 7 + 36 x 0.5
}
