// What three published throughputs say about the part of a step that does not grow with context,
// when the acceptance length is unknown: sets, not estimates.
//
//   step(c) = L(c) / r(c) = a + f(c)
//
// r(c): published tokens/s, known up to its rounding. L(c): acceptance length, unknown, within
// [1, nodes of a verify step]. a >= 0: everything independent of context (experts, collectives,
// dense layers, drafter, host). f(c) >= 0: attention. The share of interest is s(c) = a / step(c).
//
// Three families of attention, each wider than the one before:
//   linear         f(c) = b c, b >= 0
//   concave        f concave with f(0) >= 0: a floor, or a time per token that falls with context
//   non-decreasing nothing but "more context is never faster"
//
// Every function requires 1 to kMostPoints points at ascending contexts above 0, rates and lengths
// above 0 and finite, and throws InvariantError otherwise: readers refuse such input before.
#pragma once

#include <cstddef>
#include <vector>

#include "experiments/claims/interval.h"

namespace shiftpoint {

// The polygon below has about points^2 sides, and all pairs of them are tried.
inline constexpr std::size_t kMostPoints = 16;

struct Throughput {
  double context_tokens = 0;
  Interval tokens_per_s;
};

enum class AcceptanceCurve { kConstant, kNonIncreasing, kArbitrary };

struct ShareSet {
  bool feasible = false;
  std::vector<Interval> share;  // by point; meaningless when infeasible
  Interval context_free_ms;     // a
};

// Linear attention, exact: for given r the conditions on (a, b) are half-planes (1/r <= step <=
// L_max/r; products r * step ordered as the curve demands), rounding included, so the set is a
// polygon, and a share, linear-fractional and monotone in a/b, takes its extremes at vertices.
// Points ascend in context.
ShareSet linear_share_set(const std::vector<Throughput>& points, const Interval& acceptance,
                          AcceptanceCurve curve);

// Non-decreasing attention: a <= step at the shortest context, so s(c) <= step(first) / step(c).
// Upper bound of the share by point; the lower bound is 0.
std::vector<double> any_attention_max_share(const std::vector<Throughput>& points,
                                            const Interval& acceptance, AcceptanceCurve curve);

// The least time that attention takes at points[at], for every acceptance length in the range at
// every context, however the lengths differ. No partition of the step enters.
//
// step(c) lies in [step_low, step_high](c) = [L_min / r_high(c), L_max / r_low(c)]. For i before j,
// a cancels in f(c_j) - f(c_i) = step(c_j) - step(c_i) >= m (c_j - c_i), with the least slope
//   m = (step_low(j) - step_high(i)) / (c_j - c_i).
// Linear: b >= m, so f(c) >= m c at every c. Concave with f(0) >= 0: the mean slope of f from 0
// falls with context, and over [0, c_j] it is no less than over [c_i, c_j], so for c <= c_j
//   (f(c) - f(0)) / c >= (f(c_j) - f(0)) / c_j >= (f(c_j) - f(c_i)) / (c_j - c_i) >= m,
// hence f(c) >= f(0) + m c >= m c: the same bound, reached by f(c) = m c. `concave_ms` is the
// largest of these over the pairs with c_j >= c.
// Any shape, f >= 0 only: a <= step_high(i) for each i, so f(c) >= step_low(c) - step_high(i).
struct AttentionFloor {
  double concave_ms = 0;  // attention linear or concave in context
  double any_shape_ms = 0;
};
AttentionFloor attention_floor(const std::vector<Throughput>& points, const Interval& acceptance,
                               std::size_t at);

// The line through two points at constant acceptance, for each accepted token (times divided by L).
struct Chord {
  double from_tokens = 0, to_tokens = 0;
  Interval intercept_ms;  // at context 0
};
std::vector<Chord> constant_acceptance_chords(const std::vector<Throughput>& points);

// Concave attention at constant acceptance: every chord, continued to context 0, lies above
// a + f(0), so a / L is at most the smallest intercept (negative: impossible).
double concave_max_context_free_ms(const std::vector<Throughput>& points);

// Linear attention: s(at) >= 1/2 means a >= b * at, hence L(from) / L(to) =
// r(from) (a + b from) / (r(to) (a + b to)) >= r(from) (at + from) / (r(to) (at + to)): the least
// fall of acceptance from the first to the last point that "more than half at `at`" requires.
double least_acceptance_ratio(const Throughput& from, const Throughput& to, double at_tokens);

// Two kernels on the same model, requests and contexts share a and L(c), so the ratio rho(c) of
// their throughputs cancels L. With linear attention in both,
//   Q = (rho(to) - 1) / (rho(from) - 1) = (to / from) (x + from) / (x + to),  x = a / b,
// lies in [1, to/from], and the faster kernel's share at c is x / (x + c).
struct RatioShare {
  bool feasible = false;
  Interval share;
};
RatioShare kernel_ratio_share(const Throughput& fast_from, const Throughput& fast_to,
                              const Throughput& slow_from, const Throughput& slow_to,
                              double at_tokens);

}  // namespace shiftpoint
