// Time of one step, part by part. Parts are whole nanoseconds and add up to the step exactly.
//
//   step = host + draft + sum over layers( dense + attention + collective
//                                          + max over ranks(experts) + collective ) + head
//
// with launch, the time the GPU waits for launches (eager mode: what the host needs beyond the
// GPU's own work; graph mode: one launch and a gap a node). `experts` is the mean over ranks and
// `expert_wait` the maximum minus that mean: what a perfectly balanced layer would save.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/core/expert_load.h"
#include "sim/core/hardware.h"
#include "sim/core/model.h"
#include "sim/core/option_table.h"
#include "sim/core/types.h"

namespace shiftpoint {

enum class TimingSource { kModel = 0, kProfile = 1, kLive = 2 };
inline constexpr int kTimingSources = 3;
const char* timing_source_name(TimingSource source);

struct CostConfig {
  std::string attention = "packed";
  std::int64_t nsplit = 0;
  std::string launch_mode = "graph";
  double host_us = 2000;
  std::int64_t kernels_per_layer = 14;
};

std::string attention_variant_names();  // the registry of attention_time.h

inline constexpr Option<CostConfig> kCostOptions[] = {
    {"attention", "", "verify-attention variant", &CostConfig::attention,
     one_of(attention_variant_names)},
    {"nsplit", "",
     "KV splits; 0: the variant's own (as published, or as many as fill the card once)",
     &CostConfig::nsplit, range(0, 4096)},
    {"launch_mode", "", "CUDA graph replay or one launch a kernel", &CostConfig::launch_mode,
     one_of([] { return std::string("graph|eager"); })},
    {"host_us", "us", "host work of a step that nothing hides", &CostConfig::host_us,
     range(0, 1e7)},
    {"kernels_per_layer", "", "kernels that one layer launches", &CostConfig::kernels_per_layer,
     range(1, 1000)},
};

// The parts, in the order of figures and tables. Append only.
enum class Part {
  kAttention,
  kExperts,
  kExpertWait,
  kCollective,
  kDense,
  kDraft,
  kHost,
  kLaunch,
};
inline constexpr int kParts = 8;
const char* part_name(Part part);  // "attention", "experts", "expert_wait", ...

struct StepTime {
  Nanos part_ns[kParts] = {};
  // The attention part by where its timing came from.
  Nanos attention_source_ns[kTimingSources] = {};
  bool outside_table = false;  // a lookup left the recorded table

  Nanos& operator[](Part part) { return part_ns[static_cast<int>(part)]; }
  Nanos operator[](Part part) const { return part_ns[static_cast<int>(part)]; }
  Nanos total_ns() const {
    Nanos sum = 0;
    for (const Nanos ns : part_ns) sum += ns;
    return sum;
  }
};

// Per layer and rank, for the timeline and for waiting: experts_ns[layer * ranks + rank], MoE
// layers only. Everything else is the same on every rank and layer.
struct ExpertDetail {
  std::vector<Nanos> experts_ns;
};

// One verify step: `contexts` holds each request's committed tokens, every request passes
// query_tokens nodes. One prefill chunk: new_tokens after `prefix` tokens already in the pool.
struct VerifyWork {
  std::span<const std::int64_t> context_tokens;
  std::int64_t query_tokens = 1;
  std::span<const LayerLoad> loads;  // one a MoE layer
};
struct PrefillChunk {
  std::int64_t new_tokens = 0;
  std::int64_t prefix_tokens = 0;  // of the same request, already in the pool
};
// One prefill step takes chunks of several prompts together: weights are read once for all of them.
struct PrefillWork {
  std::span<const PrefillChunk> chunks;
  std::span<const LayerLoad> loads;  // one a MoE layer, for the sum of the new tokens
};

class CostModel {
 public:
  virtual ~CostModel() = default;
  virtual StepTime verify_step(const VerifyWork& work, ExpertDetail* detail) const = 0;
  virtual StepTime prefill_step(const PrefillWork& work, ExpertDetail* detail) const = 0;
  // Bytes of weights that one rank holds.
  virtual double weight_bytes_per_rank() const = 0;
};

// `slice`: Placement::slice(). `draft_tokens`: nodes of a verify step; 1 means that nothing is
// drafted. Throws UserError when the deployment cannot work (heads not divisible by ranks, say).
std::unique_ptr<CostModel> make_cost_model(const ModelConfig& model, const HardwareConfig& hardware,
                                           const CostConfig& config, double slice,
                                           std::int64_t draft_tokens);

}  // namespace shiftpoint
