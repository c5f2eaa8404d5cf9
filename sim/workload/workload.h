// What arrives at the server: requests with arrival time and lengths, from a recorded trace, a
// fixed closed loop, or synthetic open-loop arrivals. Readers take a stream, never a path, and
// store integer nanoseconds whatever the format's unit is. Contract: requests are in arrival order
// (file order where times are equal), ids are 0..n-1 in that order, the first arrival is at time 0.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "sim/core/option_table.h"
#include "sim/core/types.h"

namespace shiftpoint {

struct Request {
  std::int64_t id = 0;
  Nanos arrival_ns = 0;
  std::int64_t input_tokens = 0;   // >= 1
  std::int64_t output_tokens = 0;  // >= 1, the first of which the prefill emits
  bool prefilled = false;          // its context is there at admission and costs no prefill time
  std::int64_t source_line = 0;    // 1-based line of the trace; 0: synthetic
  std::vector<std::int64_t> block_ids;  // prefix block hashes of the trace, empty if it has none
};

// What became of the rows of a trace. rows = accepted + rejected. Clipping is counted for closed
// loops and synthetic requests, too: tokens of all requests + clipped_tokens = tokens asked for.
struct TraceCounts {
  std::int64_t rows = 0;  // data rows, header and blank lines excluded
  std::int64_t accepted = 0;
  std::int64_t rejected = 0;
  // Accepted, but shortened to max_context_tokens: the input is cut at its end (block ids with it)
  // down to one token before the output is touched.
  std::int64_t clipped_rows = 0;
  std::int64_t clipped_tokens = 0;
  std::vector<std::string> first_rejections;  // messages of the first ten
};

struct Workload {
  std::string format;             // registry name of the trace format, "closed-loop" or "synthetic"
  std::int64_t block_tokens = 0;  // tokens of one prefix block; 0: the format has none
  std::int64_t concurrency = 0;   // closed loop: at most so many in the server; 0: open loop
  std::vector<Request> requests;
  TraceCounts counts;
};

struct WorkloadConfig {
  std::string kind = "closed-loop";
  std::string trace;  // path, "-" for standard input
  std::string format = "auto";
  std::int64_t limit = 0;
  double time_scale = 1;
  std::int64_t max_context_tokens = 0;
  bool clip = false;
  std::string bad_rows = "fail";
  std::int64_t requests = 1;
  std::int64_t batch = 1;
  std::int64_t context_tokens = 4096;
  std::int64_t output_tokens = 256;
  bool prefilled = true;
  double rate_per_s = 1;
  double arrival_cv = 1;
  double input_mean_tokens = 1024;
  double input_sigma = 0.8;
  double output_mean_tokens = 256;
  double output_sigma = 0.6;
};

std::string trace_format_names();  // "auto" and the registry of trace_reader.h

inline constexpr Option<WorkloadConfig> kWorkloadOptions[] = {
    {"kind", "", "where requests come from", &WorkloadConfig::kind,
     one_of([] { return std::string("trace|closed-loop|synthetic"); })},
    {"trace", "", "trace file (.gz allowed), - for standard input", &WorkloadConfig::trace},
    {"format", "", "format of the trace", &WorkloadConfig::format, one_of(trace_format_names)},
    {"limit", "", "read only the first rows of the trace; 0: all", &WorkloadConfig::limit,
     at_least(0)},
    {"time_scale", "", "arrival times are multiplied by this", &WorkloadConfig::time_scale,
     range(0, 1e6)},
    {"max_context_tokens", "", "longest input + output of a request; 0: no limit",
     &WorkloadConfig::max_context_tokens, at_least(0)},
    {"clip", "", "shorten requests above max_context_tokens instead of refusing them",
     &WorkloadConfig::clip},
    {"bad_rows", "", "a malformed row stops the run, or is counted and left out",
     &WorkloadConfig::bad_rows, one_of([] { return std::string("fail|reject"); })},
    {"requests", "", "closed-loop and synthetic: requests in all", &WorkloadConfig::requests,
     range(1, 1e8)},
    {"batch", "", "closed-loop: requests in the server at a time", &WorkloadConfig::batch,
     range(1, 1e6)},
    {"context_tokens", "", "closed-loop: input of every request", &WorkloadConfig::context_tokens,
     range(1, 1e8)},
    {"output_tokens", "", "closed-loop: output of every request", &WorkloadConfig::output_tokens,
     range(1, 1e8)},
    {"prefilled", "", "closed-loop: the context is there and costs no prefill",
     &WorkloadConfig::prefilled},
    {"rate_per_s", "1/s", "synthetic: mean arrival rate", &WorkloadConfig::rate_per_s,
     range(1e-9, 1e9)},
    {"arrival_cv", "", "synthetic: coefficient of variation of the gaps (0: regular, 1: Poisson)",
     &WorkloadConfig::arrival_cv, range(0, 20)},
    {"input_mean_tokens", "", "synthetic: mean input length", &WorkloadConfig::input_mean_tokens,
     range(1, 1e8)},
    {"input_sigma", "", "synthetic: sigma of the log-normal input length",
     &WorkloadConfig::input_sigma, range(0, 5)},
    {"output_mean_tokens", "", "synthetic: mean output length", &WorkloadConfig::output_mean_tokens,
     range(1, 1e8)},
    {"output_sigma", "", "synthetic: sigma of the log-normal output length",
     &WorkloadConfig::output_sigma, range(0, 5)},
};

// Builds the requests of `config`. `trace` is read when kind is "trace" (may be null otherwise);
// `trace_name` is what messages call it. Draws come from streams kArrivals and kLengths of `seed`.
// Throws UserError with file, line, field, finding and what is accepted.
Workload make_workload(const WorkloadConfig& config, std::istream* trace,
                       const std::string& trace_name, std::uint64_t seed);

}  // namespace shiftpoint
