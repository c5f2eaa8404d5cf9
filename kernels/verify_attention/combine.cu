// Combination of plain row-order partials: one block a row, one thread four value dimensions.
// Bytes: nsplit x 2 KB a row, read once; bound by latency at batch 1 (72 blocks).
#include "kernels/verify_attention/combine.cuh"
#include "kernels/verify_attention/ptx.cuh"
#include "kernels/verify_attention/variant.h"

namespace shiftpoint {
namespace {

constexpr int kThreads = kLatentDims / 4;
constexpr int kMaxSplits = 1024;

struct Weights {
  float max;
  float total;
};

// Largest reference and total weight over the splits, computed by every warp alike.
__device__ Weights split_weights(const float2* sums, int used, float* weight) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  float largest = -INFINITY;
  for (int s = lane; s < used; s += 32) {
    const float2 part = sums[s];
    largest = part.y > 0 ? fmaxf(largest, part.x) : largest;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, offset));
  }
  float total = 0;
  for (int s = lane; s < used; s += 32) {
    const float2 part = sums[s];
    // A split in which the row saw nothing has sum 0 and an arbitrary reference.
    const float w = part.y > 0 ? exp2f(part.x - largest) : 0.0F;
    total += w * part.y;
    if (threadIdx.x < 32) {
      weight[s] = w;
    }
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    total += __shfl_xor_sync(0xffffffffU, total, offset);
  }
  __syncthreads();
  return {largest, total};
}

__global__ void __launch_bounds__(kThreads)
    row_combine_kernel(const __grid_constant__ VerifyAttentionParams p, int unit_tokens,
                       int min_units) {
  __shared__ float weight[kMaxSplits];
  const auto row = static_cast<std::int64_t>(blockIdx.x);
  const int head = static_cast<int>(row % p.heads);
  const int q_token = static_cast<int>(row / p.heads % p.q_tokens);
  const int request = static_cast<int>(row / p.heads / p.q_tokens);
  const SplitPlan plan =
      plan_splits(view_request(p, request).tokens, unit_tokens, min_units, p.nsplit);
  const RowPartials partials = RowPartials::of(p);
  const Weights weights = split_weights(partials.sums + row * p.nsplit, plan.used, weight);
  float4 sum = make_float4(0, 0, 0, 0);
  const float4* values =
      reinterpret_cast<const float4*>(partials.values + row * p.nsplit * kLatentDims) + threadIdx.x;
#pragma unroll 8
  for (int s = 0; s < plan.used; ++s) {
    const float w = weight[s];
    const float4 v = values[static_cast<std::int64_t>(s) * kThreads];
    if (w > 0) {
      sum.x += w * v.x;
      sum.y += w * v.y;
      sum.z += w * v.z;
      sum.w += w * v.w;
    }
  }
  // NaN sums must stay NaN; only a true zero means that nothing was visible.
  const float scale = weights.total == 0 ? 0.0F : 1 / weights.total;
  uint2 packed;
  packed.x = ptx::pack_bf16(sum.x * scale, sum.y * scale);
  packed.y = ptx::pack_bf16(sum.z * scale, sum.w * scale);
  reinterpret_cast<uint2*>(output_row(p, request, q_token, head))[threadIdx.x] = packed;
  if (threadIdx.x == 0 && p.lse != nullptr) {
    p.lse[row] = weights.total == 0 ? -INFINITY : (weights.max + log2f(weights.total)) * kLn2;
  }
}

}  // namespace

void launch_row_combine(const VerifyAttentionParams& params, int unit_tokens, int min_units) {
  const auto grid = static_cast<unsigned>(RowPartials::rows(params));
  row_combine_kernel<<<grid, kThreads, 0, static_cast<cudaStream_t>(params.stream)>>>(
      params, unit_tokens, min_units);
  SHIFTPOINT_CUDA_CHECK(cudaGetLastError());
}

void prepare_row_combine() {
  cudaFuncAttributes attributes;
  SHIFTPOINT_CUDA_CHECK(cudaFuncGetAttributes(&attributes, row_combine_kernel));
}

}  // namespace shiftpoint
