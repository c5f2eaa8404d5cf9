#include <algorithm>

#include "sim/core/error.h"
#include "sim/workload/workload_source.h"

namespace shiftpoint {
namespace {

std::int64_t context_of(const Request& request) {
  return request.input_tokens + request.output_tokens;
}

[[noreturn]] void refuse(const WorkloadConfig& config, const std::string& trace_name,
                         const Workload& workload) {
  const bool from_trace = config.kind == "trace";
  std::vector<std::int64_t> places;  // lines of a trace, ids otherwise
  for (const Request& request : workload.requests) {
    if (context_of(request) <= config.max_context_tokens) continue;
    places.push_back(from_trace ? request.source_line : request.id);
  }
  std::sort(places.begin(), places.end());  // arrival order need not be line order
  constexpr std::size_t kShown = 10;
  std::string list = std::to_string(places.front());
  for (std::size_t i = 1; i < std::min(places.size(), kShown); ++i) {
    list += ", " + std::to_string(places[i]);
  }
  if (places.size() > kShown) list += ", ...";
  const std::string limit = std::to_string(config.max_context_tokens);
  throw_bad_input({from_trace ? trace_name : "", 0}, "workload.max_context_tokens",
                  "found " + std::to_string(places.size()) + " requests above " + limit + " (" +
                      (from_trace ? "lines " : "requests ") + list + ")",
                  "input + output of at most " + limit + ", or workload.clip to shorten them");
}

void shorten(Request& request, std::int64_t limit, std::int64_t block_tokens) {
  request.output_tokens = std::min(request.output_tokens, limit - 1);
  request.input_tokens = std::min(request.input_tokens, limit - request.output_tokens);
  if (block_tokens > 0) {  // one id a block stays true: the prompt is cut at its end
    const std::int64_t blocks = (request.input_tokens + block_tokens - 1) / block_tokens;
    request.block_ids.resize(static_cast<std::size_t>(blocks));
  }
}

}  // namespace

void apply_context_limit(const WorkloadConfig& config, const std::string& trace_name,
                         Workload& workload) {
  const std::int64_t limit = config.max_context_tokens;
  if (limit == 0) return;
  if (limit < 2) {
    throw_bad_input({}, "workload.max_context_tokens", "found " + std::to_string(limit),
                    "0 (no limit), or 2 or more: one token in and one out");
  }
  for (Request& request : workload.requests) {
    const std::int64_t before = context_of(request);
    if (before <= limit) continue;
    if (!config.clip) refuse(config, trace_name, workload);
    shorten(request, limit, workload.block_tokens);
    ++workload.counts.clipped_rows;
    workload.counts.clipped_tokens += before - context_of(request);
  }
}

}  // namespace shiftpoint
