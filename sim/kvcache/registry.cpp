#include <limits>

#include "sim/core/error.h"
#include "sim/core/option_table.h"
#include "sim/kvcache/slot_allocator.h"

namespace shiftpoint {

// Defined in <name>_allocator.cpp.
std::unique_ptr<SlotAllocator> make_fifo_allocator(std::int64_t size);
std::unique_ptr<SlotAllocator> make_need_sort_allocator(std::int64_t size);

const std::vector<AllocatorKind>& allocator_kinds() {
  static const std::vector<AllocatorKind> kinds = {
      {"fifo", "freed slots go to the tail of the list", make_fifo_allocator},
      {"need-sort", "freed slots are staged and sorted in when the list runs short (Tier 0)",
       make_need_sort_allocator},
  };
  return kinds;
}

std::string allocator_names() {
  return joined_names(allocator_kinds());
}

std::unique_ptr<SlotAllocator> make_allocator(std::string_view name, std::int64_t size) {
  // Slot is a 32-bit index, and slots are 1..size.
  constexpr std::int64_t kMostSlots = std::numeric_limits<Slot>::max() - 1;
  if (size < 1 || size > kMostSlots) {
    throw_bad_input({}, "kvcache.slots", "found a pool of " + std::to_string(size) + " slots",
                    "1 to " + std::to_string(kMostSlots));
  }
  for (const AllocatorKind& kind : allocator_kinds()) {
    if (name == kind.name) return kind.make(size);
  }
  throw_bad_input({}, "kvcache.allocator", "found '" + std::string(name) + "'", allocator_names());
}

}  // namespace shiftpoint
