// Geometric acceptance: every draft is accepted with the same probability alpha, given that all
// before it were. A verify step of D nodes then emits 1 + alpha + ... + alpha^(D-1) tokens in the
// mean, (1 - alpha^D) / (1 - alpha).
#pragma once

#include <cstdint>
#include <vector>

namespace shiftpoint {

// Mean acceptance length (bonus included), 1 .. draft_tokens.
double geometric_length(double alpha, std::int64_t draft_tokens);

// The inverse: alpha in [0, 1] for a mean acceptance length in [1, draft_tokens]. A table solved by
// bisection at construction gives a start, four Newton steps finish: geometric_length(alpha(L)) is
// within 1e-12 * L of L, at the cost of 8 * draft_tokens multiply-adds.
class GeometricInverse {
 public:
  explicit GeometricInverse(std::int64_t draft_tokens);
  double alpha(double length) const;

 private:
  std::int64_t draft_tokens_;
  std::vector<double> table_;  // alpha at equal distances of 1 - 1/L, from 0 to 1 - 1/draft_tokens
};

}  // namespace shiftpoint
