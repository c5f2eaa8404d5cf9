// No inert option: every key of every option table changes a named output in some scenario, and the
// table below says which. A new key without a row fails the test.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/config/bound_option.h"
#include "sim/core/error.h"
#include "sim/report/experiment.h"
#include "sim/report/result_folder.h"
#include "sim/test_support/catch.h"
#include "sim/test_support/temporary_folder.h"

using namespace shiftpoint;

namespace {

// Small enough for milliseconds: 4 layers, 3 of them with 16 experts, 4 requests in a closed loop
// of 2.
const char* const kBase =
    "[model]\nlayers = 4\nexperts = 16\nexperts_per_token = 2\ndrafter_layers = 2\n"
    "[workload]\nrequests = 4\nbatch = 2\ncontext_tokens = 300\noutput_tokens = 30\n"
    "[speculation]\nlength_context_tokens = 100, 1000\nlength_tokens = 8, 1\n"
    "[kvcache]\nslots = 20000\nlayout_every_steps = 4\n";

struct Knob {
  const char* key;
  const char* value;
  const char* output;                  // dotted path in summary.json that must change
  std::vector<const char*> also = {};  // applied to both runs
};

const char* const kTrace = "workload.kind=trace";
const char* const kSynthetic = "workload.kind=synthetic";

const std::vector<Knob> kKnobs = {
    {"run.seed", "2", "acceptance_length"},
    {"model.layers", "5", "step_ms.mean"},
    {"model.dense_layers", "2", "step_ms.mean"},
    {"model.hidden_size", "3584", "ms_per_token.dense"},
    {"model.attention_heads",
     "128",
     "ms_per_token.attention",
     {"cost.attention=split-scalar", "workload.context_tokens=3000"}},
    {"model.kv_latent_dims", "1024", "ms_per_token.attention"},
    {"model.kv_rope_dims", "128", "ms_per_token.attention"},
    {"model.kv_bytes_per_element", "1", "attention.kv_gbps"},
    {"model.attention_params_per_layer", "200e6", "ms_per_token.dense"},
    {"model.attention_replicated_params_per_layer", "0", "ms_per_token.dense"},
    {"model.dense_intermediate_size", "36864", "ms_per_token.dense"},
    {"model.experts", "32", "moe.activated_experts"},
    {"model.experts_per_token", "4", "moe.activated_experts"},
    {"model.shared_experts", "2", "ms_per_token.dense"},
    {"model.expert_intermediate_size", "4096", "ms_per_token.experts"},
    {"model.expert_bits_per_weight", "16", "ms_per_token.experts"},
    {"model.dense_bytes_per_weight", "1", "ms_per_token.dense"},
    {"model.vocabulary", "32000", "ms_per_token.dense"},
    {"model.drafter_bytes", "1e9", "ms_per_token.draft"},
    {"model.drafter_layers", "8", "ms_per_token.draft"},
    {"hardware.ranks", "4", "ms_per_token.experts"},
    {"hardware.sms", "40", "ms_per_token.attention"},
    {"hardware.sm_clock_ghz", "1.2", "ms_per_token.attention"},
    {"hardware.memory_bytes", "1e12", "kv.slots", {"kvcache.slots=0"}},
    {"hardware.dram_gbps", "1000", "attention.share_of_rated_dram"},
    {"hardware.dram_read_gbps", "500", "ms_per_token.dense"},
    {"hardware.dram_latency_us", "3", "ms_per_token.attention"},
    {"hardware.l2_gbps", "100", "ms_per_token.attention", {"cost.attention=extend-serial"}},
    {"hardware.mma_tflops", "1", "ms_per_token.attention"},
    {"hardware.gemm_tflops", "10", "prefill_attribution.dense", {"workload.prefilled=false"}},
    {"hardware.fma_tflops", "1", "ms_per_token.attention", {"cost.attention=split-scalar"}},
    {"hardware.shared_memory_per_block_bytes",
     "232448",
     "ms_per_token.attention",
     {"cost.attention=split-vector", "workload.context_tokens=3000", "cost.nsplit=64"}},
    {"hardware.launch_us", "50", "ms_per_token.launch", {"cost.launch_mode=eager"}},
    {"hardware.graph_node_gap_us", "5", "ms_per_token.launch"},
    {"hardware.graph_launch_us", "50", "ms_per_token.launch"},
    {"hardware.gemm_floor_us", "20", "ms_per_token.dense"},
    {"hardware.moe_floor_us", "60", "ms_per_token.experts"},
    {"hardware.moe_read_gbps", "500", "ms_per_token.experts"},
    {"hardware.collective_alpha_us", "50", "ms_per_token.collective"},
    {"hardware.collective_beta_us_per_kb", "0.5", "ms_per_token.collective"},
    {"workload.kind", "synthetic", "simulated_s"},
    {"workload.trace", "OTHER_TRACE", "output_tokens", {kTrace}},
    {"workload.limit", "1", "requests.submitted", {kTrace}},
    {"workload.time_scale", "10", "simulated_s", {kTrace}},
    {"workload.max_context_tokens", "200", "requests.clipped", {kTrace, "workload.clip=true"}},
    {"workload.requests", "6", "requests.submitted"},
    {"workload.batch", "3", "moe.tokens_per_step"},
    {"workload.context_tokens", "3000", "ms_per_token.attention"},
    {"workload.output_tokens", "60", "output_tokens"},
    {"workload.prefilled", "false", "steps.prefill"},
    {"workload.rate_per_s", "0.1", "simulated_s", {kSynthetic}},
    {"workload.arrival_cv", "0", "simulated_s", {kSynthetic}},
    {"workload.input_mean_tokens", "64", "ttft_ms.mean", {kSynthetic}},
    {"workload.input_sigma", "0", "ttft_ms.mean", {kSynthetic}},
    {"workload.output_mean_tokens", "32", "output_tokens", {kSynthetic}},
    {"workload.output_sigma", "0", "output_tokens", {kSynthetic}},
    {"serving.max_running", "1", "moe.tokens_per_step"},
    {"serving.chunk_tokens", "100", "steps.prefill", {"workload.prefilled=false"}},
    {"serving.reserve_output_fraction",
     "0",
     "kv.retractions",
     {"kvcache.slots=650", "workload.batch=2", "speculation.conditional=0"}},
    {"serving.horizon_s", "0.01", "requests.in_flight"},
    {"speculation.draft_tokens", "5", "moe.tokens_per_step"},
    {"speculation.acceptance", "length-by-context", "acceptance_length"},
    {"speculation.conditional", "0.2", "acceptance_length"},
    {"speculation.length_context_tokens",
     "100, 400",
     "acceptance_length",
     {"speculation.acceptance=length-by-context"}},
    {"speculation.length_tokens",
     "5, 5",
     "acceptance_length",
     {"speculation.acceptance=length-by-context"}},
    {"kvcache.allocator", "need-sort", "kv.sorts", {"kvcache.slots=700", "workload.requests=8"}},
    {"kvcache.slots", "700", "kv.peak_occupancy"},
    {"kvcache.memory_fraction", "0.5", "kv.slots", {"kvcache.slots=0"}},
    {"kvcache.reserved_bytes", "1e9", "kv.slots", {"kvcache.slots=0"}},
    {"kvcache.layout_every_steps", "2", "kv.layout.samples"},
    {"moe.placement", "whole-expert", "ms_per_token.expert_wait"},
    {"moe.exact_tokens_max", "0", "moe.activated_experts"},
    {"cost.attention", "extend-serial", "ms_per_token.attention"},
    {"cost.nsplit", "1", "ms_per_token.attention"},
    {"cost.launch_mode", "eager", "ms_per_token.launch"},
    {"cost.host_us", "100", "ms_per_token.host"},
    {"cost.kernels_per_layer", "40", "ms_per_token.launch"},
};

// Keys that the table cannot hold, and the test that shows their effect.
const std::map<std::string, std::string>& elsewhere() {
  static const std::map<std::string, std::string> keys = {
      {"run.name", "names the result folder: below"},
      {"output.dir", "the result folder: below"},
      {"output.timeline_events", "events of timeline.json: below"},
      {"output.steps_rows", "rows of steps.csv: below"},
      {"model.preset", "sets keys: scenario_test.cpp, layers"},
      {"hardware.preset", "sets keys: scenario_test.cpp, layers"},
      {"workload.format", "a wrong one is refused: below"},
      {"workload.clip", "without it too long requests are refused: below"},
      {"workload.bad_rows", "a malformed row is counted or refused: below"},
      {"moe.routing", "one router so far: nothing to change to"},
  };
  return keys;
}

nlohmann::json summary_of(const test::TemporaryFolder& folder, const Overrides& overrides) {
  const std::string file = folder.write("base.cfg", kBase);
  const Experiment e = prepare_experiment(load_scenario(file, overrides));
  const ExperimentResult r =
      run_experiment(e, (folder.path() / "out").string(), Detail::kSummaryOnly, {});
  return nlohmann::json::parse(r.summary_json);
}

nlohmann::json at_path(const nlohmann::json& json, std::string path) {
  std::replace(path.begin(), path.end(), '.', '/');
  return json.at(nlohmann::json::json_pointer("/" + path));
}

const char* const kAzure =
    "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:00:00.0000000,300,20\n"
    "2023-11-16 18:00:05.0000000,100,10\n";

}  // namespace

TEST_CASE("every key changes a named output") {
  const test::TemporaryFolder folder;
  const std::string trace = folder.write("trace.csv", kAzure);
  const std::string other = folder.write(
      "other.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:00:00.0000000,300,25\n");
  for (const Knob& knob : kKnobs) {
    CAPTURE(knob.key, knob.value, knob.output);
    Overrides base;
    bool traced = false;
    for (const char* text : knob.also) {
      base.emplace_back(text);
      traced |= text == std::string(kTrace);
    }
    Overrides changed = base;
    const bool swaps_trace = knob.value == std::string("OTHER_TRACE");
    if (traced) {
      base.push_back("workload.trace=" + trace);
      changed.push_back("workload.trace=" + (swaps_trace ? other : trace));
    }
    if (!swaps_trace) changed.push_back(std::string(knob.key) + "=" + knob.value);
    CHECK(at_path(summary_of(folder, base), knob.output) !=
          at_path(summary_of(folder, changed), knob.output));
  }
}

TEST_CASE("every key has a row in the audit, and only known keys do") {
  Scenario scenario;
  std::map<std::string, int> seen;
  for (const Knob& knob : kKnobs) ++seen[knob.key];
  for (const auto& [key, why] : elsewhere()) ++seen[key];
  for (const BoundOption& option : bind_options(scenario)) {
    CAPTURE(option.key);
    CHECK(seen[option.key] == 1);
    seen.erase(option.key);
  }
  CHECK(seen.empty());
  // An entry for a registry with one name must go when the registry grows.
  CHECK(router_names() == "uniform");
}

TEST_CASE("run.name, output.dir, output.timeline_events and output.steps_rows") {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("base.cfg", kBase);
  const Experiment named = prepare_experiment(load_scenario(file, {"run.name=other"}));
  CHECK(result_dir(named).starts_with("results/other/"));
  const Experiment plain = prepare_experiment(load_scenario(file, {}));
  CHECK(result_dir(plain).starts_with("results/base/"));
  CHECK(plain.hash10 == named.hash10);  // a name is no part of the experiment
  const std::string dir = (folder.path() / "here").string();
  const Experiment e = prepare_experiment(load_scenario(
      file, {"output.dir=" + dir, "output.timeline_events=0", "output.steps_rows=3"}));
  CHECK(result_dir(e) == dir);
  const ExperimentResult r = run_experiment(e, dir, Detail::kFull, {});
  CHECK_FALSE(std::filesystem::exists(dir + "/timeline.json"));
  const std::string csv = read_text(dir + "/steps.csv");
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 4);
  REQUIRE(r.warnings.size() == 1);
  CHECK(r.warnings[0].find("output.steps_rows") != std::string::npos);
}

TEST_CASE("workload.format, workload.clip and workload.bad_rows") {
  const test::TemporaryFolder folder;
  const std::string trace = folder.write("trace.csv", std::string(kAzure) + "bad,row,here\n");
  const Overrides base = {kTrace, "workload.trace=" + trace};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), base.begin(), base.end());
    return more;
  };
  CHECK_THROWS_AS(summary_of(folder, base), UserError);
  const auto s = summary_of(folder, with({"workload.bad_rows=reject"}));
  CHECK(s["requests"]["rejected"] == 1);
  CHECK(s["requests"]["submitted"] == 3);
  CHECK_THROWS_AS(
      summary_of(folder, with({"workload.bad_rows=reject", "workload.format=mooncake-jsonl"})),
      UserError);
  const Overrides capped = with({"workload.bad_rows=reject", "workload.max_context_tokens=200"});
  CHECK_THROWS_AS(summary_of(folder, capped), UserError);
  Overrides clipped = capped;
  clipped.emplace_back("workload.clip=true");
  CHECK(summary_of(folder, clipped)["requests"]["clipped"] == 1);
}
