#include "sim/speculation/geometric.h"

#include <algorithm>

namespace shiftpoint {
namespace {

constexpr std::size_t kIntervals = 256;
constexpr int kBisections = 60;  // halves [0, 1] to below the spacing of doubles
constexpr int kNewtonSteps =
    4;  // as many as 1024 nodes near their full length need; three do for 64

double bisect(double length, std::int64_t draft_tokens) {
  double low = 0, high = 1;
  for (int step = 0; step < kBisections; ++step) {
    const double middle = 0.5 * (low + high);
    (geometric_length(middle, draft_tokens) < length ? low : high) = middle;
  }
  return high;
}

}  // namespace

// Horner's scheme, not the quotient: that cancels near alpha = 1.
double geometric_length(double alpha, std::int64_t draft_tokens) {
  double sum = 1;
  for (std::int64_t i = 1; i < draft_tokens; ++i) sum = 1.0 + alpha * sum;
  return sum;
}

GeometricInverse::GeometricInverse(std::int64_t draft_tokens) : draft_tokens_(draft_tokens) {
  if (draft_tokens == 1) return;  // no drafts: alpha has no meaning
  // 1 - 1/L is alpha itself when draft_tokens is unlimited, so alpha is nearly straight over it.
  const double span = 1.0 - 1.0 / static_cast<double>(draft_tokens);
  for (std::size_t i = 0; i <= kIntervals; ++i) {
    const double t = span * static_cast<double>(i) / static_cast<double>(kIntervals);
    table_.push_back(bisect(1.0 / (1.0 - t), draft_tokens));
  }
}

double GeometricInverse::alpha(double length) const {
  if (length <= 1.0 || draft_tokens_ == 1) return 0;
  if (length >= static_cast<double>(draft_tokens_)) return 1;
  const double span = 1.0 - 1.0 / static_cast<double>(draft_tokens_);
  const double place = (1.0 - 1.0 / length) / span * static_cast<double>(kIntervals);
  const std::size_t i = std::min(static_cast<std::size_t>(place), kIntervals - 1);
  double alpha = table_[i] + (place - static_cast<double>(i)) * (table_[i + 1] - table_[i]);
  for (int step = 0; step < kNewtonSteps; ++step) {
    double value = 1, slope = 0;  // of the sum and its derivative, by Horner
    for (std::int64_t k = 1; k < draft_tokens_; ++k) {
      slope = value + alpha * slope;
      value = 1.0 + alpha * value;
    }
    alpha += (length - value) / slope;
  }
  return std::clamp(alpha, 0.0, 1.0);
}

}  // namespace shiftpoint
