// Tier 1: moves live KV rows to other slots of the same pool and rewrites the index lists that name
// them. Free of CUDA headers. Failures throw KernelError.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/verify_attention.h"

namespace shiftpoint {

struct RelocateKvParams {
  std::int64_t moves = 0;        // read on the host: the grid depends on it
  int row_bytes = kRowDims * 2;  // a multiple of 16, at most 4,096
  std::int64_t stride_slot_bytes = std::int64_t{kRowDims} * 2;  // a multiple of 16
  void* pool = nullptr;                                         // 16-byte aligned
  std::int64_t slots = 0;                                       // of the pool

  // Slots [moves]. Sources are distinct and targets are distinct. A slot may be source of one move
  // and target of another (chains and cycles are fine): every row is read into the workspace before
  // any is written.
  const std::int64_t* from = nullptr;
  const std::int64_t* to = nullptr;

  // Index list [list_length] of index_type, rewritten in place: an entry equal to some from[i]
  // becomes to[i]; others stay, also those outside [0, slots). May be null.
  void* list = nullptr;
  std::int64_t list_length = 0;
  IndexType index_type = IndexType::kInt64;

  void* workspace = nullptr;  // relocate_workspace_bytes(), 256-byte aligned
  std::size_t workspace_bytes = 0;
  void* stream = nullptr;  // cudaStream_t
  // The caller knows that no slot is both a source and a target: rows are moved in one pass.
  bool disjoint = false;
};

std::size_t relocate_workspace_bytes(const RelocateKvParams& params);
void relocate_kv(const RelocateKvParams& params);

}  // namespace shiftpoint
