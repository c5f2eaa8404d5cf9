#include "sim/kvcache/list_allocator.h"

#include <numeric>
#include <string>
#include <utility>

#include "sim/core/error.h"

namespace shiftpoint {

ListAllocator::ListAllocator(std::int64_t size) {
  lists_.slots.resize(static_cast<std::size_t>(size));
  std::iota(lists_.slots.begin(), lists_.slots.end(), Slot{1});
}

bool ListAllocator::allocate(std::int64_t n, std::vector<Slot>& out) {
  SIM_CHECK(n >= 0, "allocation of " + std::to_string(n) + " slots");
  const auto wanted = static_cast<std::size_t>(n);
  if (wanted > lists_.free().size() && !lists_.staged.empty()) {
    Lists refilled = refill(lists_, stats_);
    if (snapshot_ && !snapshot_->lists) {
      lists_.head = snapshot_->head;
      snapshot_->lists = std::move(lists_);
    }
    lists_ = std::move(refilled);
  }
  const std::span<const Slot> free = lists_.free();
  if (wanted > free.size()) return false;
  out.insert(out.end(), free.begin(), free.begin() + n);
  lists_.head += wanted;
  stats_.allocated_slots += n;
  return true;
}

void ListAllocator::free(std::span<const Slot> slots) {
  if (slots.empty()) return;
  SIM_CHECK(!snapshot_, "a free between backup and restore would be lost");
  if (in_group_) {
    deferred_.insert(deferred_.end(), slots.begin(), slots.end());
    return;
  }
  stats_.freed_slots += static_cast<std::int64_t>(slots.size());
  put_back(slots, lists_);
  // Drop the used-up front once it outweighs the rest: moves at most one slot for each one taken.
  if (lists_.head > lists_.free().size()) {
    lists_.slots.erase(lists_.slots.begin(),
                       lists_.slots.begin() + static_cast<std::ptrdiff_t>(lists_.head));
    lists_.head = 0;
  }
}

std::int64_t ListAllocator::available() const {
  return static_cast<std::int64_t>(lists_.free().size() + lists_.staged.size());
}

void ListAllocator::begin_free_group() {
  SIM_CHECK(!in_group_, "free groups cannot be nested");
  in_group_ = true;
}

void ListAllocator::end_free_group() {
  SIM_CHECK(in_group_, "end of a free group that was not begun");
  in_group_ = false;
  free(deferred_);
  deferred_.clear();
}

void ListAllocator::backup() {
  SIM_CHECK(!snapshot_, "second backup without a restore");
  snapshot_ = Snapshot{lists_.head, stats_.allocated_slots, std::nullopt};
}

void ListAllocator::restore() {
  SIM_CHECK(snapshot_, "restore without a backup");
  if (snapshot_->lists) {
    lists_ = std::move(*snapshot_->lists);
  } else {
    lists_.head = snapshot_->head;
  }
  // Borrowed slots do not count as allocated, so that allocated - freed = held; sorts were done.
  stats_.allocated_slots = snapshot_->allocated_slots;
  snapshot_.reset();
}

std::vector<Slot> ListAllocator::free_list() const {
  const std::span<const Slot> free = lists_.free();
  std::vector<Slot> all(free.begin(), free.end());
  all.insert(all.end(), lists_.staged.begin(), lists_.staged.end());
  return all;
}

}  // namespace shiftpoint
