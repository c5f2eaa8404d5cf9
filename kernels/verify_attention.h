// Verify attention of a multi-head latent attention (MLA) model: every query row of a request
// (draft tokens x heads) against the request's KV rows, which lie scattered over a pool (page size
// 1). KV row: 512 latent + 64 rope values in bf16; the value is the latent part.
//
// Contract, for every variant:
//  * query token i of request b sees the whole prefix kv_indices[kv_indptr[b] .. kv_indptr[b+1])
//    and draft token j exactly if custom_mask of b has a non-zero byte at row i, column prefix + j;
//  * a request whose first draft slot is negative is padding: its output is zero, its LSE -inf, and
//    nothing else of it is read. A row that sees nothing gives the same;
//  * safe in a CUDA graph: grids depend only on this struct's sizes; lengths, indices and masks are
//    read on the device at each launch; no allocation, no host synchronisation. Call prepare() once
//    before a capture;
//  * deterministic: the same inputs and nsplit give the same bits.
// Free of CUDA headers, so that plain C++ can include it. Failures throw KernelError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace shiftpoint {

inline constexpr int kLatentDims = 512;
inline constexpr int kRopeDims = 64;
inline constexpr int kRowDims = kLatentDims + kRopeDims;

struct KernelError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class IndexType { kInt32, kInt64 };

struct VerifyAttentionParams {
  // Sizes, fixed when a graph is captured.
  int batch = 0;
  int q_tokens = 0;  // draft tokens of a request, root included
  int heads = 0;     // of this rank
  int nsplit = 1;    // KV splits a request; variants that do not split ignore it
  float softmax_scale = 0;
  // Longest prefix that the captured bucket admits; 0: unknown. A hint for choosing a schedule, so
  // it must not depend on live lengths; any value gives a correct result.
  std::int64_t max_context_tokens = 0;
  IndexType index_type = IndexType::kInt64;  // of kv_indices and out_cache_loc

  // Device pointers. Rows of q and pool start at multiples of 16 bytes.
  const void* q = nullptr;                  // bf16 [batch, q_tokens, heads, 576]
  const void* pool = nullptr;               // bf16 [slots, 576]
  const std::int32_t* kv_indptr = nullptr;  // [batch + 1]
  const void* kv_indices = nullptr;         // index_type [kv_indptr[batch]], slots of the prefixes
  const void* out_cache_loc = nullptr;      // index_type [batch, q_tokens], slots of the drafts
  const std::uint8_t* custom_mask = nullptr;  // per request [q_tokens, prefix + q_tokens]
  const std::int64_t* mask_indptr = nullptr;  // [batch], start of a request's mask in bytes
  void* out = nullptr;                        // bf16 [batch, q_tokens, heads, 512]
  float* lse = nullptr;                       // [batch, q_tokens, heads] natural log; may be null
  void* workspace = nullptr;  // workspace_bytes(), 256-byte aligned, contents ignored
  std::size_t workspace_bytes = 0;

  // Strides in elements; 0 means packed.
  std::int64_t stride_q_batch = 0, stride_q_token = 0, stride_q_head = 0;
  std::int64_t stride_pool_slot = 0;
  std::int64_t stride_out_batch = 0, stride_out_token = 0, stride_out_head = 0;

  void* stream = nullptr;  // cudaStream_t
};

// Copy with packed strides filled in.
VerifyAttentionParams with_default_strides(VerifyAttentionParams params);

struct DeviceLimits {
  int sm_count = 0;
  int compute_capability = 0;  // 90 for 9.0
  std::size_t shared_bytes_per_block = 0;
};
DeviceLimits current_device_limits();

struct Support {
  bool ok = false;
  std::string reason;  // why not; empty when ok
};

// All pure functions of the sizes, strides and alignment of `params`; none reads device memory.
Support supported(std::string_view variant, const VerifyAttentionParams& params,
                  const DeviceLimits& device);
std::size_t workspace_bytes(std::string_view variant, const VerifyAttentionParams& params);

// Split count for a captured bucket: never from live lengths (they are dummies at capture).
// Uses params.max_context_tokens.
int suggested_nsplit(std::string_view variant, const VerifyAttentionParams& params,
                     const DeviceLimits& device);

// Raises shared-memory limits and loads the kernels; not allowed during a capture.
void prepare(std::string_view variant);

void launch(std::string_view variant, const VerifyAttentionParams& params);

struct VariantInfo {
  const char* name;
  const char* help;
  std::size_t dynamic_shared_bytes;  // of its largest kernel
};
std::vector<VariantInfo> verify_attention_variants();

}  // namespace shiftpoint
