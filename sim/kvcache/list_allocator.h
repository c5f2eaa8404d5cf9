// What the list allocators have in common: the free list, free groups and the draft's snapshot. A
// policy says only where freed slots go and what is tried before an allocation fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/core/types.h"
#include "sim/kvcache/slot_allocator.h"

namespace shiftpoint {

class ListAllocator : public SlotAllocator {
 public:
  explicit ListAllocator(std::int64_t size);

  bool allocate(std::int64_t n, std::vector<Slot>& out) final;
  void free(std::span<const Slot> slots) final;
  std::int64_t available() const final;
  void begin_free_group() final;
  void end_free_group() final;
  void backup() final;
  void restore() final;
  std::vector<Slot> free_list() const final;
  AllocatorStats stats() const final { return stats_; }

 protected:
  // The live part of the free list is slots[head..]: taking from the head is one addition.
  struct Lists {
    std::vector<Slot> slots;
    std::size_t head = 0;
    std::vector<Slot> staged;

    std::span<const Slot> free() const { return std::span(slots).subspan(head); }
  };

  // Never called between backup() and restore().
  virtual void put_back(std::span<const Slot> freed, Lists& lists) = 0;

  // Called when the free list is shorter than an allocation and slots are staged: returns the lists
  // to go on with, and counts its work in `stats`. Must not change `lists`, which may be the ones
  // that a restore() reinstates.
  virtual Lists refill(const Lists& lists, AllocatorStats& stats) const = 0;

 private:
  struct Snapshot {
    std::size_t head = 0;
    std::int64_t allocated_slots = 0;
    std::optional<Lists> lists;  // set only once a refill has replaced them
  };

  Lists lists_;
  AllocatorStats stats_;
  bool in_group_ = false;
  std::vector<Slot> deferred_;
  std::optional<Snapshot> snapshot_;
};

}  // namespace shiftpoint
