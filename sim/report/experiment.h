// From a loaded scenario to a result folder: reads the trace, simulates, writes.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/config/scenario.h"

namespace shiftpoint {

using Progress = std::function<void(std::int64_t ended, std::int64_t total, Nanos simulated_ns)>;

struct Experiment {
  LoadedScenario loaded;
  Workload workload;
  std::string trace_sha256;  // empty: no trace
  std::string hash10;  // first ten hex digits of the hash of the effective configuration and input
};

// Reads the trace that the scenario names, if any. Throws UserError.
Experiment prepare_experiment(LoadedScenario loaded);

// output.dir, or results/<name>/<hash10>-s<seed>.
std::string result_dir(const Experiment& experiment);

// How much of a result is written: everything, or only what a sweep keeps of each point.
enum class Detail { kFull, kSummaryOnly };

struct ExperimentResult {
  std::string dir;
  std::string summary_json;
  std::string manifest_json;
  std::vector<std::string> warnings;
};

// Runs and writes the folder `dir`; nothing is left behind on failure.
ExperimentResult run_experiment(const Experiment& experiment, const std::string& dir, Detail detail,
                                const Progress& progress);

// The scalars that a person wants to see first, as a short text.
std::string summary_text(const std::string& summary_json);

}  // namespace shiftpoint
