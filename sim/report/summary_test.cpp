#include "sim/report/summary.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

#include "sim/core/error.h"
#include "sim/report/distribution.h"
#include "sim/report/result_folder.h"
#include "sim/report/timeline.h"
#include "sim/test_support/catch.h"
#include "sim/test_support/temporary_folder.h"

using namespace shiftpoint;

TEST_CASE("nearest-rank quantiles of 1..10 ms") {
  std::vector<Nanos> values;
  for (int i = 10; i >= 1; --i) values.push_back(i * kNanosPerMilli);
  const auto d = distribution_ms(values);
  // ceil(0.5 * 10) = 5th, ceil(0.9 * 10) = 9th, ceil(0.99 * 10) = 10th; mean 55 / 10.
  CHECK(d["p50"] == 5.0);
  CHECK(d["p90"] == 9.0);
  CHECK(d["p99"] == 10.0);
  CHECK(d["mean"] == 5.5);
  CHECK(d["count"] == 10);
  CHECK(distribution_ms({})["mean"].is_null());
}

TEST_CASE("latencies of a request worked out by hand") {
  // Arrives at 0; first token at 100 ms; bursts of 3 and 3 more tokens at 130 and 160 ms.
  // TTFT 100, E2E 160, TPOT (160 - 100) / (7 - 1) = 10. A one-token request has no TPOT.
  SimulationResult result;
  RequestResult r;
  r.outcome = Outcome::kFinished;
  r.first_token_ns = 100 * kNanosPerMilli;
  r.end_ns = 160 * kNanosPerMilli;
  r.output_tokens = 7;
  r.queue_ns = 20 * kNanosPerMilli;
  r.prefill_ns = 80 * kNanosPerMilli;
  r.decode_ns = 60 * kNanosPerMilli;
  RequestResult single = r;
  single.id = 1;
  single.output_tokens = 1;
  single.end_ns = single.first_token_ns;
  single.decode_ns = 0;
  result.requests = {r, single};

  StepLog steps(10);
  StepResult step;
  step.requests = 1;
  step.emitted_tokens = 3;  // two drafts accepted and the bonus
  step.time[Part::kAttention] = 20 * kNanosPerMilli;
  step.time[Part::kExperts] = 10 * kNanosPerMilli;
  steps.add(step);
  steps.add(step);
  const auto s = make_summary(Scenario{}, Workload{}, result, steps);
  CHECK(s["ttft_ms"]["mean"] == 100.0);
  CHECK(s["tpot_ms"]["mean"] == 10.0);
  CHECK(s["tpot_ms"]["count"] == 1);
  CHECK(s["tpot_ms"]["single_token_requests"] == 1);
  CHECK(s["e2e_ms"]["max"] == 160.0);
  CHECK(s["acceptance_length"] == 3.0);
  CHECK(s["step_ms"]["p50"] == 30.0);
  CHECK(s["attribution"]["attention"].get<double>() == Approx(2.0 / 3));
  CHECK(s["bottleneck"]["part"] == "attention");
  CHECK(s["bottleneck"]["runner_up"] == "experts");
  // 60 ms of verify steps for 6 tokens.
  CHECK(s["ms_per_token"]["total"] == 10.0);
  double sum = 0;
  for (const auto& [part, share] : s["attribution"].items()) sum += share.get<double>();
  CHECK(sum == Approx(1).epsilon(1e-12));
}

TEST_CASE("steps.csv keeps the first rows and counts the others") {
  StepLog steps(2);
  StepResult step;
  for (int i = 0; i < 5; ++i) {
    step.index = i;
    step.time[Part::kDense] = 1;
    steps.add(step);
  }
  CHECK(steps.rows() == 2);
  CHECK(steps.rows_left_out() == 3);
  CHECK(std::count(steps.csv().begin(), steps.csv().end(), '\n') == 3);  // header and two rows
  CHECK(steps.verify().total_ns() == 5);
}

TEST_CASE("a timeline's slices fill a step exactly, layer by layer and summed") {
  // Two ranks, three layers of which one is dense. Expert times by (layer, rank): (5,1) and (2,4):
  // maxima 5 + 4 = 9 ns, means floor(6/2) + floor(6/2) = 6, so experts 6 and wait 3.
  StepResult step;
  step.start_ns = 100;
  step.time[Part::kAttention] = 30;
  step.time[Part::kDense] = 10;
  step.time[Part::kCollective] = 7;
  step.time[Part::kExperts] = 6;
  step.time[Part::kExpertWait] = 3;
  step.time[Part::kHost] = 4;
  step.pool_slots = 50;
  step.free_slots = 20;
  const ExpertDetail detail{{5, 1, 2, 4}};
  Timeline timeline(1000, 2, 3, 1);
  timeline.add(step, detail);
  step.start_ns = 160;
  step.index = 1;
  timeline.add(step, detail);
  const auto json = nlohmann::json::parse(timeline.json());
  std::map<std::pair<int, int>, double> busy_us;  // (step, lane)
  double last_end = 0;
  for (const auto& e : json["traceEvents"]) {
    if (e["ph"] == "X") {
      busy_us[{e["args"]["step"].get<int>(), e["tid"].get<int>()}] += e["dur"].get<double>();
      last_end = std::max(last_end, e["ts"].get<double>() + e["dur"].get<double>());
    }
  }
  CHECK(timeline.steps_drawn() == 2);
  for (int lane : {0, 1}) CHECK((busy_us[{0, lane}]) == Approx(0.056));  // 30 + 10 + 7 + 9
  CHECK(last_end == Approx(0.220));                                      // 160 + 60
  CHECK(json["otherData"]["steps_left_out"] == 0);
  bool counter = false;
  for (const auto& e : json["traceEvents"]) {
    counter |= e["ph"] == "C" && e["name"] == "KV slots used" && e["args"]["value"] == 30;
  }
  CHECK(counter);
}

TEST_CASE("a timeline stops at its cap and says so") {
  // The first step may need 3 + 3 + 2 * 6 * 3 = 42 events, later ones 18; each really takes 9,
  // then 5.
  Timeline timeline(45, 2, 3, 1);
  StepResult step;
  step.time[Part::kDense] = 10;
  for (int i = 0; i < 10; ++i) timeline.add(step, ExpertDetail{{0, 0, 0, 0}});
  // 9, 14, 19, 24, 29 events: the sixth step does not fit, and none after it is drawn.
  CHECK(timeline.steps_drawn() == 5);
  CHECK(timeline.steps_left_out() == 5);
  CHECK(nlohmann::json::parse(timeline.json())["otherData"]["cap_events"] == 45);
}

TEST_CASE("result folders appear whole, replace results and nothing else") {
  const test::TemporaryFolder folder;
  const std::string dir = (folder.path() / "out").string();
  write_result_folder(dir, {{"manifest.json", "{\"complete\": true}"}, {"a", "1"}});
  CHECK(is_complete_result(dir));
  write_result_folder(dir + "/", {{"manifest.json", "{\"complete\": true}"}, {"b", "2"}});
  CHECK_FALSE(std::filesystem::exists(dir + "/a"));
  CHECK(read_text(dir + "/b") == "2");
  folder.write("precious/file", "x");
  const std::string other = (folder.path() / "precious").string();
  CHECK(test::message_of<UserError>([&] {
          write_result_folder(other, {{"a", "1"}});
        }).find("is no result folder") != std::string::npos);
  CHECK(read_text(other + "/file") == "x");
  // No temporary folder is left.
  int entries = 0;
  for (const auto& e : std::filesystem::directory_iterator(folder.path()))
    entries += e.exists() ? 1 : 0;
  CHECK(entries == 2);
}
