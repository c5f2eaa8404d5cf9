// Units of the simulated world. Time is integer nanoseconds on one simulated clock; sizes are
// bytes.
#pragma once

#include <cmath>
#include <cstdint>

#include "sim/core/error.h"

namespace shiftpoint {

using Nanos = std::int64_t;  // simulated time or duration, ns
using Slot = std::int32_t;   // index of one token's row in the KV pool; 0 is reserved for padding

inline constexpr Nanos kNanosPerMicro = 1'000;
inline constexpr Nanos kNanosPerMilli = 1'000'000;
inline constexpr Nanos kNanosPerSecond = 1'000'000'000;

// Longest duration that one part of a layer may take: 11.6 days. Any sum over layers, ranks and
// collectives of a step then fits 64 bits.
inline constexpr double kLongestPartUs = 1e12;

// Rounds a non-negative duration in microseconds to whole nanoseconds (half away from zero). Throws
// UserError for what is not a number or longer than kLongestPartUs.
inline Nanos nanos_from_us(double us) {
  if (!(us <= kLongestPartUs)) {
    throw_bad_input({}, "", "one part of a step takes more than 11 days",
                    "rates of [hardware] that such a step can be priced with");
  }
  return std::llround(us * 1e3);
}

inline double ms_from_nanos(Nanos ns) {
  return static_cast<double>(ns) * 1e-6;
}
inline double s_from_nanos(Nanos ns) {
  return static_cast<double>(ns) * 1e-9;
}

}  // namespace shiftpoint
