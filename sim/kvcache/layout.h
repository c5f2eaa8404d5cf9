// How scattered a list of slots is. A run is a maximal stretch of consecutive slots (s, s+1, s+2,
// ...).
#pragma once

#include <cstdint>
#include <span>

#include "sim/core/types.h"

namespace shiftpoint {

struct Layout {
  std::int64_t slots = 0;
  std::int64_t runs = 0;  // 1 + number of i with s[i+1] != s[i] + 1; 0 for an empty list
  std::int64_t span = 0;  // max - min + 1; 0 for an empty list

  double mean_run_slots() const {
    return runs > 0 ? static_cast<double>(slots) / static_cast<double>(runs) : 0;
  }
  // (slots - runs) / (slots - 1): 1 contiguous, 0 fully scattered; 1 for lists of at most one slot.
  double adjacency() const {
    return slots > 1 ? static_cast<double>(slots - runs) / static_cast<double>(slots - 1) : 1;
  }
  double span_ratio() const {
    return slots > 0 ? static_cast<double>(span) / static_cast<double>(slots) : 0;
  }
};

Layout measure_layout(std::span<const Slot> slots);

}  // namespace shiftpoint
