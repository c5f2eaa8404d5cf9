// The steps of the packed kernel: query fragments, row copies, scores, softmax, values.
#pragma once

#include "kernels/verify_attention/packed_shape.cuh"
#include "kernels/verify_attention/ptx.cuh"

namespace shiftpoint::packed {

// Scores may exceed a row's reference by this many log2 units before the reference moves: P and O
// have float's exponent range, so a lagging reference costs no precision.
constexpr float kHeadroom = 40.0F;

struct Thread {
  int warp, lane, slice, half;
  std::uint32_t rank;    // block of the cluster
  std::uint32_t shared;  // base address
};

// ---- query -----------------------------------------------------------------------------------

struct QueryFragments {
  std::uint32_t r[kSliceSteps][kRowTiles][2];
};

// Each warp copies five query rows to the staging area; rows past the end are zero. Arrives once a
// warp on Q's barrier.
__device__ __forceinline__ void stage_query(const VerifyAttentionParams& p, const Thread& self,
                                            int request, int group) {
  constexpr int kRowsOfWarp = kRows / kWarps;
  const int first = group * kRows + self.warp * kRowsOfWarp;
  const int live = max(0, min(kRowsOfWarp, p.q_tokens * p.heads - first));
  const std::uint32_t barrier = self.shared + offset::kQuery;
  const std::uint32_t target =
      self.shared + offset::kStagedQuery + self.warp * kRowsOfWarp * kPitchBytes;
  if (self.lane == 0) {
    ptx::mbarrier_arrive_expect(barrier, live * kRowBytes);
  }
  int q_token = first / p.heads;
  int head = first - q_token * p.heads;
#pragma unroll
  for (int i = 0; i < kRowsOfWarp; ++i) {
    if (i < live) {
      ptx::copy_bulk(target + i * kPitchBytes, query_row(p, request, q_token, head), kRowBytes,
                     barrier);
      if (++head == p.heads) {
        head = 0;
        ++q_token;
      }
    }
  }
  for (int i = live * kPitchBytes / 4 + self.lane; i < kRowsOfWarp * kPitchBytes / 4; i += 32) {
    ptx::store_shared(target + i * 4, 0U);
  }
}

// Local row tile 0 of slice k is the row tile whose softmax this warp computes; tiles are rotated
// so that its sums sit in fixed registers.
__device__ __forceinline__ int row_tile_of(int tile, int slice) {
  return tile == 4 ? 4 : (tile + slice) % 4;
}

__device__ __forceinline__ void load_query(QueryFragments& query, const Thread& self) {
#pragma unroll
  for (int tile = 0; tile < kRowTiles; ++tile) {
    const int row = row_tile_of(tile, self.slice) * 8 + self.lane % 8;
    const std::uint32_t address = self.shared + offset::kStagedQuery + row * kPitchBytes +
                                  self.slice * (kSliceSteps * 32) + self.lane / 8 * 16;
#pragma unroll
    for (int step = 0; step + 1 < kSliceSteps; step += 2) {
      std::uint32_t b[4];
      ptx::load_matrix_x4(b, address + step * 32);
      query.r[step][tile][0] = b[0];
      query.r[step][tile][1] = b[1];
      query.r[step + 1][tile][0] = b[2];
      query.r[step + 1][tile][1] = b[3];
    }
    ptx::load_matrix_x2(query.r[kSliceSteps - 1][tile],
                        self.shared + offset::kStagedQuery + row * kPitchBytes +
                            self.slice * (kSliceSteps * 32) + (kSliceSteps - 1) * 32 +
                            self.lane / 8 % 2 * 16);
  }
}

// ---- KV rows ---------------------------------------------------------------------------------

// Slots of the rows that a warp copies. Lane l holds row l % kIssueRows of tile l / kIssueRows of a
// window of tiles, so that no shuffle stands between index and copy. In a pair each block copies 16
// of the 32 rows and multicasts them.
template <bool kPair>
struct RowCopies {
  static constexpr int kIssueRows = kPair ? 2 : 4;
  static constexpr int kWindow = 32 / kIssueRows;
  static_assert(kWarps * kIssueRows * (kPair ? 2 : 1) == kTokens);

  std::int64_t first_token, last_token;  // of the split
  int slot, next_slot;                   // below 2^31; widened before the multiply

  __device__ __forceinline__ static int first_row(const Thread& self) {
    return (kPair ? static_cast<int>(self.rank) * kTokens / 2 : 0) + self.warp * kIssueRows;
  }

  // Little-endian 64-bit slots below 2^31 are their low words.
  __device__ __forceinline__ const int* address(const VerifyAttentionParams& p,
                                                const RequestView& view, const Thread& self,
                                                int window) const {
    std::int64_t token =
        first_token +
        static_cast<std::int64_t>(window * kWindow + self.lane / kIssueRows) * kTokens +
        first_row(self) + self.lane % kIssueRows;
    // Rows past the end repeat the last one: finite values, -inf scores.
    token = token < last_token ? token : last_token;
    const bool draft = token >= view.prefix;
    const auto* list = static_cast<const unsigned char*>(draft ? p.out_cache_loc : p.kv_indices);
    const std::int64_t position =
        token + (draft ? view.first_draft - view.prefix : view.first_index);
    return reinterpret_cast<const int*>(list +
                                        (position << (p.index_type == IndexType::kInt32 ? 2 : 3)));
  }

  __device__ __forceinline__ void load_first(const VerifyAttentionParams& p,
                                             const RequestView& view, const Thread& self) {
    slot = __ldg(address(p, view, self, 0));
    next_slot = __ldg(address(p, view, self, 1));
  }

  __device__ __forceinline__ void issue(const VerifyAttentionParams& p, const RequestView& view,
                                        const Thread& self, int tile, int stage) {
    if (tile % kWindow == 0 && tile > 0) {
      slot = next_slot;
      next_slot = __ldg(address(p, view, self, tile / kWindow + 1));
    }
    const std::uint32_t barrier = self.shared + offset::kFull + 8 * stage;
    const std::uint32_t target = self.shared + stage * kStageBytes + first_row(self) * kPitchBytes;
    if (self.lane == 0) {
      // Own rows and, in a pair, those of the peer's warp.
      ptx::mbarrier_arrive_expect(barrier, kTokens / kWarps * kRowBytes);
    }
#pragma unroll
    for (int i = 0; i < kIssueRows; ++i) {
      const int row_slot = __shfl_sync(0xffffffffU, slot, tile % kWindow * kIssueRows + i);
      if (kPair) {
        ptx::copy_bulk_multicast(target + i * kPitchBytes, row_of_slot(p, row_slot), kRowBytes,
                                 barrier, 3);
      } else {
        ptx::copy_bulk(target + i * kPitchBytes, row_of_slot(p, row_slot), kRowBytes, barrier);
      }
    }
  }
};

// ---- values ----------------------------------------------------------------------------------

using Values = float[kDimTiles][kRowTiles][4];
using ValueFragments = std::uint32_t[kTokenTiles][kDimTiles][4];
struct ProbFragments {
  std::uint32_t r[kTokenTiles][kRowTiles][2];
};

__device__ __forceinline__ void load_values(ValueFragments& v, const Thread& self, int stage,
                                            int t) {
  const std::uint32_t address = self.shared + stage * kStageBytes +
                                (self.lane % 8 + self.lane / 16 * 8) * kPitchBytes +
                                self.warp * (kDimTiles * 32) + self.lane / 8 % 2 * 16;
#pragma unroll
  for (int m = 0; m < kDimTiles; ++m) {
    ptx::load_matrix_x4_transposed(v[t][m], address + t * 16 * kPitchBytes + m * 32);
  }
}

// ---- scores ----------------------------------------------------------------------------------

__device__ __forceinline__ std::uint32_t partials_of(const Thread& self) {
  return self.shared + offset::kPartials + self.half * offset::kHalfPartialBytes;
}

__device__ __forceinline__ void slice_scores(float (&sums)[kRowTiles][4],
                                             const QueryFragments& query, const Thread& self,
                                             int stage) {
  constexpr int kAhead = 2;  // fragments loaded before they are needed
  const std::uint32_t keys = self.shared + stage * kStageBytes +
                             (self.half * 16 + self.lane % 16) * kPitchBytes + self.lane / 16 * 16 +
                             self.slice * (kSliceSteps * 32);
  std::uint32_t a[kAhead + 1][4];
#pragma unroll
  for (int step = 0; step < kAhead; ++step) {
    ptx::load_matrix_x4(a[step], keys + step * 32);
  }
#pragma unroll
  for (int step = 0; step < kSliceSteps; ++step) {
    if (step + kAhead < kSliceSteps) {
      ptx::load_matrix_x4(a[(step + kAhead) % (kAhead + 1)], keys + (step + kAhead) * 32);
    }
#pragma unroll
    for (int tile = 0; tile < kRowTiles; ++tile) {
      ptx::mma_bf16(sums[tile], a[step % (kAhead + 1)], query.r[step][tile][0],
                    query.r[step][tile][1]);
    }
  }
}

// Everything but the own tile goes to the warps that finish it.
__device__ __forceinline__ void store_partials(const float (&sums)[kRowTiles][4],
                                               const Thread& self) {
  const std::uint32_t partials = partials_of(self);
#pragma unroll
  for (int tile = 1; tile < 4; ++tile) {
    ptx::store_shared(partials + row_tile_of(tile, self.slice) * offset::kPartialTileBytes +
                          (tile - 1) * 512 + self.lane * 16,
                      sums[tile]);
  }
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    ptx::store_shared(partials + offset::kFifth + word * 512 + self.slice * 128 + self.lane * 4,
                      sums[4][word]);
  }
}

// Finished scores of a lane in log2 units: the four words of the own row tile's fragment and word
// `slice` of the fifth tile's.
struct LaneScores {
  float own[4];
  float fifth;
};

__device__ __forceinline__ LaneScores finish_scores(const float (&own)[4], const Thread& self,
                                                    float scale_log2) {
  const std::uint32_t mine =
      partials_of(self) + self.slice * offset::kPartialTileBytes + self.lane * 16;
  const std::uint32_t fifth_mine =
      partials_of(self) + offset::kFifth + self.slice * 512 + self.lane * 4;
  float part[3][4];
  float fifth[4];
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    ptx::load_shared(part[i], mine + i * 512);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    fifth[i] = ptx::load_shared(fifth_mine + i * 128);
  }
  LaneScores scores;
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    scores.own[word] = ((own[word] + part[0][word]) + (part[1][word] + part[2][word])) * scale_log2;
  }
  scores.fifth = ((fifth[0] + fifth[1]) + (fifth[2] + fifth[3])) * scale_log2;
  return scores;
}

// ---- softmax ---------------------------------------------------------------------------------

// References (log2 units) and running sums of a lane's rows: two rows of the own tile, one of the
// fifth.
struct LaneRows {
  float reference[2] = {0, 0};
  float reference_fifth = 0;
  float sum[2] = {0, 0};
  float sum_fifth = 0;
};

__device__ __forceinline__ int own_row(const Thread& self) {
  return self.slice * 8 + self.lane % 4 * 2;
}
__device__ __forceinline__ int fifth_row(const Thread& self) {
  return 32 + self.lane % 4 * 2 + self.slice % 2;
}
// Token in the tile of word 0; words 2 and 3 lie 8 later.
__device__ __forceinline__ int own_token(const Thread& self) {
  return self.half * 16 + self.lane / 4;
}
__device__ __forceinline__ int fifth_token(const Thread& self) {
  return own_token(self) + self.slice / 2 * 8;
}

// exp2(score - reference) of a lane, stored as the B operand of the value product.
struct LaneProbs {
  float own[4];
  float fifth;
};

__device__ __forceinline__ LaneProbs store_probs(const LaneScores& scores, const LaneRows& rows,
                                                 const Thread& self, int buffer) {
  LaneProbs probs;
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    probs.own[word] = ptx::exp2_approx(scores.own[word] - rows.reference[word % 2]);
  }
  probs.fifth = ptx::exp2_approx(scores.fifth - rows.reference_fifth);
  const std::uint32_t target = self.shared + offset::kProbs + buffer * offset::kProbBytes +
                               self.half * (kRowTiles * 256) + self.lane * 4;
  ptx::store_shared(target + self.slice * 256, ptx::pack_bf16(probs.own[0], probs.own[1]));
  ptx::store_shared(target + self.slice * 256 + 128, ptx::pack_bf16(probs.own[2], probs.own[3]));
  ptx::store_shared(target + 4 * 256 + self.slice / 2 * 128 + self.slice % 2 * 2,
                    __bfloat16_as_ushort(__float2bfloat16_rn(probs.fifth)));
  return probs;
}

// Whether a score lies outside what the lane's references admit. Before a row's first score its
// reference 0 is a guess, which a small score contradicts too. NaN passes: it spoils its row
// anyway.
__device__ __forceinline__ bool needs_new_reference(const LaneScores& scores, const LaneRows& rows,
                                                    bool first) {
  float high = scores.fifth - rows.reference_fifth;
  float low = high;
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    const float x = scores.own[word] - rows.reference[word % 2];
    high = fmaxf(high, x);
    low = fminf(low, x);
  }
  return high > kHeadroom || (first && low < -kHeadroom);
}

__device__ __forceinline__ int ordered_bits(float x) {  // monotone map to int
  const int bits = __float_as_int(x);
  return bits >= 0 ? bits : bits ^ 0x7fffffff;
}
__device__ __forceinline__ float from_ordered_bits(int bits) {
  return __int_as_float(bits >= 0 ? bits : bits ^ 0x7fffffff);
}

__device__ __forceinline__ float max_over_tokens(float x) {
#pragma unroll
  for (int step = 4; step < 32; step *= 2) {
    x = fmaxf(x, __shfl_xor_sync(0xffffffffU, x, step));
  }
  return x;
}
__device__ __forceinline__ float sum_over_tokens(float x) {
#pragma unroll
  for (int step = 4; step < 32; step *= 2) {
    x += __shfl_xor_sync(0xffffffffU, x, step);
  }
  return x;
}

// Largest score of every row of this tile, into kTileMax (which move_references resets).
__device__ __forceinline__ void gather_tile_max(unsigned char* memory, const LaneScores& scores,
                                                const Thread& self) {
  int* tile_max = reinterpret_cast<int*>(memory + offset::kTileMax);
  const float even = max_over_tokens(fmaxf(scores.own[0], scores.own[2]));
  const float odd = max_over_tokens(fmaxf(scores.own[1], scores.own[3]));
  const float fifth = max_over_tokens(scores.fifth);
  if (self.lane < 4) {
    atomicMax(tile_max + own_row(self), ordered_bits(even));
    atomicMax(tile_max + own_row(self) + 1, ordered_bits(odd));
    atomicMax(tile_max + fifth_row(self), ordered_bits(fifth));
  }
}

// One thread a row: moves the reference where the tile demands it. `all_seen`: some earlier tile
// showed every row a token.
__device__ __forceinline__ void move_references(unsigned char* memory, bool all_seen) {
  const int row = static_cast<int>(threadIdx.x);
  if (row >= kRows) {
    return;
  }
  float& reference = reinterpret_cast<float*>(memory + offset::kReference)[row];
  int& seen = reinterpret_cast<int*>(memory + offset::kSeen)[row];
  int& tile_max = reinterpret_cast<int*>(memory + offset::kTileMax)[row];
  const float largest = from_ordered_bits(tile_max);
  const bool fresh = !all_seen && seen == 0;
  float factor = 1;
  if (largest > -INFINITY && (fresh || largest > reference)) {
    factor = fresh ? 1.0F : ptx::exp2_approx(reference - largest);
    reference = largest;
  }
  seen = seen | static_cast<int>(largest > -INFINITY);
  reinterpret_cast<float*>(memory + offset::kRescale)[row] = factor;
  tile_max = ordered_bits(-INFINITY);
}

// Scores of tokens that the row's query token does not see become -inf.
__device__ __forceinline__ void apply_mask(LaneScores& scores, const unsigned char* memory,
                                           const VerifyAttentionParams& p, const RequestView& view,
                                           const Thread& self, std::int64_t tile_token, int group) {
  const auto* mask = reinterpret_cast<const std::uint32_t*>(memory + offset::kMask);
  const int drafts_before = static_cast<int>(tile_token - view.prefix);
  const auto draft_mask = [&](int row) {
    return mask[min((group * kRows + row) / p.heads, p.q_tokens - 1)];
  };
  const auto hide = [&](float& score, std::uint32_t visible, int token) {
    const int draft = drafts_before + token;
    if (draft >= 0 && (draft >= p.q_tokens || (visible >> draft & 1U) == 0)) {
      score = -INFINITY;
    }
  };
  const std::uint32_t even = draft_mask(own_row(self));
  const std::uint32_t odd = draft_mask(own_row(self) + 1);
  hide(scores.own[0], even, own_token(self));
  hide(scores.own[1], odd, own_token(self));
  hide(scores.own[2], even, own_token(self) + 8);
  hide(scores.own[3], odd, own_token(self) + 8);
  hide(scores.fifth, draft_mask(fifth_row(self)), fifth_token(self));
}

// ---- products with the values ------------------------------------------------------------------

__device__ __forceinline__ void load_probs(ProbFragments& probs, const Thread& self, int buffer,
                                           int t) {
  const std::uint32_t address = self.shared + offset::kProbs + buffer * offset::kProbBytes +
                                t * (kRowTiles * 256) + self.lane * 16;
#pragma unroll
  for (int n = 0; n + 1 < kRowTiles; n += 2) {
    std::uint32_t b[4];
    ptx::load_matrix_x4_transposed(b, address + n * 256);
    probs.r[t][n][0] = b[0];
    probs.r[t][n][1] = b[1];
    probs.r[t][n + 1][0] = b[2];
    probs.r[t][n + 1][1] = b[3];
  }
  static_assert(kRowTiles % 2 == 1);
  ptx::load_matrix_x2_transposed(probs.r[t][kRowTiles - 1],
                                 address + (kRowTiles - 1) * 256 - self.lane / 16 * 256);
}

__device__ __forceinline__ void add_values(Values& values, const ValueFragments& v,
                                           const ProbFragments& probs, int t) {
#pragma unroll
  for (int n = 0; n < kRowTiles; ++n) {
#pragma unroll
    for (int m = 0; m < kDimTiles; ++m) {
      ptx::mma_bf16(values[m][n], v[t][m], probs.r[t][n][0], probs.r[t][n][1]);
    }
  }
}

__device__ __forceinline__ void rescale_values(Values& values, const unsigned char* memory,
                                               const Thread& self) {
#pragma unroll
  for (int n = 0; n < kRowTiles; ++n) {
    const float2 factor = *reinterpret_cast<const float2*>(memory + offset::kRescale +
                                                           (n * 8 + self.lane % 4 * 2) * 4);
#pragma unroll
    for (int m = 0; m < kDimTiles; ++m) {
      values[m][n][0] *= factor.x;
      values[m][n][1] *= factor.y;
      values[m][n][2] *= factor.x;
      values[m][n][3] *= factor.y;
    }
  }
}

}  // namespace shiftpoint::packed
