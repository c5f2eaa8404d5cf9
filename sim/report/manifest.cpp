#include "sim/report/manifest.h"

#include <nlohmann/json.hpp>

#include "shiftpoint_revision.h"
#include "sim/config/input_file.h"

namespace shiftpoint {

std::string revision_text() {
  return std::string(SHIFTPOINT_REVISION) + (SHIFTPOINT_DIRTY ? "-modified" : "");
}

std::string version_text() {
  return std::string(SHIFTPOINT_VERSION) + " (revision " + revision_text() + ")";
}

std::string make_manifest(const Experiment& experiment,
                          const std::map<std::string, std::string>& files,
                          const std::vector<std::string>& warnings) {
  using Json = nlohmann::ordered_json;
  const Scenario& scenario = experiment.loaded.scenario;
  Json json;
  json["complete"] = true;
  json["experiment"] = scenario.run.name;
  json["seed"] = scenario.run.seed;
  json["hash"] = experiment.hash10;
  json["shiftpoint"] = {
      {"version", SHIFTPOINT_VERSION}, {"revision", revision_text()}, {"compiler", __VERSION__}};
  json["model_preset"] = scenario.deployment.model.preset;
  json["hardware_preset"] = scenario.deployment.hardware.preset;
  json["gpu"] = nullptr;  // no part of this run was timed on a GPU
  json["inputs"] = Json::array();
  const Workload& workload = experiment.workload;
  if (!experiment.trace_sha256.empty()) {
    json["inputs"].push_back({{"file", scenario.workload.trace},
                              {"sha256", experiment.trace_sha256},
                              {"format", workload.format},
                              {"rows", workload.counts.rows},
                              {"accepted", workload.counts.accepted},
                              {"rejected", workload.counts.rejected},
                              {"clipped_rows", workload.counts.clipped_rows},
                              {"clipped_tokens", workload.counts.clipped_tokens},
                              {"first_rejections", workload.counts.first_rejections}});
  }
  json["workload"] = {{"format", workload.format}, {"requests", workload.requests.size()}};
  json["warnings"] = warnings;
  json["files"] = Json::object();
  for (const auto& [name, content] : files) json["files"][name] = sha256_hex(content);
  json["settings"] = Json::array();
  for (const Setting& s : experiment.loaded.settings) {
    if (s.key == "output.dir") continue;  // a place, not a result
    Json row = {{"key", s.key}, {"value", s.value}, {"unit", s.unit}, {"origin", s.origin}};
    if (!s.tag.empty()) row["tag"] = s.tag;
    json["settings"].push_back(std::move(row));
  }
  // A name from the command line may be any bytes.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace shiftpoint
