// The timing workload: one pool of standard normal rows far larger than L2, divided into disjoint
// sets of KV rows, so that a graph of calls on successive sets finds every row cold.
#pragma once

#include <string>
#include <vector>

#include "kernels/bench/device_buffer.h"
#include "kernels/bench/timing.h"
#include "kernels/verify_attention.h"

namespace shiftpoint {

struct BenchPoint {
  std::string variant;
  std::vector<std::int64_t> contexts;  // one a request
  int q_tokens = 9;
  int heads = 8;
  int nsplit = 0;  // 0: suggested for the longest context
  std::string layout = "random";
};

struct BenchRow {
  BenchPoint point;
  int nsplit = 0;
  TimeSummary time;  // of one call, combine included
  double kv_bytes = 0, flops = 0;
  int sets = 0;
  int sm_clock_mhz = 0, memory_clock_mhz = 0;
  unsigned long long throttle_reasons = 0;
};

// The pool and its slot orders by name: "contiguous", "random", and permutations that a caller
// adds.
class BenchPool {
 public:
  explicit BenchPool(std::int64_t slots);
  void add_layout(const std::string& name, const std::vector<std::int64_t>& order);

  std::int64_t slots() const { return slots_; }
  const void* pool() const { return pool_.data(); }
  const std::int64_t* order(const std::string& name) const;

 private:
  std::int64_t slots_;
  DeviceBuffer pool_;
  std::vector<std::pair<std::string, DeviceBuffer>> orders_;
};

BenchRow time_point(const BenchPool& pool, const BenchPoint& point, double budget_ms);

}  // namespace shiftpoint
