// Both allocators against a model that keeps plain lists and does everything literally: whole-list
// copies for a backup, a sort of everything for a merge.
#include <algorithm>

#include "sim/core/random.h"
#include "sim/kvcache/slot_allocator.h"
#include "sim/test_support/catch.h"

using namespace shiftpoint;

namespace {

using Slots = std::vector<Slot>;

struct NaiveModel {
  bool need_sort = false;
  Slots free, staged;

  bool allocate(std::size_t n, Slots& out) {
    if (need_sort && n > free.size() && !staged.empty()) {
      free.insert(free.end(), staged.begin(), staged.end());
      std::sort(free.begin(), free.end());
      staged.clear();
    }
    if (n > free.size()) return false;
    for (std::size_t i = 0; i < n; ++i) {
      out.push_back(free.front());
      free.erase(free.begin());
    }
    return true;
  }
  void put_back(const Slots& slots) {
    Slots& list = need_sort ? staged : free;
    list.insert(list.end(), slots.begin(), slots.end());
  }
  Slots all() const {
    Slots both = free;
    both.insert(both.end(), staged.begin(), staged.end());
    return both;
  }
};

struct Churn {
  std::unique_ptr<SlotAllocator> real;
  NaiveModel model;
  Slots held;
  std::int64_t operations = 0, failures = 0, merging_borrows = 0;

  Churn(const AllocatorKind& kind, std::int64_t size) : real(kind.make(size)) {
    model.need_sort = std::string(kind.name) == "need-sort";
    for (Slot s = 1; s <= size; ++s) model.free.push_back(s);
  }

  void allocate(std::size_t n, Slots& taken) {
    Slots expected;
    Slots got;
    const bool should = model.allocate(n, expected);
    REQUIRE(real->allocate(static_cast<std::int64_t>(n), got) == should);
    REQUIRE(got == expected);
    failures += !should;
    taken.insert(taken.end(), got.begin(), got.end());
    ++operations;
  }

  // Takes `n` held slots out of the middle, in an order that depends on the draws.
  Slots pick(std::size_t n, std::uint32_t draw) {
    Slots picked;
    for (; n > 0 && !held.empty(); --n) {
      const std::size_t at = draw % held.size();
      picked.push_back(held[at]);
      held[at] = held.back();
      held.pop_back();
      draw = draw * 1664525U + 1013904223U;
    }
    return picked;
  }

  void free_some(std::size_t n, std::uint32_t draw, bool grouped) {
    const Slots first = pick(n, draw);
    const Slots second = grouped ? pick(n / 2, draw >> 8) : Slots{};
    if (grouped) real->begin_free_group();
    real->free(first);
    if (grouped) {
      real->free(second);
      REQUIRE(real->free_list() == model.all());  // deferred
      real->end_free_group();
    }
    model.put_back(first);
    model.put_back(second);
    ++operations;
  }

  void borrow(std::size_t n) {
    const NaiveModel before = model;
    const std::int64_t sorts = real->stats().sorts;
    Slots borrowed;
    real->backup();
    allocate(n, borrowed);
    allocate(1, borrowed);
    real->restore();
    model = before;
    merging_borrows += real->stats().sorts > sorts;
    ++operations;
  }
};

}  // namespace

TEST_CASE("allocators equal a naive list model over random operations") {
  for (const AllocatorKind& kind : allocator_kinds()) {
    constexpr std::uint32_t kSteps = 80000;
    constexpr std::int64_t kSize = 97;
    Churn churn(kind, kSize);
    for (std::uint32_t i = 0; i < kSteps; ++i) {
      const RandomBlock draw = random_block(11, Stream::kLengths, i, 0, 0, 0);
      const std::size_t n = draw[1] % 24;
      switch (draw[0] % 8) {
        case 0:
        case 1:
        case 2:
          churn.allocate(n, churn.held);
          break;
        case 3:
          churn.free_some(n, draw[2], true);
          break;
        case 4:
        case 5:
          churn.free_some(n, draw[2], false);
          break;
        default:
          churn.borrow(n);
          break;
      }
      REQUIRE(churn.real->free_list() == churn.model.all());
      REQUIRE(churn.real->available() + static_cast<std::int64_t>(churn.held.size()) == kSize);
      const AllocatorStats stats = churn.real->stats();
      REQUIRE(stats.allocated_slots - stats.freed_slots ==
              static_cast<std::int64_t>(churn.held.size()));
    }
    CHECK(churn.operations >= 100000);
    CHECK(churn.failures > 1000);  // the short pool is part of what is compared
    if (churn.model.need_sort) {
      CHECK(churn.merging_borrows > 1000);
    } else {
      CHECK(churn.real->stats().sorts == 0);
    }
  }
}
