#include "sim/core/random.h"

// Random123 1.14 refuses architectures that it does not list, wasm among them; nothing in philox.h
// depends on the answer, so a listed portable one stands in.
#if defined(__wasm__) && !defined(__riscv)
#include <cstdint>
#define __riscv 1
#define SHIFTPOINT_UNDEF_RISCV
#endif
#include <Random123/philox.h>
#ifdef SHIFTPOINT_UNDEF_RISCV
#undef __riscv
#endif

namespace shiftpoint {

RandomBlock random_block(std::uint64_t seed, Stream stream, std::uint32_t a, std::uint32_t b,
                         std::uint32_t c, std::uint32_t d) {
  const auto low = static_cast<std::uint32_t>(seed);
  const auto high = static_cast<std::uint32_t>(seed >> 32);
  // The key has 64 bits: the seed's low word, and its high word mixed with the stream number
  // (odd multiplier: distinct streams give distinct keys for every seed).
  const r123::Philox4x32::key_type key = {
      {low, high ^ (static_cast<std::uint32_t>(stream) * 0x9E3779B9U)}};
  const r123::Philox4x32::ctr_type counter = {{a, b, c, d}};
  r123::Philox4x32 generator;
  const auto words = generator(counter, key);
  return {words[0], words[1], words[2], words[3]};
}

}  // namespace shiftpoint
