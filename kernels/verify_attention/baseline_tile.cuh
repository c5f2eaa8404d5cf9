// Steps shared by the two Triton-style baselines: a tile of 32 KV rows in shared memory, scores of
// kRows query rows against it by tensor cores, a block softmax and the product with the values.
// Query rows are the M dimension, padded to a multiple of 16, as Triton's dot requires.
#pragma once

#include "kernels/verify_attention/device_inputs.cuh"
#include "kernels/verify_attention/ptx.cuh"

namespace shiftpoint::baseline {

constexpr int kTileTokens = 32;
constexpr int kChunks = kRowDims / 8;           // 16-byte chunks of a row
constexpr int kPitchBytes = kRowDims * 2 + 16;  // 16 mod 128: ldmatrix without bank conflicts
constexpr int kScorePitch = kTileTokens + 4;    // floats
constexpr int kProbPitchBytes = kTileTokens * 2 + 16;
constexpr int kThreadsPerRow = 8;
constexpr int kTokensPerThread = kTileTokens / kThreadsPerRow;

template <int kRows>
struct __align__(16) TileMemory {
  unsigned char query[kRows * kPitchBytes];
  unsigned char kv[kTileTokens * kPitchBytes];
  float scores[kRows * kScorePitch];
  unsigned char probs[kRows * kProbPitchBytes];
  float rescale[kRows];
  float sums[kRows];
  long long slots[kTileTokens];
};

// Row state of the online softmax, equal in the eight threads of a row.
struct RowState {
  float max = -INFINITY;
  float sum = 0;
};

// Tokens past the end repeat the last one: finite values, and their scores become -inf.
template <int kRows>
__device__ __forceinline__ void load_slots(TileMemory<kRows>& memory,
                                           const VerifyAttentionParams& p, const RequestView& view,
                                           std::int64_t first, std::int64_t end) {
  if (threadIdx.x < kTileTokens) {
    const std::int64_t token = first + threadIdx.x;
    memory.slots[threadIdx.x] = load_slot(p, view, token < end ? token : end - 1);
  }
}

// Scores [kRows, 32]: warp w of m-tile w/4 computes 8 tokens.
template <int kRows>
__device__ __forceinline__ void compute_scores(TileMemory<kRows>& memory, float scale_log2) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const int m_tile = warp / 4;
  const int n_tile = warp % 4;
  const std::uint32_t a_base =
      ptx::shared_address(memory.query) + (m_tile * 16 + lane % 16) * kPitchBytes + lane / 16 * 16;
  const std::uint32_t b_base =
      ptx::shared_address(memory.kv) + (n_tile * 8 + lane % 8) * kPitchBytes + lane / 8 * 16;
  float sum[4] = {};
#pragma unroll
  for (int step = 0; step < kRowDims / 32; ++step) {
    std::uint32_t a[4], b[4];
    ptx::load_matrix_x4(b, b_base + step * 64);
    ptx::load_matrix_x4(a, a_base + step * 64);
    ptx::mma_bf16(sum, a, b[0], b[1]);
    ptx::load_matrix_x4(a, a_base + step * 64 + 32);
    ptx::mma_bf16(sum, a, b[2], b[3]);
  }
  float* out = memory.scores + (m_tile * 16 + lane / 4) * kScorePitch + n_tile * 8 + lane % 4 * 2;
  out[0] = sum[0] * scale_log2;
  out[1] = sum[1] * scale_log2;
  out[8 * kScorePitch] = sum[2] * scale_log2;
  out[8 * kScorePitch + 1] = sum[3] * scale_log2;
}

__device__ __forceinline__ float row_reduce_max(float x) {
#pragma unroll
  for (int offset = 1; offset < kThreadsPerRow; offset *= 2) {
    x = fmaxf(x, __shfl_xor_sync(0xffffffffU, x, offset));
  }
  return x;
}
__device__ __forceinline__ float row_reduce_sum(float x) {
#pragma unroll
  for (int offset = 1; offset < kThreadsPerRow; offset *= 2) {
    x += __shfl_xor_sync(0xffffffffU, x, offset);
  }
  return x;
}

// `visible(row, token_in_tile)`; writes probabilities and the factor of the accumulated values.
template <int kRows, class Visible>
__device__ __forceinline__ void softmax_step(TileMemory<kRows>& memory, RowState& state,
                                             const Visible& visible) {
  const int row = static_cast<int>(threadIdx.x) / kThreadsPerRow;
  const int first = static_cast<int>(threadIdx.x) % kThreadsPerRow * kTokensPerThread;
  float score[kTokensPerThread];
  float largest = -INFINITY;
#pragma unroll
  for (int i = 0; i < kTokensPerThread; ++i) {
    score[i] = visible(row, first + i) ? memory.scores[row * kScorePitch + first + i] : -INFINITY;
    largest = fmaxf(largest, score[i]);
  }
  const float new_max = fmaxf(state.max, row_reduce_max(largest));
  const float reference = new_max == -INFINITY ? 0.0F : new_max;  // nothing visible so far
  const float keep = exp2f(state.max - reference);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kTokensPerThread; ++i) {
    score[i] = exp2f(score[i] - reference);
    sum += score[i];
  }
  state.sum = state.sum * keep + row_reduce_sum(sum);
  state.max = new_max;
  auto* out = reinterpret_cast<std::uint32_t*>(memory.probs + row * kProbPitchBytes) + first / 2;
  out[0] = ptx::pack_bf16(score[0], score[1]);
  out[1] = ptx::pack_bf16(score[2], score[3]);
  if (first == 0) {
    memory.rescale[row] = keep;
  }
}

// values[m][n] += P V for kMTiles x 16 rows and kNTiles x 8 value dimensions from `first_dim`.
template <int kRows, int kMTiles, int kNTiles>
__device__ __forceinline__ void add_values(const TileMemory<kRows>& memory,
                                           float (&values)[kMTiles][kNTiles][4], int first_dim) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
#pragma unroll
  for (int m = 0; m < kMTiles; ++m) {
    const float low = memory.rescale[m * 16 + lane / 4];
    const float high = memory.rescale[m * 16 + lane / 4 + 8];
#pragma unroll
    for (int n = 0; n < kNTiles; ++n) {
      values[m][n][0] *= low;
      values[m][n][1] *= low;
      values[m][n][2] *= high;
      values[m][n][3] *= high;
    }
  }
  const std::uint32_t p_base =
      ptx::shared_address(memory.probs) + lane % 16 * kProbPitchBytes + lane / 16 * 16;
  const std::uint32_t v_base =
      ptx::shared_address(memory.kv) + lane % 16 * kPitchBytes + lane / 16 * 16 + first_dim * 2;
#pragma unroll
  for (int step = 0; step < kTileTokens / 16; ++step) {
    std::uint32_t prob[kMTiles][4];
#pragma unroll
    for (int m = 0; m < kMTiles; ++m) {
      ptx::load_matrix_x4(prob[m], p_base + m * 16 * kProbPitchBytes + step * 32);
    }
#pragma unroll
    for (int n = 0; n < kNTiles; n += 2) {
      std::uint32_t v[4];
      ptx::load_matrix_x4_transposed(v, v_base + step * 16 * kPitchBytes + n * 16);
#pragma unroll
      for (int m = 0; m < kMTiles; ++m) {
        ptx::mma_bf16(values[m][n], prob[m], v[0], v[1]);
        ptx::mma_bf16(values[m][n + 1], prob[m], v[2], v[3]);
      }
    }
  }
}

}  // namespace shiftpoint::baseline
