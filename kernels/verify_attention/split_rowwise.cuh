// The articles' kernel, in the two forms that differ only in how a lane reads a row: one block per
// (request, query token, head, split), eight warps, one token a warp step. Every block reads the
// split's whole KV for one row of output, so the cache is read query tokens x heads = 72 times
// from L2; the online softmax, five shuffles and 34 fused multiply-adds a lane and token are the
// rest. The row stays in registers between score and value.
#pragma once

#include "kernels/verify_attention/combine.cuh"
#include "kernels/verify_attention/ptx.cuh"
#include "kernels/verify_attention/variant.h"

namespace shiftpoint::rowwise {

constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;
constexpr int kUnitTokens = 8;  // one token a warp
constexpr int kMinUnits = 4;
constexpr int kLaneValues = kLatentDims / 32;  // value dimensions of a lane
constexpr int kLaneDims = kRowDims / 32;

struct State {
  float max = -INFINITY;
  float sum = 0;
  float values[kLaneValues] = {};
};

__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    x += __shfl_xor_sync(0xffffffffU, x, offset);
  }
  return x;
}

template <class Reader>
__device__ __forceinline__ void add_token(State& state, const float (&query)[kLaneDims],
                                          const __nv_bfloat16* row, float scale_log2) {
  float k[kLaneDims];
  Reader::read(k, row);
  float dot = 0;
#pragma unroll
  for (int i = 0; i < kLaneDims; ++i) {
    dot += k[i] * query[i];
  }
  const float score = warp_sum(dot) * scale_log2;
  const float new_max = fmaxf(state.max, score);
  const float keep = exp2f(state.max - new_max);
  const float weight = exp2f(score - new_max);
  state.max = new_max;
  state.sum = state.sum * keep + weight;
#pragma unroll
  for (int i = 0; i < kLaneValues; ++i) {
    state.values[i] = state.values[i] * keep + weight * k[i];
  }
}

// Eight warps' states into one partial row.
template <class Reader>
__device__ void merge_and_store(const State& state, float* values, float2* sums) {
  __shared__ float shared_values[kWarps][kLatentDims];
  __shared__ float2 shared_sums[kWarps];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) & 31;
#pragma unroll
  for (int i = 0; i < kLaneValues; ++i) {
    shared_values[warp][Reader::dim(lane, i)] = state.values[i];
  }
  if (lane == 0) {
    shared_sums[warp] = make_float2(state.max, state.sum);
  }
  __syncthreads();
  float largest = -INFINITY;
  for (int w = 0; w < kWarps; ++w) {
    largest = fmaxf(largest, shared_sums[w].x);
  }
  // All -inf: the row saw nothing here; any finite reference gives weights 0 and sum 0.
  const float reference = largest == -INFINITY ? 0.0F : largest;
  float total = 0;
  float2 out = make_float2(0, 0);
  for (int w = 0; w < kWarps; ++w) {
    const float weight = exp2f(shared_sums[w].x - reference);
    total += weight * shared_sums[w].y;
    out.x += weight * shared_values[w][2 * threadIdx.x];
    out.y += weight * shared_values[w][2 * threadIdx.x + 1];
  }
  reinterpret_cast<float2*>(values)[threadIdx.x] = out;
  if (threadIdx.x == 0) {
    *sums = make_float2(reference, total);
  }
}

template <class Reader>
__global__ void __launch_bounds__(kThreads)
    split_kernel(const __grid_constant__ VerifyAttentionParams p) {
  const int split = static_cast<int>(blockIdx.x);
  const int q_token = static_cast<int>(blockIdx.y) / p.heads;
  const int head = static_cast<int>(blockIdx.y) % p.heads;
  const int request = static_cast<int>(blockIdx.z);
  const RequestView view = view_request(p, request);
  const SplitPlan plan = plan_splits(view.tokens, kUnitTokens, kMinUnits, p.nsplit);
  if (split >= plan.used) {
    return;
  }
  float query[kLaneDims];
  Reader::read(query, query_row(p, request, q_token, head));
  State state;
  const std::int64_t end = plan.first_token(split + 1);
  const float scale_log2 = p.softmax_scale * kLog2E;
  for (std::int64_t token = plan.first_token(split) + threadIdx.x / 32; token < end;
       token += kWarps) {
    if (is_visible(p, view, request, q_token, token)) {
      add_token<Reader>(state, query, row_of_slot(p, load_slot(p, view, token)), scale_log2);
    }
  }
  const RowPartials partials = RowPartials::of(p);
  const std::int64_t part =
      ((static_cast<std::int64_t>(request) * p.q_tokens + q_token) * p.heads + head) * p.nsplit +
      split;
  merge_and_store<Reader>(state, partials.values + part * kLatentDims, partials.sums + part);
}

inline std::string unsupported(const VerifyAttentionParams& p, const DeviceLimits&) {
  return p.nsplit > 1024 ? "nsplit above 1024" : "";
}

inline std::size_t workspace(const VerifyAttentionParams& p) {
  return RowPartials::bytes(p);
}

// 16, or more when that leaves the card half empty at 8 resident blocks a multiprocessor.
inline int suggested_nsplit(const VerifyAttentionParams& p, const DeviceLimits& device) {
  const std::int64_t rows = RowPartials::rows(p);
  std::int64_t nsplit = 16;
  while (nsplit < 64 && rows * nsplit < 4 * device.sm_count) {
    nsplit *= 2;
  }
  const std::int64_t most = p.max_context_tokens / (kUnitTokens * kMinUnits) + 1;
  return static_cast<int>(nsplit < most ? nsplit : most);
}

template <class Reader>
void prepare() {
  cudaFuncAttributes attributes;
  SHIFTPOINT_CUDA_CHECK(cudaFuncGetAttributes(&attributes, split_kernel<Reader>));
  prepare_row_combine();
}

template <class Reader>
void launch(const VerifyAttentionParams& p) {
  const dim3 grid(static_cast<unsigned>(p.nsplit), static_cast<unsigned>(p.q_tokens * p.heads),
                  static_cast<unsigned>(p.batch));
  split_kernel<Reader><<<grid, kThreads, 0, static_cast<cudaStream_t>(p.stream)>>>(p);
  SHIFTPOINT_CUDA_CHECK(cudaGetLastError());
  launch_row_combine(p, kUnitTokens, kMinUnits);
}

}  // namespace shiftpoint::rowwise
