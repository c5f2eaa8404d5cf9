#include "sim/kvcache/layout.h"

#include <algorithm>

namespace shiftpoint {

Layout measure_layout(std::span<const Slot> slots) {
  Layout layout;
  if (slots.empty()) return layout;
  Slot lowest = slots[0];
  Slot highest = slots[0];
  std::int64_t breaks = 0;
  for (std::size_t i = 1; i < slots.size(); ++i) {
    breaks += slots[i] != slots[i - 1] + 1;
    lowest = std::min(lowest, slots[i]);
    highest = std::max(highest, slots[i]);
  }
  layout.slots = static_cast<std::int64_t>(slots.size());
  layout.runs = 1 + breaks;
  layout.span = std::int64_t{highest} - lowest + 1;
  return layout;
}

}  // namespace shiftpoint
