// Device-side inputs for timing runs, whose pools are too large to build on the host.
#pragma once

#include <cstdint>

namespace shiftpoint {

// bf16 values of variance 1 (sum of four uniforms) from a counter-based hash of `seed`.
void fill_normal_bf16(void* target, std::int64_t elements, std::uint32_t seed);
// Random words.
void fill_random_words(void* target, std::int64_t words, std::uint32_t seed);

}  // namespace shiftpoint
