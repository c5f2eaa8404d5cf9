#include <algorithm>
#include <cmath>

#include "sim/core/error.h"
#include "sim/workload/line_reader.h"
#include "sim/workload/trace_reader.h"
#include "sim/workload/workload_source.h"

namespace shiftpoint {
namespace {

std::string formats_with_columns() {
  std::string text;
  for (const TraceFormat& format : trace_formats()) {
    text += std::string(text.empty() ? "" : "; ") + format.name + " (" + format.help + ")";
  }
  return text;
}

// Looks at the first line that is not blank and goes back to where the stream was. nullptr for a
// stream without one.
const TraceFormat* detect_format(std::istream& trace, const std::string& trace_name) {
  const std::istream::pos_type start = trace.tellg();
  if (start == std::istream::pos_type(-1)) {
    throw_bad_input({trace_name, 0}, "workload.format",
                    "found 'auto', but this stream cannot go back to its first line",
                    joined_names(trace_formats()));
  }
  InputPlace place{trace_name, 0};
  std::string line;
  if (!next_line(trace, place, line)) return nullptr;
  trace.seekg(start);
  for (const TraceFormat& format : trace_formats()) {
    if (format.detect(line)) return &format;
  }
  throw_bad_input(place, "workload.format", "no known format begins with " + quoted_excerpt(line),
                  formats_with_columns());
}

const TraceFormat* choose_format(const WorkloadConfig& config, std::istream& trace,
                                 const std::string& trace_name) {
  if (config.format == "auto") return detect_format(trace, trace_name);
  const TraceFormat* format = find_trace_format(config.format);
  if (format == nullptr) {
    throw_bad_input({}, "workload.format", "found '" + config.format + "'",
                    "auto; " + formats_with_columns());
  }
  return format;
}

// Rows in file order. Counts what it leaves out; throws on the first malformed row where those are
// not to be rejected.
std::vector<Request> read_rows(const WorkloadConfig& config, TraceReader& reader,
                               std::istream& trace, InputPlace& place, TraceCounts& counts) {
  constexpr std::size_t kMessages = 10;
  const bool reject = config.bad_rows == "reject";
  std::vector<Request> requests;
  while (config.limit == 0 || counts.rows < config.limit) {
    Request row;
    try {
      if (!reader.next(trace, place, row)) break;
    } catch (const UserError& error) {
      if (!reject || trace.bad()) throw;
      ++counts.rows;
      ++counts.rejected;
      if (counts.first_rejections.size() < kMessages) {
        counts.first_rejections.emplace_back(error.what());
      }
      continue;
    }
    row.source_line = place.line;
    requests.push_back(std::move(row));
    ++counts.rows;
    ++counts.accepted;
  }
  return requests;
}

// Sorts, moves the first arrival to 0 and stretches time.
void arrange(const WorkloadConfig& config, std::vector<Request>& requests) {
  std::stable_sort(requests.begin(), requests.end(),
                   [](const Request& a, const Request& b) { return a.arrival_ns < b.arrival_ns; });
  const Nanos origin = requests.front().arrival_ns;
  for (Request& request : requests) {
    request.arrival_ns -= origin;
    if (config.time_scale == 1) continue;  // exact beyond 2^53 ns, too
    const double scaled = static_cast<double>(request.arrival_ns) * config.time_scale;
    if (!(scaled >= 0 && scaled < 9.2e18)) {  // 2^63 ns is 9.22e18
      throw_bad_input({}, "workload.time_scale", "found " + shortest_text(config.time_scale),
                      "a factor >= 0 that keeps arrivals within 292 years");
    }
    request.arrival_ns = std::llround(scaled);
  }
}

}  // namespace

Workload read_trace(const WorkloadConfig& config, std::istream& trace,
                    const std::string& trace_name) {
  if (config.bad_rows != "fail" && config.bad_rows != "reject") {
    throw_bad_input({}, "workload.bad_rows", "found '" + config.bad_rows + "'", "fail|reject");
  }
  Workload workload;
  if (const TraceFormat* format = choose_format(config, trace, trace_name)) {
    workload.format = format->name;
    workload.block_tokens = format->block_tokens;
    const std::unique_ptr<TraceReader> reader = format->make();
    InputPlace place{trace_name, 0};
    reader->read_header(trace, place);
    workload.requests = read_rows(config, *reader, trace, place, workload.counts);
  }
  if (workload.requests.empty()) {
    const TraceCounts& counts = workload.counts;
    const std::string found =
        counts.rows == 0 ? "found no data rows"
                         : "all " + std::to_string(counts.rows) +
                               " rows are malformed, the first: " + counts.first_rejections.front();
    throw_bad_input({trace_name, 0}, "workload.trace", found, "a trace with at least one request");
  }
  arrange(config, workload.requests);
  return workload;
}

}  // namespace shiftpoint
