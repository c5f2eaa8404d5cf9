// Tier 0: freed slots are staged, and merged into the free list in ascending order only when an
// allocation would otherwise fail. The merge stays even if the allocation then fails.
#include <bit>
#include <cstdint>

#include "sim/core/error.h"
#include "sim/kvcache/list_allocator.h"

namespace shiftpoint {
namespace {

class NeedSortAllocator final : public ListAllocator {
 public:
  using ListAllocator::ListAllocator;

 protected:
  void put_back(std::span<const Slot> freed, Lists& lists) override {
    lists.staged.insert(lists.staged.end(), freed.begin(), freed.end());
  }

  // Sorts by marking slots in a bitmap and reading it in order: linear, and several times faster
  // than comparing, as a merge usually takes in a large part of the pool.
  Lists refill(const Lists& lists, AllocatorStats& stats) const override {
    const std::size_t count = lists.free().size() + lists.staged.size();
    std::vector<std::uint64_t> marks;
    for (const std::span<const Slot> slots : {lists.free(), std::span<const Slot>(lists.staged)}) {
      for (const Slot slot : slots) {
        const auto word = static_cast<std::size_t>(slot >> 6);
        if (word >= marks.size()) marks.resize(word + 1);
        marks[word] |= std::uint64_t{1} << (slot & 63);
      }
    }
    Lists merged;
    merged.slots.reserve(count);
    for (std::size_t word = 0; word < marks.size(); ++word) {
      for (std::uint64_t left = marks[word]; left != 0; left &= left - 1) {
        merged.slots.push_back(static_cast<Slot>(word * 64) + std::countr_zero(left));
      }
    }
    SIM_CHECK(merged.slots.size() == count, "a slot was freed twice");
    ++stats.sorts;
    stats.sorted_slots += static_cast<std::int64_t>(count);
    return merged;
  }
};

}  // namespace

std::unique_ptr<SlotAllocator> make_need_sort_allocator(std::int64_t size) {
  return std::make_unique<NeedSortAllocator>(size);
}

}  // namespace shiftpoint
