#include "sim/report/experiment.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/config/input_file.h"
#include "sim/report/manifest.h"
#include "sim/report/result_folder.h"
#include "sim/report/step_log.h"
#include "sim/report/summary.h"
#include "sim/report/timeline.h"

namespace shiftpoint {
namespace {

// Keys that say where results go or what they are called, not what they are. The trace's path is
// replaced by its checksum.
bool is_identity(const std::string& key) {
  return !key.starts_with("output.") && key != "run.name" && key != "workload.trace";
}

std::string effective_hash(const LoadedScenario& loaded, const std::string& trace_sha256) {
  std::string text = "trace=" + trace_sha256 + "\n";
  for (const Setting& setting : loaded.settings) {
    if (is_identity(setting.key)) text += setting.key + "=" + setting.value + "\n";
  }
  return sha256_hex(text).substr(0, 10);
}

// What a reader must know before believing the numbers.
std::vector<std::string> deployment_warnings(const Scenario& scenario, const Workload& workload,
                                             const SimulationResult& result, const StepLog& steps) {
  std::vector<std::string> warnings;
  const KvCapacity& capacity = result.capacity;
  if (capacity.origin == "user" && capacity.slots > capacity.estimated_slots) {
    warnings.push_back(fmt::format("kvcache.slots = {} is more than the {} that memory leaves",
                                   capacity.slots, capacity.estimated_slots));
  }
  // Open loop: the queue outlived the arrivals by more than a tenth of their span.
  const Nanos span = workload.requests.empty() ? 0 : workload.requests.back().arrival_ns;
  if (workload.concurrency == 0 && span > 0 && result.end_ns > span + span / 10) {
    warnings.push_back(
        fmt::format("overloaded: requests arrived over {:.0f} s and were served over {:.0f} s; "
                    "waiting times say "
                    "how long the overload lasted, not how long the server takes",
                    s_from_nanos(span), s_from_nanos(result.end_ns)));
  }
  if (steps.verify().expected_load_steps > 0) {
    warnings.push_back(fmt::format(
        "{} of {} verify steps had more than moe.exact_tokens_max = {} tokens: their loads are "
        "expectations, balanced over the ranks",
        steps.verify().expected_load_steps, steps.verify().steps,
        scenario.deployment.moe.exact_tokens_max));
  }
  return warnings;
}

std::vector<std::string> cap_warnings(const StepLog& steps, const Timeline& timeline,
                                      const Scenario& scenario) {
  std::vector<std::string> warnings;
  if (steps.rows_left_out() > 0) {
    warnings.push_back(
        fmt::format("steps.csv holds the first {} steps and leaves out {} "
                    "(output.steps_rows)",
                    steps.rows(), steps.rows_left_out()));
  }
  if (timeline.steps_left_out() > 0 && scenario.output.timeline_events > 0) {
    warnings.push_back(
        fmt::format("timeline.json draws the first {} steps and leaves out {} "
                    "(output.timeline_events)",
                    timeline.steps_drawn(), timeline.steps_left_out()));
  }
  const auto outside = steps.verify().outside_table_ns + steps.prefill().outside_table_ns;
  if (outside > 0) {
    warnings.push_back(
        fmt::format("{:.1f} ms of attention were looked up outside the recorded table",
                    ms_from_nanos(outside)));
  }
  return warnings;
}

std::string bottleneck_text(const nlohmann::ordered_json& bottleneck) {
  if (bottleneck["part"].is_null()) return "none";
  return fmt::format("{} with {:.1f} %, then {} with {:.1f} %",
                     bottleneck["part"].get<std::string>(), 100 * bottleneck["share"].get<double>(),
                     bottleneck["runner_up"].get<std::string>(),
                     100 * bottleneck["runner_up_share"].get<double>());
}

}  // namespace

Experiment prepare_experiment(LoadedScenario loaded) {
  Experiment e;
  const WorkloadConfig& config = loaded.scenario.workload;
  const auto seed = static_cast<std::uint64_t>(loaded.scenario.run.seed);
  if (config.kind == "trace" && !config.trace.empty()) {
    InputFile file = read_input_file(config.trace);
    e.trace_sha256 = file.sha256;
    std::istringstream stream(std::move(file.bytes));
    e.workload = make_workload(config, &stream, file.name, seed);
  } else {
    e.workload = make_workload(config, nullptr, "", seed);
  }
  e.hash10 = effective_hash(loaded, e.trace_sha256);
  e.loaded = std::move(loaded);
  return e;
}

std::string result_dir(const Experiment& experiment) {
  const Scenario& scenario = experiment.loaded.scenario;
  if (!scenario.output.dir.empty()) return scenario.output.dir;
  return fmt::format("results/{}/{}-s{}", scenario.run.name, experiment.hash10, scenario.run.seed);
}

ExperimentResult run_experiment(const Experiment& experiment, const std::string& dir, Detail detail,
                                const Progress& progress) {
  const Scenario& scenario = experiment.loaded.scenario;
  const bool full = detail == Detail::kFull;
  StepLog steps(full ? scenario.output.steps_rows : 0);
  Timeline timeline(full ? scenario.output.timeline_events : 0, scenario.deployment.hardware.ranks,
                    scenario.deployment.model.layers, scenario.deployment.model.dense_layers);
  const StepObserver on_step = [&](const StepResult& step, const ExpertDetail& experts) {
    steps.add(step);
    timeline.add(step, experts);
  };
  const auto total = static_cast<std::int64_t>(experiment.workload.requests.size());
  const SimulationResult result = simulate(scenario.deployment, experiment.workload,
                                           static_cast<std::uint64_t>(scenario.run.seed), on_step,
                                           [&](std::int64_t ended, Nanos now) {
                                             if (progress) progress(ended, total, now);
                                           });

  ExperimentResult out;
  out.dir = dir;
  std::map<std::string, std::string> files;
  out.warnings = deployment_warnings(scenario, experiment.workload, result, steps);
  out.summary_json = make_summary(scenario, experiment.workload, result, steps).dump(2) + "\n";
  files["summary.json"] = out.summary_json;
  if (full) {
    for (const std::string& warning : cap_warnings(steps, timeline, scenario)) {
      out.warnings.push_back(warning);
    }
    files["requests.csv"] = requests_csv(result);
    files["steps.csv"] = steps.csv();
    if (scenario.output.timeline_events > 0) files["timeline.json"] = timeline.json();
  }
  out.manifest_json = make_manifest(experiment, files, out.warnings);
  files["manifest.json"] = out.manifest_json;
  write_result_folder(dir, files);
  return out;
}

std::string summary_text(const std::string& summary_json) {
  const auto s = nlohmann::ordered_json::parse(summary_json);
  const auto number = [](const nlohmann::ordered_json& value) {
    return value.is_null() ? std::string("-") : fmt::format("{:.2f}", value.get<double>());
  };
  const auto& requests = s["requests"];
  std::string text = fmt::format(
      "requests   {} submitted: {} finished, {} rejected, {} unservable, {} in flight\n",
      requests["submitted"].get<std::int64_t>(), requests["finished"].get<std::int64_t>(),
      requests["rejected"].get<std::int64_t>(), requests["unservable"].get<std::int64_t>(),
      requests["in_flight"].get<std::int64_t>());
  text += fmt::format(
      "output     {} tokens in {:.3f} s simulated = {:.1f} tok/s, {} tokens a verify "
      "step and request\n",
      s["output_tokens"].get<std::int64_t>(), s["simulated_s"].get<double>(),
      s["throughput_tok_s"].get<double>(), number(s["acceptance_length"]));
  for (const char* name : {"ttft_ms", "tpot_ms", "step_ms"}) {
    text += fmt::format("{:<10} mean {}, p50 {}, p90 {}, p99 {}\n", name, number(s[name]["mean"]),
                        number(s[name]["p50"]), number(s[name]["p90"]), number(s[name]["p99"]));
  }
  const auto& kv = s["kv"];
  text +=
      fmt::format("KV pool    {} slots ({}), at most {:.1f} % used, retractions: {}\n",
                  kv["slots"].get<std::int64_t>(), kv["origin"].get<std::string>(),
                  100 * kv["peak_occupancy"].get<double>(), kv["retractions"].get<std::int64_t>());
  const double left_gb = kv["usable_gb"].get<double>() - kv["weights_gb"].get<double>() -
                         kv["reserved_gb"].get<double>();
  text += fmt::format(
      "           {:.2f} GB; memory leaves {:.2f} = {:.2f} usable - {:.2f} weights - "
      "{:.2f} reserved\n",
      kv["pool_gb"].get<double>(), left_gb, kv["usable_gb"].get<double>(),
      kv["weights_gb"].get<double>(), kv["reserved_gb"].get<double>());
  const auto& busy = s["busy"];
  text += fmt::format("time       {:.1f} % verify steps, {:.1f} % prefill, {:.1f} % idle\n",
                      100 * busy["verify_share"].get<double>(),
                      100 * busy["prefill_share"].get<double>(),
                      100 * busy["idle_share"].get<double>());
  text += "verify-step time by part:\n";
  for (const auto& [part, share] : s["attribution"].items()) {
    const double value = share.is_null() ? 0 : share.get<double>();
    text += fmt::format("  {:<12} {:>5.1f} %{}{}\n", part, 100 * value, value < 0.01 ? "" : "  ",
                        std::string(static_cast<std::size_t>(std::lround(value * 50)), '#'));
  }
  text += "bottleneck of a verify step: " + bottleneck_text(s["bottleneck"]) + "\n";
  text += "bottleneck of all busy time: " + bottleneck_text(busy["bottleneck"]) + "\n";
  text += "timing     ";
  for (const char* source : {"model", "profile", "live"}) {
    text += fmt::format("{} {:.0f} %  ", source, 100 * s["timing_source"][source].get<double>());
  }
  return text + "of simulated busy time\n";
}

}  // namespace shiftpoint
