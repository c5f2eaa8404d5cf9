// The oracle: verify attention on the CPU in float64 over the bf16 inputs, written for clarity.
// Takes the parameter struct of the kernels with *host* pointers (out, lse, workspace, nsplit and
// stream are ignored) and follows its contract. One row at a time, so that a few rows of a long
// context can be checked without computing all of them.
#pragma once

#include <vector>

#include "kernels/verify_attention.h"

namespace shiftpoint {

struct ReferenceRow {
  std::vector<double> out;  // [512]
  double lse = 0;           // natural log; -inf where nothing is visible
  // Largest scale x sum |q_d k_d| over the visible tokens: what rounding errors of a float32 score
  // scale with.
  double score_magnitude = 0;
};

ReferenceRow reference_row(const VerifyAttentionParams& host, int request, int q_token, int head);

// All heads of one query token, which share the gathered KV rows.
std::vector<ReferenceRow> reference_token(const VerifyAttentionParams& host, int request,
                                          int q_token);

// Slots that a query token sees, prefix first, in list order; empty for a padded request.
std::vector<std::int64_t> visible_slots(const VerifyAttentionParams& host, int request,
                                        int q_token);

}  // namespace shiftpoint
