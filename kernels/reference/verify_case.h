// Builds the inputs of a verify-attention call on the host, for tests, verification and timing.
// Everything that a kernel must not read is poisoned: unreferenced slots and row padding are NaN,
// unused index entries are huge.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/verify_attention.h"

namespace shiftpoint {

enum class MaskKind { kTree, kChain, kFull, kIdentity, kRandom, kNone };
enum class SlotOrder { kContiguous, kRandom };

struct VerifyCaseSpec {
  std::string name;
  std::vector<std::int64_t> prefix_tokens;  // one a request; -1: a padded request
  int q_tokens = 9;
  int heads = 8;
  int nsplit = 1;
  IndexType index_type = IndexType::kInt64;
  MaskKind mask = MaskKind::kTree;
  SlotOrder order = SlotOrder::kRandom;
  std::int64_t stride_pool_slot = kRowDims;
  std::int64_t spare_slots = 64;  // poisoned slots mixed among the live ones
  float q_scale = 1.0F;           // multiplies the standard normal queries: large logits
  std::uint64_t seed = 1;
};

struct VerifyCase {
  VerifyCaseSpec spec;
  std::int64_t slots = 0;
  std::vector<std::uint16_t> q, pool;
  std::vector<std::int32_t> kv_indptr;
  std::vector<std::int64_t> kv_indices, out_cache_loc;
  std::vector<std::int32_t> kv_indices32, out_cache_loc32;  // filled for IndexType::kInt32
  std::vector<std::uint8_t> custom_mask;
  std::vector<std::int64_t> mask_indptr;

  VerifyAttentionParams host_params() const;  // host pointers; no out, lse, workspace
};

// The tree of peers-h200.md's workload for 9 tokens, a binary heap for other counts.
std::vector<int> draft_parents(int q_tokens);

// Draws standard normal pool rows and queries from `seed` by a counter-based hash.
VerifyCase build_verify_case(const VerifyCaseSpec& spec);

// Only index lists and masks, for runs whose pool is filled on the device. Draft slots and prefix
// slots are drawn from [first_slot, first_slot + slots) without repetition.
void fill_lists(VerifyCase& target, std::int64_t first_slot, std::int64_t slots);

}  // namespace shiftpoint
