#include "sim/kvcache/layout.h"

#include <numeric>
#include <vector>

#include "sim/test_support/catch.h"

using namespace shiftpoint;

TEST_CASE("layout of the smallest lists") {
  const Layout none = measure_layout({});
  CHECK(none.slots == 0);
  CHECK(none.runs == 0);
  CHECK(none.span == 0);
  CHECK(none.mean_run_slots() == 0.0);
  CHECK(none.adjacency() == 1.0);
  CHECK(none.span_ratio() == 0.0);

  const std::vector<Slot> one = {7};
  const Layout single = measure_layout(one);
  CHECK(single.runs == 1);
  CHECK(single.span == 1);
  CHECK(single.mean_run_slots() == 1.0);
  CHECK(single.adjacency() == 1.0);
  CHECK(single.span_ratio() == 1.0);
}

TEST_CASE("layout closed forms: n slots at stride d") {
  for (const int n : {2, 3, 10, 257}) {
    for (const int d : {-3, -1, 1, 2, 9}) {
      std::vector<Slot> slots;
      for (int i = 0; i < n; ++i) slots.push_back(10000 + i * d);
      const Layout layout = measure_layout(slots);
      CHECK(layout.slots == n);
      // Only ascending neighbours make a run; a descending list is fully scattered.
      CHECK(layout.runs == (d == 1 ? 1 : n));
      CHECK(layout.span == std::int64_t{n - 1} * std::abs(d) + 1);
      CHECK(layout.adjacency() == (d == 1 ? 1.0 : 0.0));
      CHECK(layout.mean_run_slots() == (d == 1 ? n : 1.0));
    }
  }
}

TEST_CASE("layout of a list worked by hand") {
  // Runs: 4 5 6 | 9 | 8 | 7 | 20 21: 5 runs of 8 slots, from 4 to 21.
  const std::vector<Slot> slots = {4, 5, 6, 9, 8, 7, 20, 21};
  const Layout layout = measure_layout(slots);
  CHECK(layout.slots == 8);
  CHECK(layout.runs == 5);
  CHECK(layout.span == 18);
  CHECK(layout.mean_run_slots() == 8.0 / 5.0);
  CHECK(layout.adjacency() == 3.0 / 7.0);
  CHECK(layout.span_ratio() == 18.0 / 8.0);
}

TEST_CASE("layout reaches the ends of the slot range without overflow") {
  const std::vector<Slot> slots = {1, 2147483646};
  CHECK(measure_layout(slots).span == 2147483646);
  CHECK(measure_layout(slots).runs == 2);
}
