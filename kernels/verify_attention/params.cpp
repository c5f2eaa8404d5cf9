#include "kernels/verify_attention.h"

namespace shiftpoint {

// Lives outside the CUDA library: the CPU oracle uses it too.
VerifyAttentionParams with_default_strides(VerifyAttentionParams params) {
  const auto fill = [](std::int64_t& stride, std::int64_t packed) {
    if (stride == 0) {
      stride = packed;
    }
  };
  fill(params.stride_q_head, kRowDims);
  fill(params.stride_q_token, params.heads * params.stride_q_head);
  fill(params.stride_q_batch, params.q_tokens * params.stride_q_token);
  fill(params.stride_pool_slot, kRowDims);
  fill(params.stride_out_head, kLatentDims);
  fill(params.stride_out_token, params.heads * params.stride_out_head);
  fill(params.stride_out_batch, params.q_tokens * params.stride_out_token);
  return params;
}

}  // namespace shiftpoint
