// Worked examples: the public semantics of a popular engine's page-size-1 allocator (its
// token-to-KV pool allocator with and without need_sort), worked by hand, lists head to tail.
#include "sim/kvcache/slot_allocator.h"

#include "sim/core/error.h"
#include "sim/test_support/catch.h"

using namespace shiftpoint;

namespace {

using Slots = std::vector<Slot>;

// Stands for "None" in the examples' tables; no allocation returns slot -1.
const Slots kNone = {-1};

Slots take(SlotAllocator& allocator, std::int64_t n) {
  Slots out;
  if (allocator.allocate(n, out)) return out;
  CHECK(out.empty());
  return kNone;
}

void give(SlotAllocator& allocator, const Slots& slots) {
  allocator.free(slots);
}

}  // namespace

TEST_CASE("fifo: frees go to the tail") {  // N = 8
  const auto allocator = make_allocator("fifo", 8);
  CHECK(allocator->free_list() == Slots{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(take(*allocator, 3) == Slots{1, 2, 3});
  CHECK(allocator->free_list() == Slots{4, 5, 6, 7, 8});
  CHECK(allocator->available() == 5);
  CHECK(take(*allocator, 2) == Slots{4, 5});
  CHECK(allocator->free_list() == Slots{6, 7, 8});
  give(*allocator, {2, 1});
  CHECK(allocator->free_list() == Slots{6, 7, 8, 2, 1});
  CHECK(allocator->available() == 5);
  CHECK(take(*allocator, 4) == Slots{6, 7, 8, 2});
  CHECK(allocator->free_list() == Slots{1});
  CHECK(take(*allocator, 2) == kNone);
  CHECK(allocator->free_list() == Slots{1});
  CHECK(allocator->available() == 1);
  CHECK(allocator->stats().allocated_slots == 9);
  CHECK(allocator->stats().freed_slots == 2);
  CHECK(allocator->stats().sorts == 0);
}

TEST_CASE("need-sort: staged slots are merged only when an allocation would fail") {  // N = 8
  const auto allocator = make_allocator("need-sort", 8);
  CHECK(take(*allocator, 3) == Slots{1, 2, 3});
  CHECK(take(*allocator, 2) == Slots{4, 5});
  CHECK(allocator->free_list() == Slots{6, 7, 8});
  give(*allocator, {2, 1});
  CHECK(allocator->free_list() == Slots{6, 7, 8, 2, 1});  // free 6 7 8, staged 2 1
  CHECK(allocator->available() == 5);
  CHECK(take(*allocator, 3) == Slots{6, 7, 8});  // the list sufficed: no sort
  CHECK(allocator->stats().sorts == 0);
  CHECK(allocator->free_list() == Slots{2, 1});
  CHECK(allocator->available() == 2);
  give(*allocator, {5});
  CHECK(allocator->free_list() == Slots{2, 1, 5});
  CHECK(take(*allocator, 2) == Slots{1, 2});  // merge first
  CHECK(allocator->stats().sorts == 1);
  CHECK(allocator->stats().sorted_slots == 3);
  CHECK(allocator->free_list() == Slots{5});
  give(*allocator, {7});
  CHECK(allocator->free_list() == Slots{5, 7});  // free 5, staged 7
  CHECK(allocator->available() == 2);
  CHECK(take(*allocator, 5) == kNone);  // fails, but has merged
  CHECK(allocator->stats().sorts == 2);
  CHECK(allocator->stats().sorted_slots == 5);
  CHECK(take(*allocator, 5) == kNone);  // nothing staged: no third sort
  CHECK(allocator->stats().sorts == 2);
  CHECK(take(*allocator, 2) == Slots{5, 7});
  CHECK(allocator->available() == 0);
}

TEST_CASE("slots of an open free group come back only at its end") {
  for (const AllocatorKind& kind : allocator_kinds()) {
    const auto allocator = kind.make(4);
    CHECK(take(*allocator, 4) == Slots{1, 2, 3, 4});
    allocator->begin_free_group();
    give(*allocator, {1, 2});
    CHECK(allocator->available() == 0);
    CHECK(take(*allocator, 1) == kNone);
    CHECK(allocator->stats().freed_slots == 0);
    allocator->end_free_group();
    CHECK(allocator->available() == 2);
    CHECK(allocator->stats().freed_slots == 2);
    CHECK(take(*allocator, 1) == Slots{1});
  }
}

TEST_CASE("a group's frees become one free in call order") {
  const auto allocator = make_allocator("fifo", 6);
  take(*allocator, 5);
  allocator->begin_free_group();
  give(*allocator, {4});
  give(*allocator, {2, 5});
  give(*allocator, {});
  allocator->end_free_group();
  CHECK(allocator->free_list() == Slots{6, 4, 2, 5});
}

TEST_CASE("a borrow leaves list, order and counts as they were, a merge included") {
  const auto fifo = make_allocator("fifo", 8);
  take(*fifo, 5);
  give(*fifo, {3, 1});
  const Slots before = fifo->free_list();
  fifo->backup();
  CHECK(take(*fifo, 4) == Slots{6, 7, 8, 3});
  CHECK(take(*fifo, 2) == kNone);
  fifo->restore();
  CHECK(fifo->free_list() == before);
  CHECK(fifo->stats().allocated_slots == 5);

  const auto sorting = make_allocator("need-sort", 8);
  take(*sorting, 5);
  give(*sorting, {3, 1});
  sorting->backup();
  CHECK(take(*sorting, 2) == Slots{6, 7});
  CHECK(take(*sorting, 2) == Slots{1, 3});  // merges 8 with 3 1
  CHECK(take(*sorting, 1) == Slots{8});
  sorting->restore();
  CHECK(sorting->free_list() == Slots{6, 7, 8, 3, 1});  // the snapshot is from before the merge
  CHECK(sorting->available() == 5);
  CHECK(sorting->stats().sorts == 1);             // the work was done
  CHECK(take(*sorting, 4) == Slots{1, 3, 6, 7});  // and is done again: 3 1 are staged again
  CHECK(sorting->stats().sorts == 2);
}

TEST_CASE("allocators refuse what would lose slots") {
  for (const AllocatorKind& kind : allocator_kinds()) {
    const auto allocator = kind.make(4);
    Slots out;
    CHECK_THROWS_AS(allocator->allocate(-1, out), InvariantError);
    CHECK_THROWS_AS(allocator->restore(), InvariantError);
    CHECK_THROWS_AS(allocator->end_free_group(), InvariantError);
    take(*allocator, 2);
    allocator->backup();
    CHECK_THROWS_AS(allocator->backup(), InvariantError);
    CHECK_THROWS_AS(give(*allocator, {1}), InvariantError);  // would be lost by the restore
    give(*allocator, {});                                    // nothing to lose
    allocator->restore();
    allocator->begin_free_group();
    CHECK_THROWS_AS(allocator->begin_free_group(), InvariantError);
    give(*allocator, {1});
    allocator->backup();
    CHECK_THROWS_AS(allocator->end_free_group(), InvariantError);
  }
}

TEST_CASE("the empty allocation succeeds and takes nothing") {
  for (const AllocatorKind& kind : allocator_kinds()) {
    const auto allocator = kind.make(1);
    CHECK(take(*allocator, 0).empty());
    CHECK(take(*allocator, 1) == Slots{1});
    CHECK(take(*allocator, 0).empty());
    CHECK(allocator->available() == 0);
  }
}

TEST_CASE("unknown allocators and impossible sizes name what is accepted") {
  CHECK(allocator_names() == "fifo|need-sort");
  CHECK_THROWS_WITH(make_allocator("lifo", 8),
                    "'kvcache.allocator': found 'lifo'; accepted: fifo|need-sort");
  CHECK_THROWS_WITH(make_allocator("fifo", 0),
                    "'kvcache.slots': found a pool of 0 slots; accepted: 1 to 2147483646");
  CHECK_THROWS_AS(make_allocator("fifo", std::int64_t{1} << 31), UserError);
}
