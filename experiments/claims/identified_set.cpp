#include "experiments/claims/identified_set.h"

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "sim/core/error.h"

namespace shiftpoint {
namespace {

// normal . (a in ms, b in ms per 1000 tokens) <= bound
struct HalfPlane {
  Eigen::Vector2d normal;
  double bound = 0;
};

void check_interval(const Interval& x, const char* what) {
  SIM_CHECK(x.low > 0 && x.low <= x.high && std::isfinite(x.high), what);
}

void check_points(const std::vector<Throughput>& points) {
  SIM_CHECK(!points.empty() && points.size() <= kMostPoints, "throughputs: too few or too many");
  double before = 0;
  for (const Throughput& p : points) {
    check_interval(p.tokens_per_s, "throughput not above 0");
    SIM_CHECK(p.context_tokens > before && std::isfinite(p.context_tokens),
              "contexts must ascend from above 0");
    before = p.context_tokens;
  }
}

double step_ms_per_accepted(double tokens_per_s) {
  return 1e3 / tokens_per_s;
}

std::vector<HalfPlane> conditions(const std::vector<Throughput>& points, const Interval& acceptance,
                                  AcceptanceCurve curve) {
  std::vector<HalfPlane> planes = {{{-1, 0}, 0}, {{0, -1}, 0}};
  for (const Throughput& p : points) {
    const double k = p.context_tokens / 1e3;
    planes.push_back({{1, k}, acceptance.high * step_ms_per_accepted(p.tokens_per_s.low)});
    planes.push_back({{-1, -k}, -acceptance.low * step_ms_per_accepted(p.tokens_per_s.high)});
  }
  if (curve == AcceptanceCurve::kArbitrary) return planes;
  // L(i) can be as large as r_high(i) step(i) and L(j) as small as r_low(j) step(j). A curve with
  // L(i) >= L(j) exists when that holds for every ordered pair (intervals on a line).
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < points.size(); ++j) {
      if (i == j || (curve == AcceptanceCurve::kNonIncreasing && i > j)) continue;
      const double high = points[i].tokens_per_s.high;
      const double low = points[j].tokens_per_s.low;
      planes.push_back(
          {{low - high, (low * points[j].context_tokens - high * points[i].context_tokens) / 1e3},
           0});
    }
  }
  return planes;
}

std::vector<Eigen::Vector2d> vertices(const std::vector<HalfPlane>& planes) {
  std::vector<Eigen::Vector2d> found;
  for (std::size_t i = 0; i < planes.size(); ++i) {
    for (std::size_t j = i + 1; j < planes.size(); ++j) {
      Eigen::Matrix2d lines;
      lines << planes[i].normal.transpose(), planes[j].normal.transpose();
      const double scale = planes[i].normal.norm() * planes[j].normal.norm();
      if (std::abs(lines.determinant()) < 1e-12 * scale) continue;
      const Eigen::Vector2d corner =
          lines.inverse() * Eigen::Vector2d(planes[i].bound, planes[j].bound);
      bool inside = true;
      for (const HalfPlane& plane : planes) {
        const double slack = 1e-9 * (plane.normal.norm() * corner.norm() + std::abs(plane.bound));
        if (plane.normal.dot(corner) > plane.bound + slack) inside = false;
      }
      if (inside) found.push_back(corner.cwiseMax(0.0));
    }
  }
  return found;
}

}  // namespace

ShareSet linear_share_set(const std::vector<Throughput>& points, const Interval& acceptance,
                          AcceptanceCurve curve) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  check_points(points);
  check_interval(acceptance, "acceptance length not above 0");
  ShareSet set;
  set.share.assign(points.size(), {kInfinity, -kInfinity});
  set.context_free_ms = {kInfinity, -kInfinity};
  for (const Eigen::Vector2d& corner : vertices(conditions(points, acceptance, curve))) {
    set.feasible = true;
    set.context_free_ms = {std::min(set.context_free_ms.low, corner.x()),
                           std::max(set.context_free_ms.high, corner.x())};
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double share = corner.x() / (corner.x() + corner.y() * points[i].context_tokens / 1e3);
      set.share[i] = {std::min(set.share[i].low, share), std::max(set.share[i].high, share)};
    }
  }
  return set;
}

std::vector<double> any_attention_max_share(const std::vector<Throughput>& points,
                                            const Interval& acceptance, AcceptanceCurve curve) {
  check_points(points);
  check_interval(acceptance, "acceptance length not above 0");
  std::vector<double> most;
  for (const Throughput& p : points) {
    double ratio = p.tokens_per_s.high / points.front().tokens_per_s.low;
    if (curve != AcceptanceCurve::kConstant) ratio *= acceptance.high / acceptance.low;
    most.push_back(std::min(1.0, ratio));
  }
  most.front() = 1;
  return most;
}

AttentionFloor attention_floor(const std::vector<Throughput>& points, const Interval& acceptance,
                               std::size_t at) {
  check_points(points);
  check_interval(acceptance, "acceptance length not above 0");
  SIM_CHECK(at < points.size(), "no such point");
  const auto step_low_ms = [&](std::size_t i) {
    return acceptance.low * step_ms_per_accepted(points[i].tokens_per_s.high);
  };
  const auto step_high_ms = [&](std::size_t i) {
    return acceptance.high * step_ms_per_accepted(points[i].tokens_per_s.low);
  };
  AttentionFloor floor;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i != at)
      floor.any_shape_ms = std::max(floor.any_shape_ms, step_low_ms(at) - step_high_ms(i));
    for (std::size_t j = std::max(i + 1, at); j < points.size(); ++j) {
      const double slope_ms = (step_low_ms(j) - step_high_ms(i)) /
                              (points[j].context_tokens - points[i].context_tokens);
      floor.concave_ms = std::max(floor.concave_ms, slope_ms * points[at].context_tokens);
    }
  }
  floor.concave_ms = std::max(floor.concave_ms, floor.any_shape_ms);
  return floor;
}

std::vector<Chord> constant_acceptance_chords(const std::vector<Throughput>& points) {
  check_points(points);
  std::vector<Chord> chords;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      const double from = points[i].context_tokens;
      const double to = points[j].context_tokens;
      const Interval first = exactly(1e3) / points[i].tokens_per_s;
      const Interval last = exactly(1e3) / points[j].tokens_per_s;
      Chord chord{from, to, {}};
      chord.intercept_ms = {(to * first.low - from * last.high) / (to - from),
                            (to * first.high - from * last.low) / (to - from)};
      chords.push_back(chord);
    }
  }
  return chords;
}

double concave_max_context_free_ms(const std::vector<Throughput>& points) {
  double least = std::numeric_limits<double>::infinity();
  for (const Chord& chord : constant_acceptance_chords(points)) {
    least = std::min(least, chord.intercept_ms.high);
  }
  return least;
}

double least_acceptance_ratio(const Throughput& from, const Throughput& to, double at_tokens) {
  check_points({from, to});
  return from.tokens_per_s.low * (at_tokens + from.context_tokens) /
         (to.tokens_per_s.high * (at_tokens + to.context_tokens));
}

RatioShare kernel_ratio_share(const Throughput& fast_from, const Throughput& fast_to,
                              const Throughput& slow_from, const Throughput& slow_to,
                              double at_tokens) {
  check_points({fast_from, fast_to});
  check_points({slow_from, slow_to});
  const Interval near = fast_from.tokens_per_s / slow_from.tokens_per_s;
  const Interval far = fast_to.tokens_per_s / slow_to.tokens_per_s;
  const double span = fast_to.context_tokens / fast_from.context_tokens;
  RatioShare result;
  if (near.low <= 1) return result;  // not faster at the shorter context: the model says nothing
  const double low = std::max(1.0, (far.low - 1) / (near.high - 1));
  const double high = std::min(span, (far.high - 1) / (near.low - 1));
  if (low > high) return result;
  result.feasible = true;
  // x = to (Q - 1) / (span - Q), increasing in Q.
  const auto share = [&](double q) {
    const double constant = fast_to.context_tokens * (q - 1);
    return constant / (constant + at_tokens * (span - q));
  };
  result.share = {share(low), share(high)};
  return result;
}

}  // namespace shiftpoint
