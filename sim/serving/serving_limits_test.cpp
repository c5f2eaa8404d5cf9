// What the serving loop does at its limits: full pools, horizons, deployments that cannot work.
#include "sim/core/error.h"
#include "sim/serving/run_for_test.h"
#include "sim/serving/serving.h"
#include "sim/test_support/catch.h"

using namespace shiftpoint;
using namespace shiftpoint::test;

TEST_CASE("a request that can never fit is unservable, at once, and the others are served") {
  Deployment d = small();
  d.speculation.draft_tokens = 4;
  // Largest need of 60 + 20: 60 + 20 - 1 + 4 = 83 slots.
  d.kvcache.slots = 83;
  CHECK(run(d, closed_loop(1, 1, 60, 20)).result.requests[0].outcome == Outcome::kFinished);
  d.kvcache.slots = 82;
  Workload w = closed_loop(2, 2, 60, 20);
  w.requests[1].input_tokens = 10;
  const Run r = run(d, w);
  CHECK(r.result.requests[0].outcome == Outcome::kUnservable);
  CHECK(r.result.requests[0].end_ns == 0);
  CHECK(r.result.requests[1].outcome == Outcome::kFinished);
}

TEST_CASE(
    "two requests that do not fit together both finish, with a bounded number of retractions") {
  Deployment d = small();
  d.speculation.draft_tokens = 4;
  d.speculation.conditional = {0.0};
  d.serving.reserve_output_fraction = 0;  // admission trusts to luck
  // Alone each needs 60 + 40 - 1 + 4 = 103 slots; together they start with 128 and end needing 206.
  d.kvcache.slots = 150;
  for (const bool prefilled : {true, false}) {
    const Run r = run(d, closed_loop(2, 2, 60, 40, prefilled));
    CHECK(r.result.requests[0].outcome == Outcome::kFinished);
    CHECK(r.result.requests[1].outcome == Outcome::kFinished);
    // A retracted request comes back only when all of it fits: once each at most.
    CHECK(r.result.retractions == 1);
    CHECK(r.result.recomputed_tokens >= 60);
    for (const RequestResult& q : r.result.requests) {
      CHECK(q.queue_ns + q.prefill_ns + q.decode_ns + q.stall_ns == q.end_ns - q.arrival_ns);
    }
  }
}

TEST_CASE("a horizon stops the clock and what is open stays in flight") {
  Deployment d = small();
  d.serving.horizon_s = 0.05;
  Workload w = closed_loop(3, 3, 100, 2000);
  w.concurrency = 0;
  w.requests[2].arrival_ns = kNanosPerSecond;
  const Run r = run(d, w);
  CHECK(r.result.requests[0].outcome == Outcome::kInFlight);
  CHECK(r.result.requests[2].outcome == Outcome::kNotArrived);
  CHECK(r.result.end_ns >= 50 * kNanosPerMilli);
}

TEST_CASE("a horizon in idle time ends the clock there") {
  Deployment d = small();
  d.serving.horizon_s = 5;
  Workload w = closed_loop(2, 1, 50, 5);
  w.concurrency = 0;
  w.requests[1].arrival_ns = 1000 * kNanosPerSecond;
  const Run r = run(d, w);
  CHECK(r.result.end_ns == 5 * kNanosPerSecond);
  CHECK(r.result.requests[0].outcome == Outcome::kFinished);
  CHECK(r.result.requests[1].outcome == Outcome::kNotArrived);
}

TEST_CASE("a deployment that cannot work is refused by key before anything runs") {
  const auto field = [](const Deployment& d) {
    try {
      check_deployment(d);
    } catch (const BadValue& bad) {
      return bad.field;
    }
    return std::string();
  };
  CHECK(field(small()).empty());
  Deployment d = small();
  d.hardware.ranks = 3;
  CHECK(field(d) == "hardware.ranks");
  d = small();
  d.speculation.acceptance = "length-by-context";
  d.speculation.length_tokens = {30};
  CHECK(field(d) == "speculation.length_tokens");
  d = small();
  d.model.experts_per_token = 17;
  CHECK(field(d) == "model.experts_per_token");
  d = small();
  d.kvcache.slots = 0;
  d.hardware.memory_bytes = 1e9;
  CHECK(field(d) == "kvcache.slots");
}

TEST_CASE("a step too long for the clock is an error of the input, not of the program") {
  Deployment d = small();
  d.hardware.dram_read_gbps = 1e-15;
  CHECK_THROWS_AS(run(d, closed_loop(1, 1, 10, 2)), UserError);
}

TEST_CASE("capacity: bytes over bytes a token, and a clear message when nothing is left") {
  Deployment d;
  d.model.layers = 61;
  d.hardware.memory_bytes = 100e9;
  d.kvcache.memory_fraction = 0.9;
  d.kvcache.reserved_bytes = 3e9;
  // 576 x 2 B x 61 layers = 70,272 B a token; (90 - 70 - 3) GB / 70,272 B = 241,917.1 tokens, less
  // the padding slot.
  const KvCapacity c = kv_capacity(d, 70e9);
  CHECK(c.bytes_per_slot == 70272);
  CHECK(c.slots == 241916);
  CHECK(c.origin == "estimated");
  d.kvcache.slots = 123;
  CHECK(kv_capacity(d, 70e9).slots == 123);
  CHECK(kv_capacity(d, 70e9).origin == "user");
  CHECK(kv_capacity(d, 70e9).estimated_slots == 241916);
  d.kvcache.slots = 0;
  CHECK_THROWS_AS(kv_capacity(d, 95e9), UserError);
}
