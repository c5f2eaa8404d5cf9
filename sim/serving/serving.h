// The serving loop: one loop, one clock. Requests arrive, wait, are admitted when the pool can hold
// them, are prefilled in chunks (a prefill step goes before decoding), then pass verify steps
// together until their output is complete. Short of slots, the youngest running request is
// retracted and starts again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/core/option_table.h"
#include "sim/core/types.h"
#include "sim/cost/step_time.h"
#include "sim/kvcache/kv_pool.h"
#include "sim/moe/routing.h"
#include "sim/speculation/acceptance.h"
#include "sim/workload/workload.h"

namespace shiftpoint {

struct ServingConfig {
  std::int64_t max_running = 256;
  std::int64_t chunk_tokens = 8192;
  double reserve_output_fraction = 0.7;
  double horizon_s = 0;
};

inline constexpr Option<ServingConfig> kServingOptions[] = {
    {"max_running", "", "requests that decode together", &ServingConfig::max_running,
     range(1, 1e6)},
    {"chunk_tokens", "", "prompt tokens of one prefill step", &ServingConfig::chunk_tokens,
     range(1, 1e7)},
    {"reserve_output_fraction", "", "share of the outstanding output that admission sets aside",
     &ServingConfig::reserve_output_fraction, range(0, 1)},
    {"horizon_s", "s",
     "no step starts from here on (one under way ends); 0: until every request has ended",
     &ServingConfig::horizon_s, range(0, 1e9)},
};

struct Deployment {
  ModelConfig model;
  HardwareConfig hardware;
  SpeculationConfig speculation;
  KvCacheConfig kvcache;
  MoeConfig moe;
  CostConfig cost;
  ServingConfig serving;
};

// Throws what simulate() would throw for this deployment before its first step: BadValue naming the
// key.
void check_deployment(const Deployment& deployment);

// How many tokens the pool holds, and why.
struct KvCapacity {
  std::int64_t slots = 0;
  std::string origin;                // "user" or "estimated"
  std::int64_t estimated_slots = 0;  // what memory leaves, below 1 if nothing
  double memory_bytes = 0, usable_bytes = 0, weight_bytes = 0, reserved_bytes = 0, pool_bytes = 0;
  double bytes_per_slot = 0;
};
// Throws UserError with the byte breakdown when nothing is left for the pool.
KvCapacity kv_capacity(const Deployment& deployment, double weight_bytes_per_rank);

// kNotArrived: the horizon came first; such a request was never submitted.
enum class Outcome { kFinished, kUnservable, kInFlight, kNotArrived };
const char* outcome_name(Outcome outcome);

struct RequestResult {
  std::int64_t id = 0;
  Outcome outcome = Outcome::kInFlight;
  Nanos arrival_ns = 0, admitted_ns = -1, first_token_ns = -1, end_ns = -1;  // -1: never
  std::int64_t input_tokens = 0, output_tokens = 0;                          // output: delivered
  std::int64_t verify_steps = 0, accepted_drafts = 0, retractions = 0;
  // Where its time went: queue + prefill + decode + stall = end - arrival, exactly.
  Nanos queue_ns = 0, prefill_ns = 0, decode_ns = 0, stall_ns = 0;
};

enum class StepKind { kPrefill, kVerify };

struct StepResult {
  std::int64_t index = 0;
  StepKind kind = StepKind::kVerify;
  Nanos start_ns = 0;
  StepTime time;
  std::int64_t requests = 0, tokens = 0, emitted_tokens = 0;
  std::int64_t context_tokens = 0;  // sum over the requests
  std::int64_t running = 0, waiting = 0, free_slots = 0, pool_slots = 0;
  bool expected_loads = false;  // more tokens than moe.exact_tokens_max: loads are expectations
  // Mean over MoE layers; 0 without experts.
  double activated_experts = 0, expert_imbalance = 0, pair_imbalance = 0, idle_ranks = 0;
};

// Called for every step; `detail` holds the experts' time by layer and rank.
using StepObserver = std::function<void(const StepResult&, const ExpertDetail&)>;

struct LayoutSample {
  std::int64_t step = 0;
  Nanos time_ns = 0;
  std::int64_t prompt_slots = 0, prompt_runs = 0, decode_slots = 0, decode_runs = 0;
  double adjacency = 0, span_ratio = 0;  // token-weighted over the batch
};

struct SimulationResult {
  KvCapacity capacity;
  std::vector<RequestResult> requests;
  std::vector<LayoutSample> layout;
  AllocatorStats allocator;
  Nanos end_ns = 0, idle_ns = 0;
  std::int64_t prefill_steps = 0, verify_steps = 0, retractions = 0, recomputed_tokens = 0;
  std::int64_t peak_slots = 0;
  std::int64_t routed_pairs = 0, routed_tokens = 0;  // over all MoE layers and steps
};

// Runs the workload to its end (or horizon) and checks conservation of requests, slots and
// token-expert pairs before it returns. Progress: called now and then with (ended requests,
// simulated ns); may be empty. Throws UserError for a deployment that cannot work.
SimulationResult simulate(const Deployment& deployment, const Workload& workload,
                          std::uint64_t seed, const StepObserver& on_step,
                          const std::function<void(std::int64_t, Nanos)>& progress);

}  // namespace shiftpoint
