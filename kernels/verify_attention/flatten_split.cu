// flatten-split: emulation of the strong Triton-style baseline (vLLM, SGLang decode kernels with
// every draft token flattened to a batch row; facts: the reference notes quoted in README.md).
// Block = one (request, query token), up to 16 heads, one split; 32-token tiles, one stage; the
// value is the transposed key tile; then a combine. Bytes from L2: q_tokens x 1,152 a token (9x);
// issued tensor operations: 16 rows for 8 live heads. Expected bound: exposed load latency of the
// single stage and L2 traffic. Measured: README.md beside this file.
#include <algorithm>

#include "kernels/verify_attention/baseline_tile.cuh"
#include "kernels/verify_attention/combine.cuh"
#include "kernels/verify_attention/variant.h"

namespace shiftpoint {
namespace {

using namespace baseline;

constexpr int kRows = 16;
constexpr int kThreads = 128;
constexpr int kNTiles = kLatentDims / 8 / (kThreads / 32);
constexpr int kMinUnits = 1;
using Memory = TileMemory<kRows>;
static_assert(kThreads == kRows * kThreadsPerRow);
static_assert(sizeof(Memory) <= 101376, "sm_120 gives a block 101,376 bytes");

__device__ __forceinline__ void load_query(Memory& memory, const VerifyAttentionParams& p,
                                           int request, int q_token, int first_head) {
  for (int c = static_cast<int>(threadIdx.x); c < kRows * kChunks; c += kThreads) {
    const int head = first_head + c / kChunks;
    uint4 chunk = make_uint4(0, 0, 0, 0);
    if (head < p.heads) {
      chunk =
          __ldg(reinterpret_cast<const uint4*>(query_row(p, request, q_token, head)) + c % kChunks);
    }
    *reinterpret_cast<uint4*>(memory.query + c / kChunks * kPitchBytes + c % kChunks * 16) = chunk;
  }
}

__device__ __forceinline__ void load_rows(Memory& memory, const VerifyAttentionParams& p) {
  const std::uint32_t shared = ptx::shared_address(memory.kv);
#pragma unroll
  for (int i = 0; i < kTileTokens * kChunks / kThreads; ++i) {
    const int c = static_cast<int>(threadIdx.x) + kThreads * i;
    const auto* row = reinterpret_cast<const uint4*>(row_of_slot(p, memory.slots[c / kChunks]));
    ptx::copy_async_16(shared + c / kChunks * kPitchBytes + c % kChunks * 16, row + c % kChunks);
  }
  ptx::copy_async_wait_all();
}

__device__ __forceinline__ void store_partials(const VerifyAttentionParams& p, const Memory& memory,
                                               const float (&values)[1][kNTiles][4],
                                               const RowState& state, std::int64_t first_row,
                                               int first_head, int split) {
  const RowPartials partials = RowPartials::of(p);
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const int first_dim = static_cast<int>(threadIdx.x) / 32 * 128;
#pragma unroll
  for (int part = 0; part < 2; ++part) {
    const int row = part * 8 + lane / 4;
    if (first_head + row >= p.heads) {
      continue;
    }
    auto* out =
        reinterpret_cast<float2*>(
            partials.values + ((first_row + row) * p.nsplit + split) * kLatentDims + first_dim) +
        lane % 4;
#pragma unroll
    for (int n = 0; n < kNTiles; ++n) {
      out[n * 4] = make_float2(values[0][n][2 * part], values[0][n][2 * part + 1]);
    }
  }
  const int own = static_cast<int>(threadIdx.x) / kThreadsPerRow;
  if (threadIdx.x % kThreadsPerRow == 0 && first_head + own < p.heads) {
    partials.sums[(first_row + own) * p.nsplit + split] = make_float2(state.max, state.sum);
  }
}

__global__ void __launch_bounds__(kThreads)
    flatten_kernel(const __grid_constant__ VerifyAttentionParams p) {
  extern __shared__ __align__(16) unsigned char raw[];
  Memory& memory = *reinterpret_cast<Memory*>(raw);
  const int request = static_cast<int>(blockIdx.x) / p.q_tokens;
  const int q_token = static_cast<int>(blockIdx.x) % p.q_tokens;
  const int first_head = static_cast<int>(blockIdx.y) * kRows;
  const int split = static_cast<int>(blockIdx.z);
  const RequestView view = view_request(p, request);
  const SplitPlan plan = plan_splits(view.tokens, kTileTokens, kMinUnits, p.nsplit);
  if (split >= plan.used) {
    return;
  }
  load_query(memory, p, request, q_token, first_head);
  RowState state;
  float values[1][kNTiles][4] = {};
  const std::int64_t end = plan.first_token(split + 1);
  for (std::int64_t first = plan.first_token(split); first < end; first += kTileTokens) {
    load_slots(memory, p, view, first, end);
    __syncthreads();
    load_rows(memory, p);
    __syncthreads();
    compute_scores(memory, p.softmax_scale * kLog2E);
    __syncthreads();
    softmax_step(memory, state, [&](int, int i) {
      return first + i < end && is_visible(p, view, request, q_token, first + i);
    });
    __syncthreads();
    add_values(memory, values, static_cast<int>(threadIdx.x) / 32 * 128);
    __syncthreads();
  }
  const std::int64_t first_row =
      (static_cast<std::int64_t>(request) * p.q_tokens + q_token) * p.heads + first_head;
  store_partials(p, memory, values, state, first_row, first_head, split);
}

std::string unsupported(const VerifyAttentionParams& p, const DeviceLimits& device) {
  if (p.nsplit > 1024) {
    return "nsplit above 1024";
  }
  return device.shared_bytes_per_block < sizeof(Memory) ? "too little shared memory" : "";
}

std::size_t workspace(const VerifyAttentionParams& p) {
  return RowPartials::bytes(p);
}

// At most 64 splits, as the original; two waves at three resident blocks a multiprocessor.
int suggest(const VerifyAttentionParams& p, const DeviceLimits& device) {
  const std::int64_t blocks =
      static_cast<std::int64_t>(p.batch) * p.q_tokens * ((p.heads + kRows - 1) / kRows);
  const std::int64_t wanted = 6 * device.sm_count / blocks;
  const std::int64_t most = (p.max_context_tokens + 127) / 128;
  const std::int64_t nsplit = std::min<std::int64_t>({64, wanted, most});
  return static_cast<int>(std::max<std::int64_t>(1, nsplit));
}

void prepare_kernels() {
  SHIFTPOINT_CUDA_CHECK(cudaFuncSetAttribute(flatten_kernel,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             static_cast<int>(sizeof(Memory))));
  prepare_row_combine();
}

void launch_kernel(const VerifyAttentionParams& p) {
  const dim3 grid(static_cast<unsigned>(p.batch * p.q_tokens),
                  static_cast<unsigned>((p.heads + kRows - 1) / kRows),
                  static_cast<unsigned>(p.nsplit));
  flatten_kernel<<<grid, kThreads, sizeof(Memory), static_cast<cudaStream_t>(p.stream)>>>(p);
  SHIFTPOINT_CUDA_CHECK(cudaGetLastError());
  launch_row_combine(p, kTileTokens, kMinUnits);
}

}  // namespace

const Variant kFlattenSplit = {
    "flatten-split",
    "the strong Triton shape: draft tokens flattened, heads packed to 16, KV split",
    sizeof(Memory),
    unsupported,
    workspace,
    suggest,
    prepare_kernels,
    launch_kernel};

}  // namespace shiftpoint
