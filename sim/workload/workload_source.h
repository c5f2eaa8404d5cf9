// The three origins of requests behind make_workload(), and the length limit that all share.
#pragma once

#include <cstdint>
#include <istream>
#include <string>

#include "sim/workload/workload.h"

namespace shiftpoint {

// Requests sorted by arrival (stably), first arrival at 0, time scaled, ids not yet given, limit on
// context not yet applied.
Workload read_trace(const WorkloadConfig& config, std::istream& trace,
                    const std::string& trace_name);

// Every request arrives at 0; the server holds `batch` of them at a time.
Workload closed_loop(const WorkloadConfig& config);

// Open loop: gaps between arrivals are Gamma distributed with mean 1 / rate_per_s and the given
// coefficient of variation (0: regular, 1: exponential); lengths are log-normal with the given mean
// and sigma, independent of each other and of the gaps, rounded to whole tokens and at least 1
// (which lifts the mean where much of the distribution lies below half a token). The draws of
// request i depend on (seed, i) only.
Workload synthetic(const WorkloadConfig& config, std::uint64_t seed);

// max_context_tokens: throws UserError naming every request above it (the first ten by number), or
// with config.clip shortens them and counts what was cut. Rule: the output is kept and the input
// shortened at its end, down to one token; what is still too much is taken from the output. So
// tokens left + clipped_tokens = tokens before, and each request has both lengths >= 1.
void apply_context_limit(const WorkloadConfig& config, const std::string& trace_name,
                         Workload& workload);

}  // namespace shiftpoint
