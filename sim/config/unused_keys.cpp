#include "sim/config/unused_keys.h"

#include <algorithm>

namespace shiftpoint {
namespace {

// `key` matters only while `by` has one of the '|'-separated values.
struct Governed {
  const char* key;
  const char* by;
  const char* values;
};

constexpr Governed kGoverned[] = {
    {"workload.trace", "workload.kind", "trace"},
    {"workload.format", "workload.kind", "trace"},
    {"workload.limit", "workload.kind", "trace"},
    {"workload.time_scale", "workload.kind", "trace"},
    {"workload.bad_rows", "workload.kind", "trace"},
    {"workload.requests", "workload.kind", "closed-loop|synthetic"},
    {"workload.batch", "workload.kind", "closed-loop"},
    {"workload.context_tokens", "workload.kind", "closed-loop"},
    {"workload.output_tokens", "workload.kind", "closed-loop"},
    {"workload.prefilled", "workload.kind", "closed-loop"},
    {"workload.rate_per_s", "workload.kind", "synthetic"},
    {"workload.arrival_cv", "workload.kind", "synthetic"},
    {"workload.input_mean_tokens", "workload.kind", "synthetic"},
    {"workload.input_sigma", "workload.kind", "synthetic"},
    {"workload.output_mean_tokens", "workload.kind", "synthetic"},
    {"workload.output_sigma", "workload.kind", "synthetic"},
    {"speculation.conditional", "speculation.acceptance", "per-position"},
    {"speculation.length_context_tokens", "speculation.acceptance", "length-by-context"},
    {"speculation.length_tokens", "speculation.acceptance", "length-by-context"},
    {"hardware.launch_us", "cost.launch_mode", "eager"},
    {"hardware.graph_launch_us", "cost.launch_mode", "graph"},
    {"hardware.graph_node_gap_us", "cost.launch_mode", "graph"},
};

}  // namespace

std::vector<std::string> unused_keys(const LoadedScenario& loaded, const Overrides& overrides) {
  std::vector<std::string> notes;
  for (const std::string& text : overrides) {
    const std::string key = text.substr(0, text.find('='));
    for (const Governed& rule : kGoverned) {
      if (key != rule.key) continue;
      const auto governor = std::find_if(loaded.settings.begin(), loaded.settings.end(),
                                         [&](const Setting& s) { return s.key == rule.by; });
      // A governor that is swept itself may have the right value at some point.
      const bool swept = std::any_of(loaded.sweep.begin(), loaded.sweep.end(),
                                     [&](const SweepAxis& axis) { return axis.key == rule.by; });
      const std::string values = std::string("|") + rule.values + "|";
      if (swept || governor == loaded.settings.end() ||
          values.find("|" + governor->value + "|") != std::string::npos) {
        continue;
      }
      notes.push_back(key + " does nothing with " + rule.by + " = " + governor->value);
    }
  }
  return notes;
}

}  // namespace shiftpoint
