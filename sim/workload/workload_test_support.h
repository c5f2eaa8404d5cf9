// Shorthand of this folder's tests.
#pragma once

#include <sstream>
#include <string>

#include "sim/core/error.h"
#include "sim/test_support/catch.h"
#include "sim/workload/workload.h"

namespace shiftpoint::test {

inline Workload load(const std::string& text, const WorkloadConfig& config) {
  std::istringstream in(text);
  return make_workload(config, &in, "t.trace", 1);
}

inline WorkloadConfig trace_config(const std::string& format = "auto") {
  WorkloadConfig config;
  config.kind = "trace";
  config.format = format;
  return config;
}

// Message of the UserError that loading throws; "" if it throws none.
inline std::string load_error(const std::string& text, const WorkloadConfig& config) {
  try {
    load(text, config);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

inline std::int64_t total_input(const Workload& workload) {
  std::int64_t sum = 0;
  for (const Request& request : workload.requests) sum += request.input_tokens;
  return sum;
}

inline std::int64_t total_output(const Workload& workload) {
  std::int64_t sum = 0;
  for (const Request& request : workload.requests) sum += request.output_tokens;
  return sum;
}

}  // namespace shiftpoint::test
