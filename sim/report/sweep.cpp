#include "sim/report/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/config/input_file.h"
#include "sim/core/error.h"
#include "sim/report/manifest.h"
#include "sim/report/result_folder.h"
#include "sim/report/summary.h"

namespace shiftpoint {
namespace {

std::int64_t point_count(const LoadedScenario& loaded) {
  std::int64_t count = 1;
  for (const SweepAxis& axis : loaded.sweep) count *= static_cast<std::int64_t>(axis.values.size());
  return count;
}

// Mixed-radix digits of the point's number, last axis fastest.
std::vector<std::string> values_at(const LoadedScenario& loaded, std::int64_t point) {
  std::vector<std::string> values(loaded.sweep.size());
  for (std::size_t a = loaded.sweep.size(); a-- > 0;) {
    const auto size = static_cast<std::int64_t>(loaded.sweep[a].values.size());
    values[a] = loaded.sweep[a].values[static_cast<std::size_t>(point % size)];
    point /= size;
  }
  return values;
}

std::string point_dir(const LoadedScenario& loaded, const Experiment& point) {
  return fmt::format("{}/points/{}-s{}", sweep_dir(loaded), point.hash10,
                     point.loaded.scenario.run.seed);
}

// A field of points.csv: quoted where a list has commas.
std::string csv_field(const std::string& text) {
  return text.find_first_of(",\"") == std::string::npos ? text : "\"" + text + "\"";
}

// Two points with the same effective configuration: a swept key changes nothing here.
void require_distinct(std::map<std::string, std::int64_t>& dirs, const std::string& dir,
                      std::int64_t point, const LoadedScenario& loaded) {
  const auto [earlier, fresh] = dirs.emplace(dir, point);
  if (fresh) return;
  std::string keys;
  for (const SweepAxis& axis : loaded.sweep) keys += (keys.empty() ? "" : ", ") + axis.key;
  throw_bad_input({loaded.file, 0}, "sweep",
                  fmt::format("points {} and {} are the same experiment", earlier->second, point),
                  "keys that change it (swept: " + keys + ")");
}

void require_axes(const LoadedScenario& loaded) {
  if (loaded.sweep.empty()) {
    throw_bad_input({loaded.file, 0}, "sweep", "no [sweep] section",
                    "a [sweep] section with at least one key, or the command 'run'");
  }
}

}  // namespace

std::string sweep_dir(const LoadedScenario& loaded) {
  const Scenario& scenario = loaded.scenario;
  return scenario.output.dir.empty() ? "results/" + scenario.run.name : scenario.output.dir;
}

SweepCounts run_sweep(const LoadedScenario& loaded, const Shard& shard,
                      const PointProgress& progress) {
  require_axes(loaded);
  SweepCounts counts;
  counts.points = point_count(loaded);
  std::map<std::string, std::int64_t> dirs;
  for (std::int64_t p = shard.index; p < counts.points; p += shard.count) {
    const std::vector<std::string> values = values_at(loaded, p);
    std::string label;
    for (std::size_t a = 0; a < values.size(); ++a) {
      label += (a > 0 ? ", " : "") + loaded.sweep[a].key + "=" + values[a];
    }
    if (progress) progress(p, counts.points, label);
    const Experiment point = prepare_experiment(at_sweep_point(loaded, values));
    const std::string dir = point_dir(loaded, point);
    require_distinct(dirs, dir, p, loaded);
    const std::optional<std::string> made_by = complete_revision(dir);
    // A result of another build is no result of this one, and an uncommitted build has no name.
    if (made_by == revision_text() && !made_by->ends_with("-modified")) {
      ++counts.skipped;
      continue;
    }
    run_experiment(point, dir, Detail::kSummaryOnly, {});
    ++counts.run;
  }
  return counts;
}

void merge_sweep(const LoadedScenario& loaded) {
  require_axes(loaded);
  const std::int64_t points = point_count(loaded);
  std::string csv;
  std::string missing;
  std::int64_t missing_count = 0;
  std::string manifest_json;
  std::string revision;
  for (std::int64_t p = 0; p < points; ++p) {
    const std::vector<std::string> values = values_at(loaded, p);
    const Experiment point = prepare_experiment(at_sweep_point(loaded, values));
    const std::string dir = point_dir(loaded, point);
    const std::optional<std::string> made_by = complete_revision(dir);
    if (!made_by) {
      if (++missing_count <= 10) missing += (missing.empty() ? "" : ", ") + std::to_string(p);
      continue;
    }
    if (missing_count > 0) continue;
    if (revision.empty()) revision = *made_by;
    if (*made_by != revision) {
      throw UserError(
          fmt::format("{}: made by revision {}, point 0 by {}: sweep again with one build", dir,
                      *made_by, revision));
    }
    auto flat = flatten(nlohmann::ordered_json::parse(read_text(dir + "/summary.json")));
    // A swept key that a summary also names (moe.placement) is one column.
    std::erase_if(flat, [&](const auto& field) {
      return std::any_of(loaded.sweep.begin(), loaded.sweep.end(),
                         [&](const SweepAxis& axis) { return axis.key == field.first; });
    });
    if (csv.empty()) {
      csv = "point";
      for (const SweepAxis& axis : loaded.sweep) csv += "," + axis.key;
      for (const auto& [key, text] : flat) csv += "," + key;
      csv += "\n";
    }
    csv += std::to_string(p);
    for (const std::string& value : values) csv += "," + csv_field(value);
    for (const auto& [key, text] : flat) csv += "," + csv_field(text);
    csv += "\n";
    manifest_json = read_text(dir + "/manifest.json");
  }
  if (missing_count > 0) {
    throw UserError(fmt::format(
        "{}: {} of {} points are missing (numbers {}{}): run the other shards "
        "first",
        sweep_dir(loaded), missing_count, points, missing, missing_count > 10 ? ", ..." : ""));
  }
  // The sweep's manifest: that of its points, with the axes instead of one point's values.
  auto manifest = nlohmann::ordered_json::parse(manifest_json);
  manifest["points"] = points;
  manifest["sweep"] = nlohmann::ordered_json::object();
  for (const SweepAxis& axis : loaded.sweep) {
    manifest["sweep"][axis.key] = axis.values;
    for (auto& setting : manifest["settings"]) {
      if (setting["key"] == axis.key) setting["value"] = "(swept)";
    }
  }
  manifest.erase("hash");
  manifest["files"] = {{"points.csv", sha256_hex(csv)}};
  write_files(sweep_dir(loaded), {{"points.csv", csv}, {"manifest.json", manifest.dump(2) + "\n"}});
}

}  // namespace shiftpoint
