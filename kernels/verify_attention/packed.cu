// packed: all query rows of a rank against every KV tile, the cache read once.
//
// Idea: query tokens x heads are the N dimension of mma.m16n8k16, 40 rows a block, so the 72 rows
// of TP8 are two blocks. A KV row comes from DRAM once, by 1-D bulk copies on mbarriers, and serves
// scores and values from shared memory. Two kinds of the same kernel:
//   solo   every block copies its own tiles (KV twice from L2); runs everywhere;
//   pair   the two blocks are a cluster, each copies half of a 32-row tile and multicasts it
//          to both (KV once from L2); sm_90a.
// Softmax with a lazily moved reference: a row's maximum is no cross-warp dependency, the tile's
// barrier also says when it must move. Partials in fragment order, combined by packed_combine.cu.
// Bytes: 1,152 a token from DRAM. Operations: 2,176 x 80 a token (72 rows live).
// Expected bound: H200, the mma.sync rate and exposed latency; RTX PRO 6000, DRAM. Got on the H200:
// 48 us at batch 1 x 65,536, 315 us at 8 x 65,536 (43 % of the mma.sync and of the read rate): the
// latency of a tile's hand-overs binds. What was tried: README.md beside this file.
//
// One iteration, three hand-overs:
//   QK of the own slice -> partial sums -> [barrier of the half, 4 warps] -> softmax of the own row
//   tile -> P, and V fragments into registers -> [block barrier, OR: slow path?] -> PV.
// After its V fragments are loaded a warp needs the stage no more and says so on the empty barriers
// of both blocks; the refill is issued in the middle of PV. P is double buffered, because a half
// may run ahead of the other's PV to its own softmax.
#include <algorithm>

#include "kernels/verify_attention/packed_shape.cuh"
#include "kernels/verify_attention/packed_steps.cuh"
#include "kernels/verify_attention/variant.h"

namespace shiftpoint {
namespace packed {
namespace {

template <bool kPair>
__device__ __forceinline__ void init_shared(unsigned char* memory, const Thread& self) {
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      ptx::mbarrier_init(self.shared + offset::kFull + 8 * stage, kWarps);
      ptx::mbarrier_init(self.shared + offset::kEmpty + 8 * stage, 2 * kWarps);
    }
    ptx::mbarrier_init(self.shared + offset::kQuery, kWarps);
    ptx::mbarrier_init_fence();
  }
  if (threadIdx.x < kRows) {
    reinterpret_cast<float*>(memory + offset::kReference)[threadIdx.x] = 0;
    reinterpret_cast<int*>(memory + offset::kTileMax)[threadIdx.x] = ordered_bits(-INFINITY);
    reinterpret_cast<int*>(memory + offset::kSeen)[threadIdx.x] = 0;
  }
  if (threadIdx.x < kMaxQueryTokens) {
    reinterpret_cast<std::uint32_t*>(memory + offset::kMask)[threadIdx.x] = 0;
  }
  __syncthreads();
  if (kPair) {
    ptx::cluster_arrive();  // the peer may send once both have arrived
  }
}

// Bit j of word i: query token i sees draft token j. Visible to the block after the next barrier.
__device__ __forceinline__ void load_mask(unsigned char* memory, const VerifyAttentionParams& p,
                                          const RequestView& view, int request) {
  auto* mask = reinterpret_cast<std::uint32_t*>(memory + offset::kMask);
  for (int i = static_cast<int>(threadIdx.x); i < p.q_tokens * p.q_tokens; i += kThreads) {
    const int row = i / p.q_tokens;
    const int col = i - row * p.q_tokens;
    if (is_visible(p, view, request, row, view.prefix + col)) {
      atomicOr(mask + row, 1U << col);
    }
  }
}

// The rare path of a tile: a row's reference moves, or tokens are masked. Ends with a barrier.
__device__ __forceinline__ LaneProbs move_and_store(Values& values, LaneRows& rows,
                                                    const LaneScores& scores, unsigned char* memory,
                                                    const Thread& self, int buffer, bool all_seen) {
  gather_tile_max(memory, scores, self);
  __syncthreads();
  move_references(memory, all_seen);
  __syncthreads();
  const auto* reference = reinterpret_cast<const float*>(memory + offset::kReference);
  const auto* factor = reinterpret_cast<const float*>(memory + offset::kRescale);
  const int row = own_row(self);
  for (int i = 0; i < 2; ++i) {
    rows.reference[i] = reference[row + i];
    rows.sum[i] *= factor[row + i];
  }
  rows.reference_fifth = reference[fifth_row(self)];
  rows.sum_fifth *= factor[fifth_row(self)];
  rescale_values(values, memory, self);
  const LaneProbs probs = store_probs(scores, rows, self, buffer);
  __syncthreads();
  return probs;
}

__device__ __forceinline__ void store_sums(const VerifyAttentionParams& p, unsigned char* memory,
                                           const LaneRows& rows, const Thread& self,
                                           std::int64_t part) {
  // Contributions to a row's sum in fixed order: two halves x two token groups of the fifth tile;
  // the other tiles have one a half.
  constexpr int kParts = 4;
  auto* sums = reinterpret_cast<float*>(memory + offset::kPartials);
  __syncthreads();
  if (threadIdx.x < kParts * kRows) {
    sums[threadIdx.x] = 0;
  }
  __syncthreads();
  const float even = sum_over_tokens(rows.sum[0]);
  const float odd = sum_over_tokens(rows.sum[1]);
  const float fifth = sum_over_tokens(rows.sum_fifth);
  if (self.lane < 4) {
    sums[self.half * kRows + own_row(self)] = even;
    sums[self.half * kRows + own_row(self) + 1] = odd;
    sums[(2 * self.half + self.slice / 2) * kRows + fifth_row(self)] = fifth;
  }
  __syncthreads();
  const int row = static_cast<int>(threadIdx.x);
  if (row < kRows) {
    const float total =
        (sums[row] + sums[kRows + row]) + (sums[2 * kRows + row] + sums[3 * kRows + row]);
    Workspace::sums(p)[part * kRows + row] =
        make_float2(reinterpret_cast<const float*>(memory + offset::kReference)[row], total);
  }
}

__device__ __forceinline__ void store_values(const VerifyAttentionParams& p, const Values& values,
                                             const Thread& self, std::int64_t part, bool narrow) {
  const std::int64_t first = (part * kWarps + self.warp) * (kDimTiles * kRowTiles * 32) + self.lane;
  if (narrow) {
    auto* target = static_cast<uint2*>(p.workspace) + first;
#pragma unroll
    for (int i = 0; i < kDimTiles * kRowTiles; ++i) {
      const float* v = values[i / kRowTiles][i % kRowTiles];
      target[i * 32] = make_uint2(ptx::pack_bf16(v[0], v[1]), ptx::pack_bf16(v[2], v[3]));
    }
  } else {
    auto* target = static_cast<float4*>(p.workspace) + first;
#pragma unroll
    for (int i = 0; i < kDimTiles * kRowTiles; ++i) {
      const float* v = values[i / kRowTiles][i % kRowTiles];
      target[i * 32] = make_float4(v[0], v[1], v[2], v[3]);
    }
  }
}

__device__ __forceinline__ Thread this_thread(const unsigned char* memory) {
  Thread self;
  // Through shuffles, whose results the compiler keeps: it would rather read the slow special
  // register again in every tile.
  const int id = static_cast<int>(threadIdx.x);
  self.warp = __shfl_sync(0xffffffffU, id / 32, 0);
  self.lane = __shfl_sync(0xffffffffU, id & 31, id & 31);
  self.slice = self.warp % kSlices;
  self.half = self.warp / kSlices;
  self.rank = ptx::cluster_rank();
  self.shared = ptx::shared_address(memory);
  return self;
}

template <bool kPair>
__global__ void __launch_bounds__(kThreads, 1)
    packed_kernel(const __grid_constant__ VerifyAttentionParams p, float scale_log2, bool narrow) {
  extern __shared__ __align__(128) unsigned char memory[];
  const Thread self = this_thread(memory);
  const int split = static_cast<int>(blockIdx.x);
  const int group = static_cast<int>(blockIdx.y);
  const int request = static_cast<int>(blockIdx.z);

  RequestView view = view_request(p, request);
  // Whether the request is padding is known only one memory latency after its lengths. Its lists
  // are valid memory, so the slots are read meanwhile as if it were not.
  view.tokens = view.prefix + p.q_tokens;
  init_shared<kPair>(memory, self);
  stage_query(p, self, request, group);
  const SplitPlan plan = plan_of(p, view);
  RowCopies<kPair> copies;
  copies.first_token = plan.first_token(split);
  copies.last_token = view.tokens - 1;
  const int tiles = plan.first_unit(split + 1) - plan.first_unit(split);
  // First tile that reaches beyond the prefix: from there on tokens are masked.
  const int first_tail = view.prefix < copies.first_token
                             ? 0
                             : static_cast<int>((view.prefix - copies.first_token) / kTokens);
  if (split < plan.used) {
    copies.load_first(p, view, self);
  }
  if (kPair) {
    ptx::cluster_wait();
  }
  if (split >= plan.used || view.padded) {
    ptx::mbarrier_wait(self.shared + offset::kQuery, 0);  // no copy may outlive the block
    return;
  }
  copies.issue(p, view, self, 0, 0);
  if (first_tail < tiles) {
    load_mask(memory, p, view, request);
  }
  QueryFragments query;
  ptx::mbarrier_wait(self.shared + offset::kQuery, 0);
  __syncthreads();  // zero rows and mask
  load_query(query, self);
  // The staging area becomes stage 1 and scratch, for the peer's copies too. Ordinary writes (zero
  // rows) before asynchronous ones need the proxy fence, reads the barrier.
  ptx::async_proxy_fence();
  if (kPair) {
    ptx::cluster_arrive();
    ptx::cluster_wait();
  } else {
    __syncthreads();
  }
  for (int tile = 1; tile < min(tiles, kStages); ++tile) {
    copies.issue(p, view, self, tile, tile);
  }

  Values values = {};
  LaneRows rows;
  for (int tile = 0; tile < tiles; ++tile) {
    const int stage = tile % kStages;
    const int parity = tile / kStages % 2;
    const int buffer = tile % 2;
    ptx::mbarrier_wait(self.shared + offset::kFull + 8 * stage, parity);
    float sums[kRowTiles][4] = {};
    slice_scores(sums, query, self, stage);
    store_partials(sums, self);
    ptx::named_barrier(1 + self.half, kThreads / 2);
    LaneScores scores = finish_scores(sums[0], self, scale_log2);
    LaneProbs probs = store_probs(scores, rows, self, buffer);
    const bool moves = needs_new_reference(scores, rows, tile == 0);
    ValueFragments v;
    load_values(v, self, stage, 0);
    load_values(v, self, stage, 1);
    const bool refills = tile + kStages < tiles;
    const bool tail = tile >= first_tail;
    if (tail || __syncthreads_or(moves)) {
      if (tail) {
        apply_mask(scores, memory, p, view, self,
                   copies.first_token + static_cast<std::int64_t>(tile) * kTokens, group);
      }
      probs =
          move_and_store(values, rows, scores, memory, self, buffer, first_tail > 0 && tile > 0);
    }
    if (kPair && refills && self.lane < 2) {
      ptx::mbarrier_arrive_remote(self.shared + offset::kEmpty + 8 * stage,
                                  static_cast<std::uint32_t>(self.lane));
    }
    rows.sum[0] += probs.own[0] + probs.own[2];
    rows.sum[1] += probs.own[1] + probs.own[3];
    rows.sum_fifth += probs.fifth;
    ProbFragments fragments;
    load_probs(fragments, self, buffer, 0);
    load_probs(fragments, self, buffer, 1);
    add_values(values, v, fragments, 0);
    // In a pair the peer must have read the stage too: by now it has, and the copy is still early.
    // Alone, the place after the products was faster.
    if (kPair && refills) {
      ptx::mbarrier_wait(self.shared + offset::kEmpty + 8 * stage, parity);
      copies.issue(p, view, self, tile + kStages, stage);
    }
    add_values(values, v, fragments, 1);
    if (!kPair && refills) {
      copies.issue(p, view, self, tile + kStages, stage);
    }
  }
  ptx::allow_dependent_launch();  // the combine waits for the stores below before it reads them
  if (kPair) {
    ptx::cluster_arrive();
  }
  const std::int64_t part =
      (static_cast<std::int64_t>(request) * gridDim.y + group) * p.nsplit + split;
  store_values(p, values, self, part, narrow);
  store_sums(p, memory, rows, self, part);
  if (kPair) {
    ptx::cluster_wait();  // the peer may still receive this block's rows
  }
}

// ---- host ------------------------------------------------------------------------------------

// bf16 partials halve the traffic of many short splits; with few splits f32 costs nothing.
bool narrow_partials(const VerifyAttentionParams& p) {
  return p.nsplit > 16;
}

std::string unsupported(const VerifyAttentionParams& p, const DeviceLimits& device) {
  if (p.q_tokens > kMaxQueryTokens) {
    return "more than 32 query tokens";
  }
  if (p.nsplit > kMaxSplits) {
    return "nsplit above 256";
  }
  return device.shared_bytes_per_block < kSharedLimitBytes ? "too little shared memory" : "";
}

std::size_t workspace(const VerifyAttentionParams& p) {
  return Workspace::bytes(p);
}

// One wave of blocks, and at least two tiles a split: the second hides behind the first's latency.
int suggest(const VerifyAttentionParams& p, const DeviceLimits& device) {
  const int blocks = p.batch * Workspace::groups(p);
  const std::int64_t wave = std::max(1, device.sm_count / blocks);
  const std::int64_t most = (p.max_context_tokens + 2 * kTokens) / (2 * kTokens);
  const std::int64_t nsplit = p.max_context_tokens > 0 ? std::min(most, wave) : wave;
  return static_cast<int>(std::min<std::int64_t>(nsplit, kMaxSplits));
}

// Pairs pay for their handshakes from this many tiles a split on (README.md). They need multicast,
// which the assembler calls slow everywhere but on sm_90a among the targets built here.
constexpr std::int64_t kPairTiles = 16;

// Set by the build when code for sm_90a is among the targets; without it the pair kernel is a trap.
#ifndef SHIFTPOINT_PAIRS
#define SHIFTPOINT_PAIRS 0
#endif
bool has_pairs(int compute_capability) {
  return SHIFTPOINT_PAIRS == 1 && compute_capability == 90;
}

bool pairs(const VerifyAttentionParams& p) {
  static const int capability = current_device_limits().compute_capability;
  const bool is_long =
      p.max_context_tokens == 0 || p.max_context_tokens >= kPairTiles * kTokens * p.nsplit;
  return has_pairs(capability) && Workspace::groups(p) > 1 && is_long;
}

template <bool kPair>
void prepare_kernel() {
  SHIFTPOINT_CUDA_CHECK(cudaFuncSetAttribute(
      packed_kernel<kPair>, cudaFuncAttributeMaxDynamicSharedMemorySize, offset::kTotal));
}

template <bool kPair>
void launch_split(const VerifyAttentionParams& p) {
  cudaLaunchConfig_t config = {};
  config.gridDim =
      dim3(static_cast<unsigned>(p.nsplit), static_cast<unsigned>(Workspace::groups(p)),
           static_cast<unsigned>(p.batch));
  config.blockDim = dim3(kThreads);
  config.dynamicSmemBytes = offset::kTotal;
  config.stream = static_cast<cudaStream_t>(p.stream);
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {1, kPair ? 2U : 1U, 1};
  config.attrs = &cluster;
  config.numAttrs = kPair ? 1 : 0;
  SHIFTPOINT_CUDA_CHECK(cudaLaunchKernelEx(&config, packed_kernel<kPair>, p,
                                           p.softmax_scale * kLog2E, narrow_partials(p)));
}

void prepare_kernels() {
  prepare_kernel<true>();
  prepare_kernel<false>();
  prepare_combine();
}

template <bool kPair>
void launch_both(const VerifyAttentionParams& p) {
  launch_split<kPair>(p);
  launch_combine(p, narrow_partials(p));
}

void launch_kernels(const VerifyAttentionParams& p) {
  if (pairs(p)) {
    launch_both<true>(p);
  } else {
    launch_both<false>(p);
  }
}

// Only where the multicast exists; on other cards the kernel would trap.
std::string pair_unsupported(const VerifyAttentionParams& p, const DeviceLimits& device) {
  if (!has_pairs(device.compute_capability)) {
    return "bulk multicast is built for sm_90a only";
  }
  return Workspace::groups(p) < 2 ? "40 rows or fewer have no pair" : unsupported(p, device);
}

}  // namespace
}  // namespace packed

const Variant kPacked = {"packed",
                         "all query rows packed against each KV tile, KV read once from DRAM",
                         packed::offset::kTotal,
                         packed::unsupported,
                         packed::workspace,
                         packed::suggest,
                         packed::prepare_kernels,
                         packed::launch_kernels};

const Variant kPackedSolo = {
    "packed-solo",           "packed, every block copies its own tiles: what sm_120 runs",
    packed::offset::kTotal,  packed::unsupported,
    packed::workspace,       packed::suggest,
    packed::prepare_kernels, packed::launch_both<false>};

const Variant kPackedPair = {
    "packed-pair",           "packed, clusters of two blocks that share their copies by multicast",
    packed::offset::kTotal,  packed::pair_unsupported,
    packed::workspace,       packed::suggest,
    packed::prepare_kernels, packed::launch_both<true>};

}  // namespace shiftpoint
