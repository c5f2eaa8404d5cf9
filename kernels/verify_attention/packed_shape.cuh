// Tile shape, shared-memory map and workspace of the packed kernel.
//
// Eight warps. Query rows (query tokens x heads) are the N dimension of mma.m16n8k16 in tiles of
// eight; KV tokens are M for the scores and K for the values. A block owns 40 rows (five tiles) and
// walks 32-token KV tiles:
//   scores  S[token, row] = K Q: warp (slice, half) multiplies columns [144 slice, +144) of the 576
//           for the tokens [16 half, +16) of the tile. The four slices of a half are summed through
//           shared memory;
//   values  O[dim, row] += V P: warp w owns dimensions [64 w, +64) of all rows of the block.
// Q and O stay in registers. 72 rows (TP8) are two blocks, a cluster of two: each block copies half
// of every KV tile and multicasts it to both, so that a KV row is read once.
#pragma once

#include "kernels/verify_attention/device_inputs.cuh"

namespace shiftpoint::packed {

constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;
constexpr int kSlices = 4;
constexpr int kSliceSteps = kRowDims / kSlices / 16;  // 9 mma steps of 16 columns
constexpr int kRowTiles = 5;
constexpr int kRows = 8 * kRowTiles;
constexpr int kTokenTiles = 2;
constexpr int kTokens = 16 * kTokenTiles;
constexpr int kDimTiles = 4;  // m-tiles of 16 value dimensions a warp
constexpr int kStages = 2;
constexpr int kRowBytes = kRowDims * 2;
constexpr int kPitchBytes = kRowBytes + 16;  // 16 mod 128: ldmatrix without bank conflicts
constexpr int kStageBytes = kTokens * kPitchBytes;
constexpr int kMaxQueryTokens = 32;        // mask words are 32 bits
constexpr int kMaxSplits = 256;            // weights of a row in the combine's shared memory
constexpr int kSharedLimitBytes = 101376;  // what sm_120 gives a block

// Byte offsets in shared memory.
namespace offset {
// Score partials of a half: four row tiles x three foreign slices x 512 bytes, then the fifth tile
// by words: [word 4][slice 4][lane 32] floats.
constexpr int kPartials = kStages * kStageBytes;
constexpr int kPartialTileBytes = 3 * 512;
constexpr int kFifth = 4 * kPartialTileBytes;
constexpr int kHalfPartialBytes = kFifth + 2048;
constexpr int kProbs = kPartials + 2 * kHalfPartialBytes;
constexpr int kProbBytes = kTokenTiles * kRowTiles * 256;  // one of two buffers
constexpr int kReference = kProbs + 2 * kProbBytes;
constexpr int kTileMax = kReference + kRows * 4;
constexpr int kSeen = kTileMax + kRows * 4;
constexpr int kRescale = kSeen + kRows * 4;
constexpr int kMask = kRescale + kRows * 4;
constexpr int kFull = kMask + kMaxQueryTokens * 4;  // barriers: one a stage
constexpr int kEmpty = kFull + 8 * kStages;
constexpr int kQuery = kEmpty + 8 * kStages;
constexpr int kTotal = kQuery + 8;
static_assert(kFull % 8 == 0);
static_assert(kTotal <= kSharedLimitBytes, "the sm_120 block limit holds on every card");
// The query rows are staged over everything but stage 0 before they become fragments, while the
// first KV tile is already on its way.
constexpr int kStagedQuery = kStageBytes;
static_assert(kStagedQuery + kRows * kPitchBytes <= kReference);
}  // namespace offset

// Workspace: value fragments [batch, groups, nsplit, warp 8, m-tile 4, row tile 5, lane 32, 4] in
// f32 or bf16, not divided by the sum; then float2 (reference in log2 units, sum)
// [batch, groups, nsplit, 40].
struct Workspace {
  static constexpr std::int64_t kFragments = std::int64_t{kWarps} * kDimTiles * kRowTiles;

  // Row groups of 40; an even number unless one is enough, because they work in pairs.
  SHIFTPOINT_HOST_DEVICE static int groups(const VerifyAttentionParams& p) {
    const int groups = (p.q_tokens * p.heads + kRows - 1) / kRows;
    return groups == 1 ? 1 : (groups + 1) / 2 * 2;
  }
  SHIFTPOINT_HOST_DEVICE static std::int64_t parts(const VerifyAttentionParams& p) {
    return static_cast<std::int64_t>(p.batch) * groups(p) * p.nsplit;
  }
  SHIFTPOINT_HOST_DEVICE static std::size_t bytes(const VerifyAttentionParams& p) {
    return static_cast<std::size_t>(parts(p)) * (kFragments * 512 + kRows * sizeof(float2));
  }
  SHIFTPOINT_HOST_DEVICE static float2* sums(const VerifyAttentionParams& p) {
    return reinterpret_cast<float2*>(static_cast<unsigned char*>(p.workspace) +
                                     parts(p) * kFragments * 512);
  }
};

// A split of one tile is allowed: at short contexts latency counts, not the partials' bytes.
constexpr int kMinUnits = 1;

__device__ __forceinline__ SplitPlan plan_of(const VerifyAttentionParams& p,
                                             const RequestView& view) {
  return plan_splits(view.tokens, kTokens, kMinUnits, p.nsplit);
}

void launch_combine(const VerifyAttentionParams& p, bool narrow_partials);
void prepare_combine();

}  // namespace shiftpoint::packed
