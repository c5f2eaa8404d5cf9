// Partial results in plain row order and their combination, shared by the variants that split the
// KV but keep one row a warp or block.
//
// Workspace: f32 values [batch, q_tokens, heads, nsplit, 512] not divided by their sum, then
// float2 (reference maximum in log2 units, sum) [batch, q_tokens, heads, nsplit]. Only splits below
// SplitPlan::used are written and read.
#pragma once

#include "kernels/verify_attention/device_inputs.cuh"

namespace shiftpoint {

struct RowPartials {
  float* values;
  float2* sums;

  SHIFTPOINT_HOST_DEVICE static std::int64_t rows(const VerifyAttentionParams& p) {
    return static_cast<std::int64_t>(p.batch) * p.q_tokens * p.heads;
  }
  SHIFTPOINT_HOST_DEVICE static std::size_t bytes(const VerifyAttentionParams& p) {
    return static_cast<std::size_t>(rows(p) * p.nsplit) *
           (kLatentDims * sizeof(float) + sizeof(float2));
  }
  SHIFTPOINT_HOST_DEVICE static RowPartials of(const VerifyAttentionParams& p) {
    auto* base = static_cast<float*>(p.workspace);
    return {base, reinterpret_cast<float2*>(base + rows(p) * p.nsplit * kLatentDims)};
  }
};

// Enqueues the combination; `unit_tokens` and `min_units` as the split kernel used them.
void launch_row_combine(const VerifyAttentionParams& params, int unit_tokens, int min_units);
void prepare_row_combine();

}  // namespace shiftpoint
