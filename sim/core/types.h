// Units of the simulated world. Time is integer nanoseconds on one simulated clock; sizes are
// bytes.
#pragma once

#include <cmath>
#include <cstdint>

namespace shiftpoint {

using Nanos = std::int64_t;  // simulated time or duration, ns
using Slot = std::int32_t;   // index of one token's row in the KV pool; 0 is reserved for padding

inline constexpr Nanos kNanosPerMicro = 1'000;
inline constexpr Nanos kNanosPerMilli = 1'000'000;
inline constexpr Nanos kNanosPerSecond = 1'000'000'000;

// Rounds a non-negative duration in microseconds to whole nanoseconds (half away from zero).
inline Nanos nanos_from_us(double us) {
  return std::llround(us * 1e3);
}

inline double ms_from_nanos(Nanos ns) {
  return static_cast<double>(ns) * 1e-6;
}
inline double s_from_nanos(Nanos ns) {
  return static_cast<double>(ns) * 1e-9;
}

}  // namespace shiftpoint
