#include "sim/core/det_math.h"

#include <bit>
#include <cstdint>
#include <limits>

namespace shiftpoint {
namespace {

// ln 2 split so that k * kLn2High is exact for |k| < 2^20 (the low 21 bits of the high part are 0).
constexpr double kLn2High = 6.93147180369123816490e-01;
constexpr double kLn2Low = 1.90821492927058770002e-10;
constexpr double kInvLn2 = 1.44269504088896338700e+00;

}  // namespace

double det_log(double x) {
  if (x == 0) return -std::numeric_limits<double>::infinity();
  if (!(x > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (x == std::numeric_limits<double>::infinity()) return x;
  // x = m * 2^k with m in [sqrt(1/2), sqrt(2)); subnormals are scaled up first.
  int k = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= 18014398509481984.0;  // 2^54
    k = -54;
  }
  auto bits = std::bit_cast<std::uint64_t>(x);
  k += static_cast<int>(bits >> 52) - 1023;
  bits = (bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL;
  double m = std::bit_cast<double>(bits);
  if (m > 1.41421356237309504880) {
    m *= 0.5;
    k += 1;
  }
  // log m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.1716: odd series to s^23.
  const double f = m - 1.0;
  const double s = f / (m + 1.0);
  const double z = s * s;
  double series = 0;
  for (int n = 23; n >= 3; n -= 2) series = (series + 1.0 / n) * z;
  // 2 s (1 + series), with 2 s = f - s f exactly enough: keeps the relative error near m = 1.
  const double log_m = f - s * (f - 2.0 * series);
  return k * kLn2High + (log_m + k * kLn2Low);
}

double det_exp(double x) {
  if (x != x) return x;
  if (x > 709.782712893383973096) return std::numeric_limits<double>::infinity();
  if (x < -745.133219101941108420) return 0;
  // x = k ln 2 + r, |r| <= ln2 / 2; e^r by a Taylor series of 14 terms (next term < 1e-17).
  const double scaled = x * kInvLn2;
  const int k = static_cast<int>(scaled + (scaled >= 0 ? 0.5 : -0.5));
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double term = 0;
  for (int n = 14; n >= 1; --n) term = (1.0 + term) * r / n;
  const double value = 1.0 + term;
  // Two factors, so that results in the subnormal range are reached without overflow of the
  // exponent.
  const int half = k / 2;
  const auto power = [](int e) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52);
  };
  return value * power(half) * power(k - half);
}

double det_pow(double base, double exponent) {
  if (exponent == 0) return 1;
  if (base == 0) return 0;
  return det_exp(exponent * det_log(base));
}

}  // namespace shiftpoint
