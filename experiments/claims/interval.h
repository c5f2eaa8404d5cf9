// Closed intervals of positive numbers: a printed 39 means [38.5, 39.5]. The half-open end of
// rounding is treated as closed, which can only widen a set and so never invents a contradiction.
#pragma once

#include <algorithm>

namespace shiftpoint {

struct Interval {
  double low = 0;
  double high = 0;

  double middle() const { return (low + high) / 2; }
  bool contains(double x) const { return low <= x && x <= high; }
  bool overlaps(const Interval& other) const { return low <= other.high && other.low <= high; }
};

inline Interval exactly(double x) {
  return {x, x};
}
inline Interval around(double x, double half_width) {
  return {x - half_width, x + half_width};
}
inline Interval operator+(const Interval& a, const Interval& b) {
  return {a.low + b.low, a.high + b.high};
}
// Both operands non-negative; a divisor must not reach 0.
inline Interval operator*(const Interval& a, const Interval& b) {
  return {a.low * b.low, a.high * b.high};
}
inline Interval operator/(const Interval& a, const Interval& b) {
  return {a.low / b.high, a.high / b.low};
}
// The interval of max(x, y) with x in a and y in b; likewise min.
inline Interval interval_max(const Interval& a, const Interval& b) {
  return {std::max(a.low, b.low), std::max(a.high, b.high)};
}
inline Interval interval_min(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::min(a.high, b.high)};
}

}  // namespace shiftpoint
