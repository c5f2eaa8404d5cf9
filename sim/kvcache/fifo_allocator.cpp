// The default of a popular engine: slots are taken from the head of the free list and freed ones
// appended to its tail, so the order of frees returns one rotation later.
#include "sim/core/error.h"
#include "sim/kvcache/list_allocator.h"

namespace shiftpoint {
namespace {

class FifoAllocator final : public ListAllocator {
 public:
  using ListAllocator::ListAllocator;

 protected:
  void put_back(std::span<const Slot> freed, Lists& lists) override {
    lists.slots.insert(lists.slots.end(), freed.begin(), freed.end());
  }

  Lists refill(const Lists& lists, AllocatorStats&) const override {
    SIM_CHECK(lists.staged.empty(), "fifo stages no slots");
    return lists;
  }
};

}  // namespace

std::unique_ptr<SlotAllocator> make_fifo_allocator(std::int64_t size) {
  return std::make_unique<FifoAllocator>(size);
}

}  // namespace shiftpoint
