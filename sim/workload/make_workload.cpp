#include "sim/core/error.h"
#include "sim/workload/workload.h"
#include "sim/workload/workload_source.h"

namespace shiftpoint {

Workload closed_loop(const WorkloadConfig& config) {
  Workload workload;
  workload.format = "closed-loop";
  workload.concurrency = config.batch;
  Request request;
  request.input_tokens = config.context_tokens;
  request.output_tokens = config.output_tokens;
  request.prefilled = config.prefilled;
  workload.requests.assign(static_cast<std::size_t>(config.requests), request);
  return workload;
}

Workload make_workload(const WorkloadConfig& config, std::istream* trace,
                       const std::string& trace_name, std::uint64_t seed) {
  Workload workload;
  if (config.kind == "trace") {
    if (trace == nullptr) {
      throw_bad_input({}, "workload.trace", "found no trace, but workload.kind is trace",
                      "a trace file, or - for standard input");
    }
    workload = read_trace(config, *trace, trace_name);
  } else if (config.kind == "closed-loop") {
    workload = closed_loop(config);
  } else if (config.kind == "synthetic") {
    workload = synthetic(config, seed);
  } else {
    throw_bad_input({}, "workload.kind", "found '" + config.kind + "'",
                    "trace|closed-loop|synthetic");
  }
  for (std::size_t i = 0; i < workload.requests.size(); ++i) {
    workload.requests[i].id = static_cast<std::int64_t>(i);
  }
  apply_context_limit(config, trace_name, workload);
  return workload;
}

}  // namespace shiftpoint
