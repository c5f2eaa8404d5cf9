// Combination of the packed kernel's partials, which lie in mma fragment order: coalesced loads,
// the transposition to rows happens once, here. A block takes one row tile (8 rows) and two m-tiles
// (32 value dimensions); its eight warps share the splits. At batch 1 and 72 rows that is 160
// blocks. Bytes: 1 or 2 KB a row and split, from L2. Expected bound: latency (launch, lengths, sums
// and values side by side, two barriers). Launched as a programmatic dependent: its launch and its
// reading of the lengths, which the split kernel does not write, overlap that kernel's end.
#include <type_traits>

#include "kernels/verify_attention/packed_shape.cuh"
#include "kernels/verify_attention/ptx.cuh"
#include "kernels/verify_attention/variant.h"

namespace shiftpoint::packed {
namespace {

constexpr int kFragments = 2;  // m-tiles of a block
constexpr int kInFlight = 4;   // splits that a warp loads before it needs a weight
constexpr int kLanePitch = 5;  // floats; keeps the transposed reads free of bank conflicts
constexpr int kFragmentPitch = 32 * kLanePitch + 1;
constexpr int kSumsOfLane = kMaxSplits / 32;

struct CombineMemory {
  float2 weight[kMaxSplits][4];  // two rows each
  float inverse[8];
  float sums[kWarps][kFragments * kFragmentPitch];
};

// Raw words of a fragment: converted where they are used, so that many loads are in flight.
template <bool kNarrow>
struct Fragment {
  using Raw = std::conditional_t<kNarrow, uint2, float4>;
  __device__ __forceinline__ static Raw load(const VerifyAttentionParams& p, std::int64_t at) {
    return __ldcg(static_cast<const Raw*>(p.workspace) + at);
  }
  __device__ __forceinline__ static float4 value(const Raw& raw) {
    if constexpr (kNarrow) {
      const float2 low = ptx::unpack_bf16(raw.x);
      const float2 high = ptx::unpack_bf16(raw.y);
      return make_float4(low.x, low.y, high.x, high.y);
    } else {
      return raw;
    }
  }
};

// Warp w: weights of row w of the tile over all splits, and the row's LSE unless lse is null.
__device__ __forceinline__ void row_weights(CombineMemory& memory, const float2* sums, int used,
                                            float* lse) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) & 31;
  float2 part[kSumsOfLane];
#pragma unroll
  for (int i = 0; i < kSumsOfLane; ++i) {
    const int split = lane + 32 * i;
    part[i] = split < used ? __ldcg(sums + split * kRows) : make_float2(0, 0);
  }
  float largest = -INFINITY;
#pragma unroll
  for (int i = 0; i < kSumsOfLane; ++i) {
    // NaN is kept: only an exact zero says that the row saw nothing in this split.
    largest = part[i].y != 0 ? fmaxf(largest, part[i].x) : largest;
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, step));
  }
  float total = 0;
#pragma unroll
  for (int i = 0; i < kSumsOfLane; ++i) {
    const int split = lane + 32 * i;
    const float weight = part[i].y != 0 ? ptx::exp2_approx(part[i].x - largest) : 0.0F;
    total += weight * part[i].y;
    if (split < used) {
      reinterpret_cast<float*>(memory.weight[split])[warp] = weight;
    }
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    total += __shfl_xor_sync(0xffffffffU, total, step);
  }
  if (lane == 0) {
    memory.inverse[warp] = total == 0 ? 0.0F : 1 / total;
    if (lse != nullptr) {
      *lse = total == 0 ? -INFINITY : (largest + log2f(total)) * kLn2;
    }
  }
}

template <bool kNarrow>
__global__ void __launch_bounds__(kThreads)
    combine_kernel(const __grid_constant__ VerifyAttentionParams p) {
  using F = Fragment<kNarrow>;
  __shared__ CombineMemory memory;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const int row_tile = static_cast<int>(blockIdx.x) % kRowTiles;
  const int first_m = static_cast<int>(blockIdx.x) / kRowTiles * kFragments;
  const int group = static_cast<int>(blockIdx.y);
  const int request = static_cast<int>(blockIdx.z);
  const int used = plan_of(p, view_request(p, request)).used;
  ptx::wait_for_producer_grid();
  const std::int64_t first_part =
      (static_cast<std::int64_t>(request) * gridDim.y + group) * p.nsplit;

  const auto position = [&](int split, int f) {
    return ((first_part + split) * Workspace::kFragments + (first_m + f) * kRowTiles + row_tile) *
               32 +
           lane;
  };
  typename F::Raw ahead[kInFlight][kFragments];
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
#pragma unroll
    for (int f = 0; f < kFragments; ++f) {
      const int split = warp + i * kWarps;
      if (split < used) {
        ahead[i][f] = F::load(p, position(split, f));
      }
    }
  }
  const int row = group * kRows + row_tile * 8 + warp;  // whose weights and outputs this warp has
  const bool live = row < p.q_tokens * p.heads;
  float* lse = live && first_m == 0 && p.lse != nullptr
                   ? p.lse + static_cast<std::int64_t>(request) * p.q_tokens * p.heads + row
                   : nullptr;
  row_weights(memory, Workspace::sums(p) + first_part * kRows + row_tile * 8 + warp, used, lse);
  __syncthreads();

  float4 sum[kFragments] = {};
  const auto add = [&](float4& target, const float4& v, float2 w) {
    target.x += w.x * v.x;
    target.y += w.y * v.y;
    target.z += w.x * v.z;
    target.w += w.y * v.w;
  };
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    const int split = warp + i * kWarps;
    if (split < used) {
      const float2 w = memory.weight[split][lane % 4];
#pragma unroll
      for (int f = 0; f < kFragments; ++f) {
        add(sum[f], F::value(ahead[i][f]), w);
      }
    }
  }
#pragma unroll 4
  for (int split = warp + kInFlight * kWarps; split < used; split += kWarps) {
    const float2 w = memory.weight[split][lane % 4];
#pragma unroll
    for (int f = 0; f < kFragments; ++f) {
      add(sum[f], F::value(F::load(p, position(split, f))), w);
    }
  }
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
    float* target = memory.sums[warp] + f * kFragmentPitch + lane * kLanePitch;
    target[0] = sum[f].x;
    target[1] = sum[f].y;
    target[2] = sum[f].z;
    target[3] = sum[f].w;
  }
  __syncthreads();
  // Thread: row `warp` of the tile, value dimension `lane` of 32. Fragment word of (dim, row):
  // lane (dim % 8) * 4 + row / 2, word dim / 8 % 2 * 2 + row % 2.
  const int word = lane / 16 * kFragmentPitch + (lane % 8 * 4 + warp / 2) * kLanePitch +
                   lane / 8 % 2 * 2 + warp % 2;
  float total = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    total += memory.sums[w][word];
  }
  if (live) {
    const int q_token = row / p.heads;
    output_row(p, request, q_token, row - q_token * p.heads)[first_m * 16 + lane] =
        __float2bfloat16_rn(total * memory.inverse[warp]);
  }
}

}  // namespace

void prepare_combine() {
  cudaFuncAttributes attributes;
  SHIFTPOINT_CUDA_CHECK(cudaFuncGetAttributes(&attributes, combine_kernel<false>));
  SHIFTPOINT_CUDA_CHECK(cudaFuncGetAttributes(&attributes, combine_kernel<true>));
}

void launch_combine(const VerifyAttentionParams& p, bool narrow) {
  cudaLaunchConfig_t config = {};
  config.gridDim =
      dim3(static_cast<unsigned>(kRowTiles * kWarps * kDimTiles / kFragments),
           static_cast<unsigned>(Workspace::groups(p)), static_cast<unsigned>(p.batch));
  config.blockDim = dim3(kThreads);
  config.stream = static_cast<cudaStream_t>(p.stream);
  cudaLaunchAttribute dependent = {};
  dependent.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  dependent.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &dependent;
  config.numAttrs = 1;
  SHIFTPOINT_CUDA_CHECK(
      cudaLaunchKernelEx(&config, narrow ? combine_kernel<true> : combine_kernel<false>, p));
}

}  // namespace shiftpoint::packed
