// What the pool must refuse, with the message that names the culprit.
#include <memory>
#include <string>
#include <vector>

#include "sim/core/error.h"
#include "sim/kvcache/kv_pool.h"
#include "sim/test_support/catch.h"

using namespace shiftpoint;

using Catch::Matchers::ContainsSubstring;

namespace {

using Ids = std::vector<std::int64_t>;

// Hands out the slots that the test lists, one allocation after the other, and loses what it is
// told to lose: stands for an allocator with a mistake.
class ScriptedAllocator final : public SlotAllocator {
 public:
  ScriptedAllocator(std::int64_t available, std::vector<Slot> handed_out, std::vector<Slot> listed)
      : available_(available), handed_out_(std::move(handed_out)), listed_(std::move(listed)) {}

  bool allocate(std::int64_t n, std::vector<Slot>& out) override {
    for (; n > 0; --n) out.push_back(handed_out_.at(next_++));
    return true;
  }
  void free(std::span<const Slot> slots) override {
    calls += "free";
    for (const Slot slot : slots) calls += " " + std::to_string(slot);
    calls += "; ";
  }
  std::int64_t available() const override { return available_; }
  void begin_free_group() override { calls += "begin; "; }
  void end_free_group() override { calls += "end; "; }
  void backup() override {}
  void restore() override {}
  std::vector<Slot> free_list() const override { return listed_; }
  AllocatorStats stats() const override { return {}; }

  std::string calls;  // frees and groups, in order

 private:
  std::int64_t available_;
  std::vector<Slot> handed_out_, listed_;
  std::size_t next_ = 0;
};

KvPool pool_of(std::vector<Slot> handed_out, std::vector<Slot> listed = {}) {
  return KvPool(std::make_unique<ScriptedAllocator>(4, std::move(handed_out), std::move(listed)),
                4);
}

KvPool fifo_pool(std::int64_t slots) {
  return KvPool(make_allocator("fifo", slots), slots);
}

}  // namespace

TEST_CASE("a pool needs an allocator of its own size") {
  CHECK_THROWS_AS(KvPool(make_allocator("fifo", 8), 9), InvariantError);
}

TEST_CASE("rejected slots are freed in one call, finished requests in one group") {
  auto made = std::make_unique<ScriptedAllocator>(9, std::vector<Slot>{1, 2, 3, 4, 5, 6, 7, 8},
                                                  std::vector<Slot>{});
  const std::string& calls = made->calls;
  KvPool pool(std::move(made), 9);
  REQUIRE(pool.append(0, 1));
  REQUIRE(pool.append(1, 1));
  REQUIRE(pool.begin_verify(Ids{1, 0}, 3));  // request 1: 3 4 5, request 0: 6 7 8
  pool.end_verify(Ids{1, 2});
  CHECK(calls == "free 4 5 8; ");
  pool.release(Ids{0, 1});
  CHECK(calls == "free 4 5 8; begin; free 1 6 7; free 2 3; end; ");
}

TEST_CASE("slot 0, slots beyond the pool and slots in use are refused when handed out") {
  auto zero = pool_of({1, 0});
  CHECK_THROWS_WITH(zero.append(3, 2), ContainsSubstring("request 3 was handed slot 0"));
  auto beyond = pool_of({5});
  CHECK_THROWS_WITH(beyond.append(3, 1), ContainsSubstring("slots are 1..4"));
  auto twice = pool_of({2, 2});
  REQUIRE(twice.append(1, 1));
  CHECK_THROWS_WITH(twice.append(3, 1),
                    ContainsSubstring("handed slot 2, owned by request 1 and request 3"));
  auto draft = pool_of({1, 2, 1});
  REQUIRE(draft.append(0, 1));
  CHECK_THROWS_AS(draft.begin_verify(Ids{0}, 2), InvariantError);
}

TEST_CASE("conservation names the first slot that is lost or has two owners") {
  auto good = pool_of({3}, {1, 4, 2});
  REQUIRE(good.append(0, 1));
  // The lists are right, but this allocator still counts 4 free slots.
  CHECK_THROWS_WITH(good.check_conservation(), ContainsSubstring("4 free + 1 held"));
  auto lost = pool_of({3}, {1, 4});
  REQUIRE(lost.append(0, 1));
  CHECK_THROWS_WITH(lost.check_conservation(), ContainsSubstring("slot 2, owned by nobody"));
  auto shared = pool_of({3}, {1, 2, 3, 4});
  REQUIRE(shared.append(6, 1));
  CHECK_THROWS_WITH(shared.check_conservation(),
                    ContainsSubstring("slot 3, owned by the free list and request 6"));
  auto listed_twice = pool_of({}, {2, 1, 2, 3});
  CHECK_THROWS_WITH(listed_twice.check_conservation(),
                    ContainsSubstring("slot 2, owned by the free list and the free list"));
  auto zero = pool_of({}, {1, 2, 0, 3, 4});
  CHECK_THROWS_WITH(zero.check_conservation(), ContainsSubstring("slot 0 is free"));
}

TEST_CASE("freeing what is not held is refused") {
  auto pool = fifo_pool(8);
  CHECK_THROWS_WITH(pool.release(Ids{0}),
                    ContainsSubstring("release of request 0, which holds nothing"));
  auto twice = fifo_pool(8);
  REQUIRE(twice.append(2, 3));
  twice.release(Ids{2});
  CHECK_THROWS_WITH(twice.release(Ids{2}),
                    ContainsSubstring("release of request 2, which holds nothing"));
  auto same_call = fifo_pool(8);
  REQUIRE(same_call.append(2, 3));
  CHECK_THROWS_AS(same_call.release(Ids{2, 2}), InvariantError);
}

TEST_CASE("verify steps are begun and ended in order, once a request") {
  auto pool = fifo_pool(40);
  REQUIRE(pool.append(0, 2));
  REQUIRE(pool.append(1, 2));
  CHECK_THROWS_WITH(pool.end_verify(Ids{}), ContainsSubstring("not begun"));
  CHECK_THROWS_WITH(pool.begin_verify(Ids{}, 4), ContainsSubstring("no requests"));
  CHECK_THROWS_WITH(pool.begin_verify(Ids{0}, 0), ContainsSubstring("0 tokens"));
  CHECK_THROWS_WITH(pool.begin_verify(Ids{5}, 4),
                    ContainsSubstring("verify of request 5, which holds nothing"));
  REQUIRE(pool.begin_verify(Ids{1, 0}, 4));
  CHECK_THROWS_WITH(pool.begin_verify(Ids{0}, 4), ContainsSubstring("second verify step"));
  CHECK_THROWS_AS(pool.append(2, 1), InvariantError);
  CHECK_THROWS_AS(pool.borrow(1), InvariantError);
  CHECK_THROWS_AS(pool.release(Ids{0}), InvariantError);
  CHECK_THROWS_WITH(pool.end_verify(Ids{1}), ContainsSubstring("1 counts for a verify step of 2"));
  pool.end_verify(Ids{4, 1});
  CHECK_THROWS_WITH(pool.append(1, 1), ContainsSubstring("after it has decoded"));
  pool.check_conservation();

  auto repeated = fifo_pool(40);
  REQUIRE(repeated.append(0, 2));
  CHECK_THROWS_WITH(repeated.begin_verify(Ids{0, 0}, 4),
                    ContainsSubstring("request 0 is twice in a verify step"));
}

TEST_CASE("a request keeps between one and all of its draft slots") {
  for (const std::int64_t kept : {-1, 0, 5}) {
    auto pool = fifo_pool(40);
    REQUIRE(pool.append(0, 2));
    REQUIRE(pool.begin_verify(Ids{0}, 4));
    CHECK_THROWS_WITH(pool.end_verify(Ids{kept}), ContainsSubstring("of 4 tokens"));
  }
}

TEST_CASE("request ids outside the table are refused") {
  auto pool = fifo_pool(8);
  CHECK_THROWS_AS(pool.append(-1, 1), InvariantError);
  CHECK_THROWS_AS(pool.append(std::int64_t{1} << 40, 1), InvariantError);
  CHECK_THROWS_AS(pool.append(0, -1), InvariantError);
  CHECK(pool.slots_of(-1).empty());
  CHECK(pool.slots_of(123456).empty());
}
