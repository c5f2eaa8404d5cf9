// Device-side reading of the inputs of verify_attention.h: one place for index width, the two index
// lists and the mask.
#pragma once

#include <cuda_bf16.h>

#include "kernels/verify_attention.h"
#include "kernels/verify_attention/split_plan.h"

namespace shiftpoint {

inline constexpr float kLog2E = 1.4426950408889634F;
inline constexpr float kLn2 = 0.6931471805599453F;

// Index lists may be 4 or 8 bytes wide; the value is widened before anybody multiplies it.
__device__ __forceinline__ std::int64_t load_index(const void* list, IndexType type,
                                                   std::int64_t position) {
  if (type == IndexType::kInt32) {
    return __ldg(static_cast<const std::int32_t*>(list) + position);
  }
  return __ldg(static_cast<const long long*>(list) + position);
}

struct RequestView {
  std::int64_t first_index = 0;  // of the prefix in kv_indices
  std::int64_t prefix = 0;
  std::int64_t first_draft = 0;  // in out_cache_loc
  std::int64_t tokens = 0;       // prefix + drafts; 0 for a padded request
  bool padded = false;
};

__device__ __forceinline__ RequestView view_request(const VerifyAttentionParams& p, int request) {
  RequestView view;
  view.first_draft = static_cast<std::int64_t>(request) * p.q_tokens;
  view.first_index = __ldg(p.kv_indptr + request);
  view.prefix = __ldg(p.kv_indptr + request + 1) - view.first_index;
  view.padded = load_index(p.out_cache_loc, p.index_type, view.first_draft) < 0;
  view.tokens = view.padded ? 0 : view.prefix + p.q_tokens;
  return view;
}

// Slot of token `token` (prefix first, then drafts).
__device__ __forceinline__ std::int64_t load_slot(const VerifyAttentionParams& p,
                                                  const RequestView& view, std::int64_t token) {
  return token < view.prefix
             ? load_index(p.kv_indices, p.index_type, view.first_index + token)
             : load_index(p.out_cache_loc, p.index_type, view.first_draft + token - view.prefix);
}

__device__ __forceinline__ const __nv_bfloat16* row_of_slot(const VerifyAttentionParams& p,
                                                            std::int64_t slot) {
  return static_cast<const __nv_bfloat16*>(p.pool) + slot * p.stride_pool_slot;
}

__device__ __forceinline__ const __nv_bfloat16* query_row(const VerifyAttentionParams& p,
                                                          int request, int q_token, int head) {
  return static_cast<const __nv_bfloat16*>(p.q) + request * p.stride_q_batch +
         q_token * p.stride_q_token + head * p.stride_q_head;
}

__device__ __forceinline__ __nv_bfloat16* output_row(const VerifyAttentionParams& p, int request,
                                                     int q_token, int head) {
  return static_cast<__nv_bfloat16*>(p.out) + request * p.stride_out_batch +
         q_token * p.stride_out_token + head * p.stride_out_head;
}

// Whether query token `q_token` sees token `token`, which must be below view.tokens.
__device__ __forceinline__ bool is_visible(const VerifyAttentionParams& p, const RequestView& view,
                                           int request, int q_token, std::int64_t token) {
  if (token < view.prefix) {
    return true;
  }
  const std::int64_t row = q_token * (view.prefix + p.q_tokens);
  return __ldg(p.custom_mask + __ldg(reinterpret_cast<const long long*>(p.mask_indptr) + request) +
               row + token) != 0;
}

}  // namespace shiftpoint
