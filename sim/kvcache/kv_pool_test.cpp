#include "sim/kvcache/kv_pool.h"

#include "sim/core/error.h"
#include "sim/core/random.h"
#include "sim/test_support/catch.h"

using namespace shiftpoint;

namespace {

using Slots = std::vector<Slot>;
using Ids = std::vector<std::int64_t>;

Slots copy(std::span<const Slot> slots) {
  return Slots(slots.begin(), slots.end());
}

// The allocator stays visible, to see its list.
struct Watched {
  SlotAllocator* allocator;
  KvPool pool;

  Watched(const char* name, std::int64_t slots) : Watched(make_allocator(name, slots), slots) {}
  Watched(std::unique_ptr<SlotAllocator> made, std::int64_t slots)
      : allocator(made.get()), pool(std::move(made), slots) {}
};

constexpr std::int64_t kA = 0;
constexpr std::int64_t kB = 1;

// Prompts of 3, draft of 3 steps, verify of 4 tokens, A accepts 2 and B 0 drafts: kept 3 and 1.
void first_step_of_example(Watched& w) {
  REQUIRE(w.pool.append(kA, 3));
  REQUIRE(w.pool.append(kB, 3));
  CHECK(copy(w.pool.slots_of(kA)) == Slots{1, 2, 3});
  CHECK(copy(w.pool.slots_of(kB)) == Slots{4, 5, 6});
  const Slots before = w.allocator->free_list();
  CHECK(w.pool.borrow(6));
  CHECK(w.allocator->free_list() == before);
  CHECK(w.pool.available() == 14);
  REQUIRE(w.pool.begin_verify(Ids{kA, kB}, 4));
  CHECK(copy(w.pool.draft_slots()) == Slots{7, 8, 9, 10, 11, 12, 13, 14});
  CHECK(w.pool.counts().held == 14);
  w.pool.check_conservation();
  w.pool.end_verify(Ids{3, 1});
  CHECK(w.allocator->free_list() == Slots{15, 16, 17, 18, 19, 20, 10, 12, 13, 14});
  CHECK(copy(w.pool.slots_of(kA)) == Slots{1, 2, 3, 7, 8, 9});
  CHECK(copy(w.pool.slots_of(kB)) == Slots{4, 5, 6, 11});
  CHECK(w.pool.draft_slots().empty());
}

}  // namespace

TEST_CASE("speculative order, fifo: verify slots rotate through the list") {
  Watched w("fifo", 20);
  first_step_of_example(w);
  REQUIRE(w.pool.begin_verify(Ids{kA, kB}, 4));
  CHECK(copy(w.pool.draft_slots()) == Slots{15, 16, 17, 18, 19, 20, 10, 12});
  w.pool.end_verify(Ids{2, 4});
  CHECK(w.allocator->free_list() == Slots{13, 14, 17, 18});
  CHECK(copy(w.pool.slots_of(kA)) == Slots{1, 2, 3, 7, 8, 9, 15, 16});
  CHECK(copy(w.pool.slots_of(kB)) == Slots{4, 5, 6, 11, 19, 20, 10, 12});
  CHECK(w.pool.prompt_tokens_of(kA) == 3);
  CHECK(w.pool.stats().sorts == 0);
  w.pool.check_conservation();
}

TEST_CASE("speculative order, need-sort: the second verify merges") {
  Watched w("need-sort", 20);
  first_step_of_example(w);
  REQUIRE(w.pool.begin_verify(Ids{kA, kB}, 4));  // 8 wanted, 6 in the list: merge
  CHECK(copy(w.pool.draft_slots()) == Slots{10, 12, 13, 14, 15, 16, 17, 18});
  CHECK(w.pool.stats().sorts == 1);
  CHECK(w.pool.stats().sorted_slots == 10);
  w.pool.end_verify(Ids{2, 4});
  CHECK(w.allocator->free_list() == Slots{19, 20, 13, 14});  // free 19 20, staged 13 14
  CHECK(copy(w.pool.slots_of(kA)) == Slots{1, 2, 3, 7, 8, 9, 10, 12});
  CHECK(copy(w.pool.slots_of(kB)) == Slots{4, 5, 6, 11, 15, 16, 17, 18});
  w.pool.check_conservation();
}

TEST_CASE("release frees in batch order and empties the pool") {
  Watched w("fifo", 8);
  REQUIRE(w.pool.append(kA, 2));
  REQUIRE(w.pool.append(kB, 2));
  REQUIRE(w.pool.append(kA, 1));  // a second chunk of A's prompt
  CHECK(copy(w.pool.slots_of(kA)) == Slots{1, 2, 5});
  CHECK(w.pool.prompt_tokens_of(kA) == 3);
  w.pool.release(Ids{kB, kA});
  CHECK(w.allocator->free_list() == Slots{6, 7, 8, 3, 4, 1, 2, 5});
  CHECK(w.pool.counts().held == 0);
  CHECK(w.pool.counts().free == 8);
  CHECK(w.pool.slots_of(kA).empty());
  CHECK(w.pool.prompt_tokens_of(kA) == 0);
  w.pool.check_conservation();
  REQUIRE(w.pool.append(kA, 2));  // a retracted request starts again
  CHECK(copy(w.pool.slots_of(kA)) == Slots{6, 7});
}

TEST_CASE("a short pool changes nothing") {
  for (const AllocatorKind& kind : allocator_kinds()) {
    Watched w(kind.name, 6);
    REQUIRE(w.pool.append(kA, 4));
    CHECK_FALSE(w.pool.append(kB, 3));
    CHECK_FALSE(w.pool.append(kA, 3));
    CHECK_FALSE(w.pool.borrow(3));
    CHECK_FALSE(w.pool.begin_verify(Ids{kA}, 3));
    CHECK(w.pool.draft_slots().empty());
    CHECK(w.pool.slots_of(kA).size() == 4);
    CHECK(w.pool.slots_of(kB).empty());
    CHECK(w.pool.available() == 2);
    w.pool.check_conservation();
    REQUIRE(w.pool.begin_verify(Ids{kA}, 2));
    w.pool.end_verify(Ids{1});
    w.pool.check_conservation();
  }
}

TEST_CASE("decoding without speculation: batches of two or more have runs of exactly one slot") {
  for (const AllocatorKind& kind : allocator_kinds()) {
    for (const std::int64_t batch : {1, 2, 3, 8}) {
      Watched w(kind.name, 4000);
      Ids requests;
      for (std::int64_t r = 0; r < batch; ++r) {
        requests.push_back(r);
        REQUIRE(w.pool.append(r, 100));
      }
      const Ids kept(requests.size(), 1);
      for (int step = 0; step < 300; ++step) {
        REQUIRE(w.pool.begin_verify(requests, 1));
        w.pool.end_verify(kept);
      }
      for (const std::int64_t r : requests) {
        const auto prompt = static_cast<std::size_t>(w.pool.prompt_tokens_of(r));
        CHECK(prompt == 100);
        CHECK(measure_layout(w.pool.slots_of(r).first(prompt)).adjacency() == 1.0);
        const Layout decoded = measure_layout(w.pool.slots_of(r).subspan(prompt));
        CHECK(decoded.slots == 300);
        CHECK(decoded.mean_run_slots() == (batch == 1 ? 300.0 : 1.0));
        if (batch == 1) CHECK(measure_layout(w.pool.slots_of(r)).adjacency() == 1.0);
      }
    }
  }
}

TEST_CASE("one request that speculates: runs as long as what is kept of a step") {
  // Keeping 3 of 8 from a pristine fifo list skips 5 slots a step: after the prompt every run is
  // the 3 kept slots, as long as the list has not come round (prompt 10 + 8 x 40 < 400).
  Watched w("fifo", 400);
  REQUIRE(w.pool.append(kA, 10));
  for (int step = 0; step < 40; ++step) {
    REQUIRE(w.pool.begin_verify(Ids{kA}, 8));
    w.pool.end_verify(Ids{3});
  }
  CHECK(measure_layout(w.pool.slots_of(kA).subspan(10)).mean_run_slots() == 3.0);
}

namespace {

// One step of the same random churn, whatever the allocator: admission looks only at counts.
void churn_step(KvPool& pool, Ids& running, std::int64_t& next, std::uint32_t step) {
  const RandomBlock draw = random_block(5, Stream::kArrivals, step, 0, 0, 0);
  if (draw[0] % 4 == 0 && pool.append(next, 1 + draw[1] % 200)) running.push_back(next++);
  constexpr std::int64_t kDraftTokens = 5;
  if (running.empty()) return;
  pool.borrow(static_cast<std::int64_t>(running.size()) * 4);
  if (!pool.begin_verify(running, kDraftTokens)) {
    pool.release(Ids{running.back()});  // retract
    running.pop_back();
    return;
  }
  Ids kept;
  for (const std::int64_t r : running) {
    kept.push_back(
        1 + random_block(5, Stream::kAcceptance, static_cast<std::uint32_t>(r), step, 0, 0)[0] %
                kDraftTokens);
  }
  pool.end_verify(kept);
  Ids going;
  Ids ended;
  for (const std::int64_t r : running) {
    const bool ends =
        random_block(5, Stream::kLengths, static_cast<std::uint32_t>(r), step, 0, 0)[0] % 40 == 0;
    (ends ? ended : going).push_back(r);
  }
  pool.release(ended);
  running = going;
}

}  // namespace

TEST_CASE("both allocators give the same occupancy; only the slots differ") {
  Watched fifo("fifo", 3000);
  Watched sorting("need-sort", 3000);
  Ids fifo_running;
  Ids sorting_running;
  std::int64_t fifo_next = 0;
  std::int64_t sorting_next = 0;
  std::int64_t most_held = 0;
  for (std::uint32_t step = 0; step < 4000; ++step) {
    churn_step(fifo.pool, fifo_running, fifo_next, step);
    churn_step(sorting.pool, sorting_running, sorting_next, step);
    REQUIRE(fifo_running == sorting_running);
    REQUIRE(fifo.pool.counts().held == sorting.pool.counts().held);
    REQUIRE(fifo.pool.available() == sorting.pool.available());
    most_held = std::max(most_held, fifo.pool.counts().held);
    if (step % 50 == 0) {
      fifo.pool.check_conservation();
      sorting.pool.check_conservation();
    }
  }
  CHECK(most_held > 1500);
  CHECK(sorting.pool.stats().sorts > 10);
  CHECK(fifo.pool.stats().allocated_slots == sorting.pool.stats().allocated_slots);
  CHECK(fifo.pool.stats().freed_slots == sorting.pool.stats().freed_slots);
  std::int64_t fifo_runs = 0;
  std::int64_t sorting_runs = 0;
  REQUIRE_FALSE(fifo_running.empty());
  for (const std::int64_t r : fifo_running) {
    fifo_runs += measure_layout(fifo.pool.slots_of(r)).runs;
    sorting_runs += measure_layout(sorting.pool.slots_of(r)).runs;
  }
  CHECK(sorting_runs < fifo_runs);
  fifo.pool.release(fifo_running);
  sorting.pool.release(sorting_running);
  CHECK(fifo.pool.counts().free == 3000);
  CHECK(sorting.pool.counts().free == 3000);
  fifo.pool.check_conservation();
  sorting.pool.check_conservation();
}
