// Comparison of a kernel's output with the oracle. NaN or infinity where the oracle is finite never
// passes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/reference/verify_attention_reference.h"

namespace shiftpoint {

struct CompareLimits {
  double relative_l2 = 3e-3;          // over all compared rows together
  double row_cosine_distance = 2e-5;  // of the worst row
  double lse_absolute = 1e-4;
  double lse_per_magnitude = 5e-7;  // 4 units of float32 rounding of the largest score's terms
};

struct CompareResult {
  bool ok = false;
  double relative_l2 = 0, worst_cosine_distance = 0, worst_lse_error = 0;
  std::int64_t rows = 0;
  std::string detail;  // first failure; empty when ok
};

// The oracle's rows of some query tokens: computed once a case, compared with many runs.
struct ReferenceTokens {
  struct Token {
    int request = 0, q_token = 0;
    std::vector<ReferenceRow> heads;
  };
  std::vector<Token> tokens;
  int q_tokens = 0;
};

// All query tokens, or `max_tokens` of them sampled evenly. Uses all processors.
ReferenceTokens compute_reference(const VerifyAttentionParams& host, int max_tokens);

// `out` packed bf16 [batch, q_tokens, heads, 512]; `lse` packed, or empty.
CompareResult compare_with_reference(const ReferenceTokens& reference,
                                     const std::vector<std::uint16_t>& out,
                                     const std::vector<float>& lse,
                                     const CompareLimits& limits = {});

}  // namespace shiftpoint
