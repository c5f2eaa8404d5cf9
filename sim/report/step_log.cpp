#include "sim/report/step_log.h"

#include <fmt/format.h>

#include <iterator>

#include "sim/report/distribution.h"

namespace shiftpoint {
namespace {

std::string header() {
  std::string text =
      "step,kind,start_ms,duration_ms,requests,tokens,emitted_tokens,context_tokens,running,"
      "waiting,"
      "free_slots";
  for (int p = 0; p < kParts; ++p) text += fmt::format(",{}_ms", part_name(static_cast<Part>(p)));
  return text + ",activated_experts,expert_imbalance,pair_imbalance,idle_ranks\n";
}

}  // namespace

Nanos StepLog::Sums::total_ns() const {
  Nanos total = 0;
  for (const Nanos ns : part_ns) total += ns;
  return total;
}

void StepLog::add(const StepResult& step) {
  Sums& sums = step.kind == StepKind::kVerify ? verify_ : prefill_;
  ++steps_;
  ++sums.steps;
  for (int p = 0; p < kParts; ++p) sums.part_ns[p] += step.time.part_ns[p];
  for (int s = 0; s < kTimingSources; ++s) {
    sums.attention_source_ns[s] += step.time.attention_source_ns[s];
  }
  if (step.time.outside_table) sums.outside_table_ns += step.time[Part::kAttention];
  sums.request_steps += step.requests;
  sums.tokens += step.tokens;
  sums.emitted_tokens += step.emitted_tokens;
  sums.context_tokens += step.context_tokens;
  sums.expected_load_steps += step.expected_loads ? 1 : 0;
  sums.activated_experts += step.activated_experts;
  sums.expert_imbalance += step.expert_imbalance;
  sums.pair_imbalance += step.pair_imbalance;
  sums.idle_ranks += step.idle_ranks;
  sums.durations_ns.push_back(step.time.total_ns());

  if (csv_.empty()) csv_ = header();
  if (rows_ == max_rows_) return;
  ++rows_;
  auto out = std::back_inserter(csv_);
  fmt::format_to(out, "{},{},{},{},{},{},{},{},{},{},{}", step.index,
                 step.kind == StepKind::kVerify ? "verify" : "prefill", ms_text(step.start_ns),
                 ms_text(step.time.total_ns()), step.requests, step.tokens, step.emitted_tokens,
                 step.context_tokens, step.running, step.waiting, step.free_slots);
  for (const Nanos ns : step.time.part_ns) fmt::format_to(out, ",{}", ms_text(ns));
  fmt::format_to(out, ",{:.4f},{:.4f},{:.4f},{:.4f}\n", step.activated_experts,
                 step.expert_imbalance, step.pair_imbalance, step.idle_ranks);
}

}  // namespace shiftpoint
