#include "sim/report/claim_metrics.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "sim/core/error.h"

namespace shiftpoint {
namespace {

// Fields of one line of points.csv; no field of the columns used here is quoted.
std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::string field;
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.push_back(std::move(field));
      field.clear();
    } else if (c != '\r') {
      field += c;
    }
  }
  fields.push_back(std::move(field));
  return fields;
}

}  // namespace

std::map<std::string, double> bottleneck_shift_metrics(std::istream& points,
                                                       const std::string& name) {
  std::string line;
  if (!std::getline(points, line)) throw_bad_input({name, 1}, "", "empty", "a points.csv");
  const std::vector<std::string> header = split(line);
  const auto column = [&](const char* wanted) {
    const auto at = std::find(header.begin(), header.end(), wanted);
    if (at == header.end()) {
      throw_bad_input({name, 1}, wanted, "no such column", "points.csv of bottleneck_shift.cfg");
    }
    return static_cast<std::size_t>(at - header.begin());
  };
  const std::size_t variant = column("cost.attention");
  const std::size_t mode = column("cost.launch_mode");
  const std::size_t context = column("workload.context_tokens");
  const std::size_t wait = column("attribution.expert_wait");
  const std::size_t largest = column("bottleneck.share");
  std::map<std::string, double> metrics;
  for (std::int64_t number = 2; std::getline(points, line); ++number) {
    if (line.empty()) continue;
    const std::vector<std::string> fields = split(line);
    if (fields.size() != header.size()) {
      throw_bad_input({name, number}, "", "found " + std::to_string(fields.size()) + " fields",
                      std::to_string(header.size()));
    }
    if (fields[variant] != "split-vector" || fields[mode] != "graph") continue;
    const auto value = [&](std::size_t at) {
      double parsed = 0;
      const std::string& text = fields[at];
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
      if (error != std::errc() || end != text.data() + text.size()) {
        throw_bad_input({name, number}, header[at], "found '" + text + "'", "a number");
      }
      return parsed;
    };
    metrics["expert_wait_share_" + fields[context]] = value(wait);
    metrics["largest_share_" + fields[context]] = value(largest);
  }
  return metrics;
}

}  // namespace shiftpoint
