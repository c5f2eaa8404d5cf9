// extend-serial: emulation of the Triton prefill kernel that SGLang runs for target-verify (facts
// and measurements: the reference notes quoted in README.md). One block per (request, head) walks
// the whole prefix alone; 32-row tile for the few live query tokens; plain loads, one buffer, a
// barrier between every step; K is loaded, then V again from global memory. No split, no combine.
// Bytes from L2: 2,176 a token and head. Issued tensor operations: 32 rows instead of q_tokens.
// Expected bound: latency of one block's dependent loads, linear in the context. Measured:
// README.md beside this file.
#include "kernels/verify_attention/baseline_tile.cuh"
#include "kernels/verify_attention/variant.h"

namespace shiftpoint {
namespace {

using namespace baseline;

constexpr int kRows = 32;
constexpr int kThreads = 256;
constexpr int kNTiles = kLatentDims / 8 / (kThreads / 32);
using Memory = TileMemory<kRows>;
static_assert(kThreads == kRows * kThreadsPerRow);
static_assert(sizeof(Memory) <= 101376, "sm_120 gives a block 101,376 bytes");

template <int kChunksOfRow>
__device__ __forceinline__ void load_rows(Memory& memory, const VerifyAttentionParams& p) {
  constexpr int kPerThread = kTileTokens * kChunksOfRow / kThreads;
  uint4 chunk[kPerThread];
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const int c = static_cast<int>(threadIdx.x) + kThreads * i;
    const auto* row =
        reinterpret_cast<const uint4*>(row_of_slot(p, memory.slots[c / kChunksOfRow]));
    chunk[i] = __ldg(row + c % kChunksOfRow);
  }
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const int c = static_cast<int>(threadIdx.x) + kThreads * i;
    *reinterpret_cast<uint4*>(memory.kv + c / kChunksOfRow * kPitchBytes + c % kChunksOfRow * 16) =
        chunk[i];
  }
}

__device__ __forceinline__ void load_query(Memory& memory, const VerifyAttentionParams& p,
                                           int request, int head) {
  for (int c = static_cast<int>(threadIdx.x); c < kRows * kChunks; c += kThreads) {
    const int row = c / kChunks;
    uint4 chunk = make_uint4(0, 0, 0, 0);
    if (row < p.q_tokens) {
      chunk = __ldg(reinterpret_cast<const uint4*>(query_row(p, request, row, head)) + c % kChunks);
    }
    *reinterpret_cast<uint4*>(memory.query + row * kPitchBytes + c % kChunks * 16) = chunk;
  }
}

__device__ __forceinline__ void store_output(const VerifyAttentionParams& p, const Memory& memory,
                                             const float (&values)[2][kNTiles][4],
                                             const RowState& state, int request, int head) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const int first_dim = static_cast<int>(threadIdx.x) / 32 * 64;
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    const int row = part * 8 + lane / 4;
    if (row >= p.q_tokens) {
      continue;
    }
    const float sum = memory.sums[row];
    const float scale = sum == 0 ? 0.0F : 1 / sum;
    auto* out =
        reinterpret_cast<std::uint32_t*>(output_row(p, request, row, head) + first_dim) + lane % 4;
#pragma unroll
    for (int n = 0; n < kNTiles; ++n) {
      const float* pair = values[part / 2][n] + part % 2 * 2;
      out[n * 4] = ptx::pack_bf16(pair[0] * scale, pair[1] * scale);
    }
  }
  const int own = static_cast<int>(threadIdx.x) / kThreadsPerRow;
  if (threadIdx.x % kThreadsPerRow == 0 && own < p.q_tokens && p.lse != nullptr) {
    p.lse[(static_cast<std::int64_t>(request) * p.q_tokens + own) * p.heads + head] =
        state.sum == 0 ? -INFINITY : (state.max + log2f(state.sum)) * kLn2;
  }
}

__global__ void __launch_bounds__(kThreads)
    extend_kernel(const __grid_constant__ VerifyAttentionParams p) {
  extern __shared__ __align__(16) unsigned char raw[];
  Memory& memory = *reinterpret_cast<Memory*>(raw);
  const int request = static_cast<int>(blockIdx.x);
  const int head = static_cast<int>(blockIdx.y);
  const RequestView view = view_request(p, request);
  load_query(memory, p, request, head);
  RowState state;
  float values[2][kNTiles][4] = {};
  const auto tile = [&](std::int64_t first, std::int64_t end) {
    load_slots(memory, p, view, first, end);
    __syncthreads();
    load_rows<kChunks>(memory, p);
    __syncthreads();
    compute_scores(memory, p.softmax_scale * kLog2E);
    __syncthreads();
    load_rows<kLatentDims / 8>(memory, p);  // V again from global memory, as the original does
    softmax_step(memory, state, [&](int row, int i) {
      return row < p.q_tokens && first + i < end && is_visible(p, view, request, row, first + i);
    });
    __syncthreads();
    add_values(memory, values, static_cast<int>(threadIdx.x) / 32 * 64);
    __syncthreads();
  };
  const std::int64_t prefix = view.tokens == 0 ? 0 : view.prefix;
  for (std::int64_t first = 0; first < prefix; first += kTileTokens) {
    tile(first, first + kTileTokens < prefix ? first + kTileTokens : prefix);
  }
  for (std::int64_t first = prefix; first < view.tokens; first += kTileTokens) {
    tile(first, view.tokens);
  }
  if (threadIdx.x % kThreadsPerRow == 0) {
    memory.sums[threadIdx.x / kThreadsPerRow] = state.sum;
  }
  __syncthreads();
  store_output(p, memory, values, state, request, head);
}

std::string unsupported(const VerifyAttentionParams& p, const DeviceLimits& device) {
  if (p.q_tokens > kRows) {
    return "more than 32 query tokens";
  }
  return device.shared_bytes_per_block < sizeof(Memory) ? "too little shared memory" : "";
}

std::size_t workspace(const VerifyAttentionParams&) {
  return 0;
}

int suggest(const VerifyAttentionParams&, const DeviceLimits&) {
  return 1;
}

void prepare_kernels() {
  SHIFTPOINT_CUDA_CHECK(cudaFuncSetAttribute(extend_kernel,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             static_cast<int>(sizeof(Memory))));
}

void launch_kernel(const VerifyAttentionParams& p) {
  const dim3 grid(static_cast<unsigned>(p.batch), static_cast<unsigned>(p.heads));
  extend_kernel<<<grid, kThreads, sizeof(Memory), static_cast<cudaStream_t>(p.stream)>>>(p);
  SHIFTPOINT_CUDA_CHECK(cudaGetLastError());
}

}  // namespace

const Variant kExtendSerial = {
    "extend-serial", "the Triton target-verify shape: one block per (request, head), no KV split",
    sizeof(Memory),  unsupported,
    workspace,       suggest,
    prepare_kernels, launch_kernel};

}  // namespace shiftpoint
