// What a run's steps add up to, collected while it runs: sums by part, the rows of steps.csv, and
// the durations that quantiles need.
#pragma once

#include <string>
#include <vector>

#include "sim/serving/serving.h"

namespace shiftpoint {

class StepLog {
 public:
  // Keeps at most `max_rows` rows of steps.csv; later steps are counted in the sums only.
  explicit StepLog(std::int64_t max_rows) : max_rows_(max_rows) {}

  void add(const StepResult& step);

  // steps.csv, header included.
  const std::string& csv() const { return csv_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t rows_left_out() const { return steps_ - rows_; }

  // Sums over the steps of one kind.
  struct Sums {
    std::int64_t steps = 0;
    Nanos part_ns[kParts] = {};
    Nanos attention_source_ns[kTimingSources] = {};
    Nanos outside_table_ns = 0;
    std::int64_t request_steps = 0;  // requests, summed over steps
    std::int64_t tokens = 0;
    std::int64_t emitted_tokens = 0;
    std::int64_t context_tokens = 0;
    std::int64_t expected_load_steps = 0;
    double activated_experts = 0, expert_imbalance = 0, pair_imbalance = 0, idle_ranks = 0;
    std::vector<Nanos> durations_ns;

    Nanos total_ns() const;
  };
  const Sums& verify() const { return verify_; }
  const Sums& prefill() const { return prefill_; }

 private:
  std::int64_t max_rows_;
  std::int64_t rows_ = 0;
  std::int64_t steps_ = 0;
  std::string csv_;
  Sums verify_, prefill_;
};

}  // namespace shiftpoint
