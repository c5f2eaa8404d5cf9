#include "sim/serving/serving.h"

#include "sim/serving/run_for_test.h"
#include "sim/test_support/catch.h"

using namespace shiftpoint;
using namespace shiftpoint::test;

TEST_CASE("one request with certain acceptance: output / draft_tokens verify steps") {
  Deployment d = small();
  d.speculation.draft_tokens = 9;
  d.speculation.conditional = {1.0};
  const Run r = run(d, closed_loop(1, 1, 100, 90));
  CHECK(r.result.verify_steps == 10);  // 90 / 9
  CHECK(r.result.requests[0].accepted_drafts == 80);
  for (const StepResult& s : r.steps) CHECK(s.emitted_tokens == 9);
  // Contexts grow by nine rows a step.
  CHECK(r.steps.front().context_tokens == 100);
  CHECK(r.steps.back().context_tokens == 181);
}

TEST_CASE("one request with no acceptance: one token a verify step") {
  Deployment d = small();
  d.speculation.conditional = {0.0};
  const Run r = run(d, closed_loop(1, 1, 100, 25));
  CHECK(r.result.verify_steps == 25);
  CHECK(r.result.requests[0].accepted_drafts == 0);
}

TEST_CASE("speculation that is never accepted costs something: slower than none at all") {
  Deployment with = small();
  with.speculation.conditional = {0.0};
  Deployment without = small();
  without.speculation.draft_tokens = 1;
  const Run a = run(with, closed_loop(1, 1, 100, 25));
  const Run b = run(without, closed_loop(1, 1, 100, 25));
  CHECK(b.result.verify_steps == 25);
  CHECK(a.result.end_ns > b.result.end_ns);
  CHECK(b.steps[0].time[Part::kDraft] == 0);
  CHECK(a.steps[0].time[Part::kDraft] > 0);
}

TEST_CASE("the last verify step is cut at the wanted output") {
  Deployment d = small();
  d.speculation.draft_tokens = 4;
  d.speculation.conditional = {1.0};
  const Run r = run(d, closed_loop(1, 1, 10, 10));
  // 4 + 4 + 2: three steps, and 10 tokens, not 12.
  CHECK(r.result.verify_steps == 3);
  CHECK(r.steps.back().emitted_tokens == 2);
  CHECK(r.result.requests[0].output_tokens == 10);
}

TEST_CASE("a prompt is prefilled in chunks and gives the first token") {
  Deployment d = small();
  d.serving.chunk_tokens = 30;
  d.speculation.draft_tokens = 1;
  const Run r = run(d, closed_loop(1, 1, 100, 3, /*prefilled=*/false));
  CHECK(r.result.prefill_steps == 4);  // 30 + 30 + 30 + 10
  CHECK(r.result.verify_steps == 2);   // the prefill gave one of three tokens
  Nanos prefill = 0;
  for (const StepResult& s : r.steps) {
    if (s.kind == StepKind::kPrefill) prefill += s.time.total_ns();
  }
  const RequestResult& q = r.result.requests[0];
  CHECK(q.first_token_ns == prefill);
  CHECK(q.prefill_ns == prefill);
  CHECK(q.queue_ns == 0);
  CHECK(q.stall_ns == 0);
  CHECK(q.queue_ns + q.prefill_ns + q.decode_ns + q.stall_ns == q.end_ns - q.arrival_ns);
}

TEST_CASE("one prefill step takes several prompts up to its budget") {
  Deployment d = small();
  d.serving.chunk_tokens = 250;
  const Run r = run(d, closed_loop(3, 3, 100, 2, false));
  // 100 + 100 + 50, then 50.
  REQUIRE(r.result.prefill_steps == 2);
  CHECK(r.steps[0].tokens == 250);
  CHECK(r.steps[0].requests == 3);
  CHECK(r.steps[1].tokens == 50);
}

TEST_CASE("a closed loop keeps its batch: the next request starts when one has ended") {
  Deployment d = small();
  d.speculation.draft_tokens = 1;
  const Run r = run(d, closed_loop(6, 2, 50, 10));
  CHECK(r.result.verify_steps == 30);  // three generations of two requests, ten steps each
  for (const StepResult& s : r.steps) CHECK(s.requests == 2);
}

TEST_CASE("step parts add up, steps follow one another, and idle time is the rest of the clock") {
  Workload w = closed_loop(2, 1, 50, 5);
  w.concurrency = 0;
  w.requests[1].arrival_ns = 10 * kNanosPerSecond;  // long after the first has ended
  const Run r = run(small(), w);
  Nanos busy = 0;
  for (const StepResult& s : r.steps) busy += s.time.total_ns();
  CHECK(busy + r.result.idle_ns == r.result.end_ns);
  for (std::size_t i = 1; i < r.steps.size(); ++i) {
    CHECK(r.steps[i].start_ns >= r.steps[i - 1].start_ns + r.steps[i - 1].time.total_ns());
  }
  CHECK(r.result.requests[1].queue_ns == 0);
}

TEST_CASE("the same scenario and seed give the same run; another seed gives other luck") {
  const Workload w = closed_loop(8, 3, 200, 60, false);
  const Run a = run(small(), w, 5);
  const Run b = run(small(), w, 5);
  const Run c = run(small(), w, 6);
  REQUIRE(a.steps.size() == b.steps.size());
  for (std::size_t i = 0; i < a.steps.size(); ++i) {
    CHECK(a.steps[i].start_ns == b.steps[i].start_ns);
    CHECK(a.steps[i].emitted_tokens == b.steps[i].emitted_tokens);
  }
  CHECK(a.result.end_ns == b.result.end_ns);
  CHECK(a.result.end_ns != c.result.end_ns);
}

TEST_CASE(
    "two policies meet the same luck: acceptance does not depend on the allocator or the kernel") {
  const Workload w = closed_loop(8, 3, 200, 60, false);
  Deployment other = small();
  other.kvcache.allocator = "need-sort";
  other.cost.attention = "extend-serial";
  const Run a = run(small(), w);
  const Run b = run(other, w);
  for (std::size_t i = 0; i < a.result.requests.size(); ++i) {
    CHECK(a.result.requests[i].verify_steps == b.result.requests[i].verify_steps);
    CHECK(a.result.requests[i].accepted_drafts == b.result.requests[i].accepted_drafts);
  }
}

TEST_CASE("token-expert pairs are tokens x k x layers") {
  const Run r = run(small(), closed_loop(4, 2, 30, 20, false));
  std::int64_t tokens = 0;
  for (const StepResult& s : r.steps) tokens += s.tokens;
  CHECK(r.result.routed_tokens == tokens * 3);     // three MoE layers
  CHECK(r.result.routed_pairs == tokens * 3 * 2);  // two experts a token
}

TEST_CASE("layout: a single request without speculation decodes into one run") {
  Deployment d = small();
  d.speculation.draft_tokens = 1;
  d.kvcache.layout_every_steps = 10;
  const Run r = run(d, closed_loop(1, 1, 100, 50));
  REQUIRE(r.result.layout.size() == 5);
  CHECK(r.result.layout.back().adjacency == 1.0);
  CHECK(r.result.layout.back().prompt_runs == 1);
}

TEST_CASE(
    "layout: speculation at page size 1 breaks decode into runs of about the acceptance length") {
  Deployment d = small();
  d.speculation.draft_tokens = 4;
  d.speculation.conditional = {0.0};  // one kept of four: every kept row is a run of its own
  d.kvcache.layout_every_steps = 100;
  const Run r = run(d, closed_loop(1, 1, 100, 100));
  REQUIRE(r.result.layout.size() == 1);
  CHECK(r.result.layout[0].prompt_runs == 1);
  CHECK(r.result.layout[0].decode_slots == 100);
  CHECK(r.result.layout[0].decode_runs == 100);
}
