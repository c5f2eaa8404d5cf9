// Everything that a run depends on, and where each value came from. A Scenario is filled from
// option tables (one a module) by four layers, the later one winning: defaults, the preset files
// that `model.preset` and `hardware.preset` name, the experiment file, the command line.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/serving/serving.h"
#include "sim/workload/workload.h"

namespace shiftpoint {

struct RunConfig {
  std::string name;
  std::int64_t seed = 1;
};

inline constexpr Option<RunConfig> kRunOptions[] = {
    {"name", "", "name of the experiment (letters, digits, . _ -); empty: the file's name",
     &RunConfig::name},
    {"seed", "", "seed of every random draw", &RunConfig::seed, range(0, 9007199254740992.0)},
};

struct OutputConfig {
  std::string dir;
  std::int64_t timeline_events = 20000;
  std::int64_t steps_rows = 200000;
};

inline constexpr Option<OutputConfig> kOutputOptions[] = {
    {"dir", "", "result folder; empty: results/<name>/<hash>-s<seed>", &OutputConfig::dir},
    {"timeline_events", "", "events that timeline.json may hold; 0: no timeline",
     &OutputConfig::timeline_events, range(0, 1e8)},
    {"steps_rows", "", "rows that steps.csv may hold", &OutputConfig::steps_rows, range(0, 1e9)},
};

struct Scenario {
  RunConfig run;
  OutputConfig output;
  Deployment deployment;
  WorkloadConfig workload;
};

// One key after all layers were applied.
struct Setting {
  std::string key;    // "moe.placement"
  std::string value;  // canonical text: parsing it gives the same value
  std::string unit;
  std::string help;
  std::string origin;  // "default", "FILE:LINE", "command line"
  std::string tag;  // preset values: "cited: ...", "measured: ...", "fitted: ...", "assumed: ..."
};

struct SweepAxis {
  std::string key;
  std::vector<std::string> values;
};

// "section.key=value" pairs of the command line, in order, without the leading dashes.
using Overrides = std::vector<std::string>;

struct LoadedScenario {
  std::string file;
  Overrides overrides;  // of the command line, as given
  Scenario scenario;
  std::vector<Setting> settings;  // every key, in table order
  std::vector<SweepAxis> sweep;   // empty: a single run. A key given on the command line is no axis
};

// Reads an experiment file and applies the layers. Throws UserError: unknown key (with the nearest
// known one), repeated key, wrong type, value out of range, preset not found; with file, line and
// key.
LoadedScenario load_scenario(const std::string& file, const Overrides& overrides);

// Runs `action`; a BadValue that it throws is said again with the place that set the key:
// "FILE:LINE: 'key': found; accepted".
void with_places(const LoadedScenario& loaded, const std::function<void()>& action);

// The scenario of one point of a sweep: `values` belongs to loaded.sweep, one value an axis. Reads
// the files again, so that a swept preset brings its values.
LoadedScenario at_sweep_point(const LoadedScenario& loaded, const std::vector<std::string>& values);

// Text of every key for --help: name, unit, default, accepted values, help.
std::string options_help();

}  // namespace shiftpoint
