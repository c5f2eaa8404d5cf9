#include "experiments/claims/identified_set.h"

#include <algorithm>

#include "sim/core/error.h"
#include "sim/test_support/catch.h"

using namespace shiftpoint;

namespace {

const std::vector<Throughput> kFinal = {
    {4096, {116.45, 116.55}}, {16384, {29.05, 29.15}}, {65536, {9.15, 9.25}}};
const std::vector<Throughput> kBaseline = {
    {4096, {38.5, 39.5}}, {16384, {6.75, 6.85}}, {65536, {1.45, 1.55}}};
const Interval kAcceptance{1, 9};

// Whether some acceptance curve explains the points when the steps are `step_ms`: picks lengths
// one after another, largest first, rather than comparing pairs.
bool explained(const std::vector<Throughput>& points, const std::vector<double>& step_ms,
               AcceptanceCurve curve) {
  double cap = kAcceptance.high;
  double constant_low = kAcceptance.low, constant_high = kAcceptance.high;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double low = points[i].tokens_per_s.low * step_ms[i] / 1e3;
    const double high = points[i].tokens_per_s.high * step_ms[i] / 1e3;
    constant_low = std::max(constant_low, low);
    constant_high = std::min(constant_high, high);
    const double limit = curve == AcceptanceCurve::kNonIncreasing ? cap : kAcceptance.high;
    const double chosen = std::min(high, limit);
    if (chosen < std::max(low, kAcceptance.low)) return false;
    cap = chosen;
  }
  return curve != AcceptanceCurve::kConstant || constant_low <= constant_high;
}

struct Extremes {
  bool any = false;
  std::vector<Interval> share;
};

// Every share at the first context in steps of 1/2000, every step there in steps of 0.3 %.
Extremes brute_force(const std::vector<Throughput>& points, AcceptanceCurve curve) {
  Extremes found;
  found.share.assign(points.size(), {2, -1});
  for (int s = 0; s <= 2000; ++s) {
    const double share = s / 2000.0;
    for (double first_ms = 1e3 / points[0].tokens_per_s.high;
         first_ms < 9e3 / points[0].tokens_per_s.low; first_ms *= 1.003) {
      const double a = share * first_ms;
      const double b = (first_ms - a) / points[0].context_tokens;
      std::vector<double> steps;
      for (const Throughput& p : points) steps.push_back(a + b * p.context_tokens);
      if (!explained(points, steps, curve)) continue;
      found.any = true;
      for (std::size_t i = 0; i < points.size(); ++i) {
        found.share[i].low = std::min(found.share[i].low, a / steps[i]);
        found.share[i].high = std::max(found.share[i].high, a / steps[i]);
      }
    }
  }
  return found;
}

}  // namespace

TEST_CASE("identified set: vertices agree with a brute-force grid") {
  const std::vector<Throughput> falling_slowly = {
      {4096, {99, 101}}, {16384, {79, 81}}, {65536, {39, 41}}};
  const std::vector<Throughput> two = {{1000, {49.5, 50.5}}, {32000, {9.95, 10.05}}};
  for (const auto& points : {kFinal, kBaseline, falling_slowly, two}) {
    for (const AcceptanceCurve curve :
         {AcceptanceCurve::kArbitrary, AcceptanceCurve::kNonIncreasing,
          AcceptanceCurve::kConstant}) {
      CAPTURE(points[0].tokens_per_s.low, static_cast<int>(curve));
      const ShareSet exact = linear_share_set(points, kAcceptance, curve);
      const Extremes grid = brute_force(points, curve);
      REQUIRE(exact.feasible == grid.any);
      if (!exact.feasible) continue;
      for (std::size_t i = 0; i < points.size(); ++i) {
        CAPTURE(i);
        // The grid lies inside the set and comes within its own spacing of the edges.
        CHECK(exact.share[i].low <= grid.share[i].low + 1e-9);
        CHECK(exact.share[i].high >= grid.share[i].high - 1e-9);
        CHECK(exact.share[i].low == Approx(grid.share[i].low).margin(0.006));
        CHECK(exact.share[i].high == Approx(grid.share[i].high).margin(0.006));
      }
    }
  }
}

TEST_CASE("identified set: the final kernel's edges by hand") {
  // Constant acceptance: 4k-16k needs a <= 0.0146 L, 16k-64k needs a >= 9.31 L: empty.
  REQUIRE_FALSE(linear_share_set(kFinal, kAcceptance, AcceptanceCurve::kConstant).feasible);
  // L(16k) >= L(64k): 29.15 (x + 16384) >= 9.15 (x + 65536), x = a/b >= 122060.8 / 20 = 6103.04;
  // shares x / (x + c) = 0.59839, 0.27140, 0.08519.
  const ShareSet falling = linear_share_set(kFinal, kAcceptance, AcceptanceCurve::kNonIncreasing);
  REQUIRE(falling.feasible);
  CHECK(falling.share[0].low == Approx(6103.04 / (6103.04 + 4096)).epsilon(1e-6));
  CHECK(falling.share[1].low == Approx(6103.04 / (6103.04 + 16384)).epsilon(1e-6));
  CHECK(falling.share[2].low == Approx(6103.04 / (6103.04 + 65536)).epsilon(1e-6));
  // Largest share: L(4k) = 9 and L(64k) = 1. Steps 9/116.45 = 77.286 ms and 1/9.25 = 108.108 ms;
  // a = (16 * 77.286 - 108.108) / 15 = 75.231 ms, share at 4k 0.97342, at 64k 0.69589.
  CHECK(falling.share[0].high == Approx(0.97342).epsilon(1e-4));
  CHECK(falling.share[2].high == Approx(0.69589).epsilon(1e-4));
  CHECK(falling.context_free_ms.high == Approx(75.231).epsilon(1e-4));
  // With any curve, a = 0 works: steps in 1:4:16 within [1/r, 9/r].
  const ShareSet any = linear_share_set(kFinal, kAcceptance, AcceptanceCurve::kArbitrary);
  CHECK(any.share[0].low == 0);
}

TEST_CASE("identified set: the least attention, by hand") {
  // Steps: at 4k at most 9000/116.45 = 77.2864 ms, at 64k at least 1000/9.25 = 108.1081. Slope
  // 30.8217 / 61.44 = 0.501656 ms a thousand tokens, times 4.096, 16.384, 65.536.
  const double concave_ms[] = {2.0548, 8.2191, 32.8765};
  // Of any shape: 34.31 ms at 16k is possible at 4k and at 64k too, so nothing is forced there.
  const double any_ms[] = {0, 0, 30.8217};
  for (std::size_t i = 0; i < 3; ++i) {
    const AttentionFloor floor = attention_floor(kFinal, kAcceptance, i);
    CHECK(floor.concave_ms == Approx(concave_ms[i]).margin(1e-4));
    CHECK(floor.any_shape_ms == Approx(any_ms[i]).margin(1e-4));
  }
}

TEST_CASE("identified set: a chord bounds no context behind its end") {
  // One token a step: steps of 10, 20 and 21 ms at 1k, 2k and 10k, so attention that saturates. The
  // first chord, 10 ms a thousand, would make 100 ms at 10k; the longest gives 11/9 * 10 = 12.222.
  const std::vector<Throughput> points = {
      {1000, exactly(100)}, {2000, exactly(50)}, {10000, exactly(1000.0 / 21)}};
  CHECK(attention_floor(points, {1, 1}, 0).concave_ms == Approx(10));
  CHECK(attention_floor(points, {1, 1}, 1).concave_ms == Approx(20));
  CHECK(attention_floor(points, {1, 1}, 2).concave_ms == Approx(110.0 / 9));
}

TEST_CASE("identified set: no concave curve of a grid has less attention, one has hardly more") {
  // f(0), then three slopes in ms a thousand tokens that do not rise; a in steps of 0.25 ms.
  const double slopes[] = {4, 2, 1, 0.75, 0.6, 0.51, 0.5, 0.4, 0.25, 0, -0.25};
  std::vector<double> least(3, 1e9);
  for (const double origin : {0.0, 1.0, 10.0, 40.0}) {
    for (const double s1 : slopes) {
      for (const double s2 : slopes) {
        for (const double s3 : slopes) {
          if (s2 > s1 || s3 > s2) continue;
          const double f1 = origin + s1 * 4.096;
          const double f2 = f1 + s2 * 12.288;
          const double f3 = f2 + s3 * 49.152;
          if (f1 < 0 || f2 < 0 || f3 < 0) continue;
          for (double a = 0; a < 80; a += 0.25) {
            if (!explained(kFinal, {a + f1, a + f2, a + f3}, AcceptanceCurve::kArbitrary)) continue;
            least = {std::min(least[0], f1), std::min(least[1], f2), std::min(least[2], f3)};
          }
        }
      }
    }
  }
  // The nearest curve of the grid, 0.51 ms a thousand from the origin, is 1.7 % above the bound.
  for (std::size_t i = 0; i < 3; ++i) {
    const AttentionFloor floor = attention_floor(kFinal, kAcceptance, i);
    CHECK(least[i] >= floor.concave_ms);
    CHECK(least[i] <= 1.02 * floor.concave_ms);
  }
}

TEST_CASE("identified set: convex attention escapes the bound at 16k and not at 64k") {
  // None up to 16k, 31 ms at 64k, a = 77.2 ms: acceptance lengths 8.99, 2.25, 1.00.
  CHECK(explained(kFinal, {77.2, 77.2, 108.2}, AcceptanceCurve::kNonIncreasing));
  CHECK(attention_floor(kFinal, kAcceptance, 1).any_shape_ms == 0);
  CHECK(attention_floor(kFinal, kAcceptance, 2).any_shape_ms <= 31);
  // With 30.8 ms at 64k instead no lengths explain it.
  CHECK_FALSE(explained(kFinal, {77.2, 77.2, 108.0}, AcceptanceCurve::kArbitrary));
}

TEST_CASE("identified set: input that would never end or divide by 0 is refused") {
  const std::vector<Throughput> zero = {{4096, {0, 1}}, {16384, {9, 10}}};
  const std::vector<Throughput> twice = {{4096, {9, 10}}, {4096, {8, 9}}};
  const std::vector<Throughput> many(kMostPoints + 1, {4096, {9, 10}});
  for (const auto& points : {zero, twice, many, std::vector<Throughput>{}}) {
    CAPTURE(points.size());
    CHECK_THROWS_AS(linear_share_set(points, kAcceptance, AcceptanceCurve::kConstant),
                    InvariantError);
    CHECK_THROWS_AS(any_attention_max_share(points, kAcceptance, AcceptanceCurve::kConstant),
                    InvariantError);
    CHECK_THROWS_AS(constant_acceptance_chords(points), InvariantError);
    CHECK_THROWS_AS(concave_max_context_free_ms(points), InvariantError);
    CHECK_THROWS_AS(attention_floor(points, kAcceptance, 0), InvariantError);
  }
  CHECK_THROWS_AS(linear_share_set(kFinal, {0, 9}, AcceptanceCurve::kConstant), InvariantError);
  CHECK_THROWS_AS(attention_floor(kFinal, kAcceptance, 3), InvariantError);
}

TEST_CASE("identified set: chords of constant acceptance") {
  // Published figures without rounding (1/116.5 = 8.5837, 1/29.1 = 34.364, 1/9.2 = 108.696 ms):
  // the line through 4k and 16k meets context 0 at (4 * 8.5837 - 34.364) / 3 = -0.0099 ms, that
  // through 4k and 64k at (16 * 8.5837 - 108.696) / 15 = 1.909, that through 16k and 64k at
  // (4 * 34.364 - 108.696) / 3 = 9.587.
  const auto chords = constant_acceptance_chords(
      {{4096, exactly(116.5)}, {16384, exactly(29.1)}, {65536, exactly(9.2)}});
  REQUIRE(chords.size() == 3);
  CHECK(chords[0].intercept_ms.low == Approx(-0.0099).margin(0.0005));
  CHECK(chords[1].intercept_ms.low == Approx(1.909).margin(0.001));
  CHECK(chords[2].intercept_ms.low == Approx(9.587).margin(0.001));
  // With rounding: (4/116.45 - 1/29.15) / 3 = 0.0147 ms.
  CHECK(concave_max_context_free_ms(kFinal) ==
        Approx(1e3 * (4 / 116.45 - 1 / 29.15) / 3).epsilon(1e-9));
  // Baseline 16k-64k: (4/6.75 - 1/1.55) / 3 = -17.5 ms, impossible.
  CHECK(concave_max_context_free_ms(kBaseline) ==
        Approx(1e3 * (4 / 6.75 - 1 / 1.55) / 3).epsilon(1e-9));
  CHECK(concave_max_context_free_ms(kBaseline) < 0);
}

TEST_CASE("identified set: attention that only does not fall with context") {
  // a <= step(4k): 29.15/116.45 = 25.03 % at 16k and 9.25/116.45 = 7.94 % at constant acceptance;
  // nine times that otherwise.
  const auto constant = any_attention_max_share(kFinal, kAcceptance, AcceptanceCurve::kConstant);
  CHECK(constant[0] == 1);
  CHECK(constant[1] == Approx(0.25032).epsilon(1e-4));
  CHECK(constant[2] == Approx(0.07943).epsilon(1e-3));
  const auto any = any_attention_max_share(kFinal, kAcceptance, AcceptanceCurve::kArbitrary);
  CHECK(any[1] == 1);
  CHECK(any[2] == Approx(9 * 9.25 / 116.45).epsilon(1e-9));
  // It is never below what linear attention allows.
  const ShareSet linear = linear_share_set(kFinal, kAcceptance, AcceptanceCurve::kNonIncreasing);
  for (std::size_t i = 0; i < 3; ++i) CHECK(any[i] >= linear.share[i].high);
}

TEST_CASE("identified set: least fall of acceptance for more than half") {
  // 116.45 (c + 4096) / (9.25 (c + 65536)): 1.4811, 3.1473, 6.6881.
  CHECK(least_acceptance_ratio(kFinal[0], kFinal[2], 4096) == Approx(1.48108).epsilon(1e-5));
  CHECK(least_acceptance_ratio(kFinal[0], kFinal[2], 16384) ==
        Approx(116.45 * 20480 / (9.25 * 81920)).epsilon(1e-9));
  CHECK(least_acceptance_ratio(kFinal[0], kFinal[2], 65536) ==
        Approx(116.45 * 69632 / (9.25 * 131072)).epsilon(1e-9));
}

TEST_CASE("identified set: a known truth lies in every set that admits its curve") {
  // a = 12 ms, b = 2 ms per 1000 tokens, L = 4, 2.5, 2: r = L / step.
  const double contexts[] = {4000, 16000, 64000};
  const double lengths[] = {4, 2.5, 2};
  std::vector<Throughput> fast, slow;
  for (int i = 0; i < 3; ++i) {
    fast.push_back({contexts[i], exactly(lengths[i] / (12e-3 + 2e-6 * contexts[i]))});
    slow.push_back({contexts[i], exactly(lengths[i] / (12e-3 + 7e-6 * contexts[i]))});
  }
  for (const AcceptanceCurve curve :
       {AcceptanceCurve::kArbitrary, AcceptanceCurve::kNonIncreasing}) {
    const ShareSet set = linear_share_set(fast, kAcceptance, curve);
    REQUIRE(set.feasible);
    // 12/20, 12/44, 12/140
    CHECK(set.share[0].contains(0.6));
    CHECK(set.share[1].contains(12.0 / 44));
    CHECK(set.share[2].contains(12.0 / 140));
  }
  // The ratio of two kernels finds it exactly, whatever the lengths were.
  for (const double at : contexts) {
    const RatioShare share = kernel_ratio_share(fast[0], fast[2], slow[0], slow[2], at);
    REQUIRE(share.feasible);
    CHECK(share.share.low == Approx(12 / (12 + 2e-3 * at)).epsilon(1e-9));
    CHECK(share.share.high == Approx(12 / (12 + 2e-3 * at)).epsilon(1e-9));
  }
}

TEST_CASE("identified set: ratios that no linear attention explains are infeasible") {
  const std::vector<Throughput> slow = {{4096, exactly(10)}, {65536, exactly(10)}};
  // Speed-up 2 near, 1.5 far: Q = 0.5 < 1.
  CHECK_FALSE(kernel_ratio_share({4096, exactly(20)}, {65536, exactly(15)}, slow[0], slow[1], 4096)
                  .feasible);
  // Speed-up 1.1 near, 3 far: Q = 20 > 16.
  CHECK_FALSE(kernel_ratio_share({4096, exactly(11)}, {65536, exactly(30)}, slow[0], slow[1], 4096)
                  .feasible);
  // Not faster at the shorter context.
  CHECK_FALSE(kernel_ratio_share({4096, exactly(9)}, {65536, exactly(30)}, slow[0], slow[1], 4096)
                  .feasible);
}
