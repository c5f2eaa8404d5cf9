// Counter-based random draws: a value is a pure function of (seed, stream, a, b, c, d), so no
// component shifts another's draws, and two policies can be compared on the same draws. Generator:
// Philox4x32-10 (Salmon et al., SC'11) from Random123, included only in random.cpp.
#pragma once

#include <array>
#include <cstdint>

namespace shiftpoint {

// Who draws. Append only: the number is part of every result.
enum class Stream : std::uint32_t {
  kArrivals = 1,
  kLengths = 2,
  kAcceptance = 3,
  kRouting = 4,
};

using RandomBlock = std::array<std::uint32_t, 4>;

// Four independent 32-bit words. Key: (seed folded to 32 bits with the stream). Counter: the four
// coordinates, each taken modulo 2^32.
RandomBlock random_block(std::uint64_t seed, Stream stream, std::uint32_t a, std::uint32_t b,
                         std::uint32_t c, std::uint32_t d);

// Uniform in (0, 1): (word + 0.5) / 2^32, never 0 and never 1.
inline double unit_interval(std::uint32_t word) {
  return (static_cast<double>(word) + 0.5) * (1.0 / 4294967296.0);
}

}  // namespace shiftpoint
