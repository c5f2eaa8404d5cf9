// Hands out slots of the KV pool (page size 1). Slots are 1..size; 0 is reserved for padding.
// Contract: order is observable behaviour, lists are never treated as sets. allocate() fails
// without taking anything (a merge of staged slots that it did first stays done). A slot may be
// freed only while it is held: the pool checks this, the allocator does not.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/types.h"

namespace shiftpoint {

struct AllocatorStats {
  std::int64_t allocated_slots = 0;
  std::int64_t freed_slots = 0;
  std::int64_t sorts = 0;
  std::int64_t sorted_slots = 0;
};

class SlotAllocator {
 public:
  virtual ~SlotAllocator() = default;

  // Appends n slots to `out`, in the order in which the engine would use them. False: not enough.
  virtual bool allocate(std::int64_t n, std::vector<Slot>& out) = 0;

  virtual void free(std::span<const Slot> slots) = 0;

  // Slots that allocate() could hand out now (staged ones included, those of an open group not).
  virtual std::int64_t available() const = 0;

  // Between begin and end, frees are deferred and then done in one call. Not nestable (throws).
  virtual void begin_free_group() = 0;
  virtual void end_free_group() = 0;

  // Remembers / reinstates the lists ("borrowed" slots of a draft). A free in between would be lost
  // and throws. Borrowed slots do not count as allocated: allocated - freed = held; but a sort that
  // they caused is undone with the lists and counts as work.
  virtual void backup() = 0;
  virtual void restore() = 0;

  // Free slots in list order (head first), then staged ones: for tests and metrics.
  virtual std::vector<Slot> free_list() const = 0;

  virtual AllocatorStats stats() const = 0;
};

struct AllocatorKind {
  const char* name;
  const char* help;
  std::unique_ptr<SlotAllocator> (*make)(std::int64_t size);
};

// The registry: one line an allocator (registry.cpp).
const std::vector<AllocatorKind>& allocator_kinds();
std::string allocator_names();  // "fifo|need-sort|..."

// Throws UserError naming the known ones.
std::unique_ptr<SlotAllocator> make_allocator(std::string_view name, std::int64_t size);

}  // namespace shiftpoint
