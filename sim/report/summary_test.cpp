#include "sim/report/summary.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

#include "sim/config/input_file.h"
#include "sim/core/error.h"
#include "sim/report/distribution.h"
#include "sim/report/experiment.h"
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
  CHECK(s["busy"]["bottleneck"]["part"] == "attention");  // there was no prefill
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

TEST_CASE("a cap too small for a step layer by layer still draws steps summed over layers") {
  Timeline timeline(30, 2, 3, 1);  // layer by layer may need 42
  StepResult step;
  step.time[Part::kDense] = 10;
  timeline.add(step, ExpertDetail{{0, 0, 0, 0}});
  CHECK(timeline.steps_drawn() == 1);
}

namespace {

// A manifest as make_manifest writes it, for the files given.
std::string manifest_for(const std::map<std::string, std::string>& files) {
  nlohmann::json json = {{"complete", true}, {"shiftpoint", {{"revision", "abc"}}}};
  json["files"] = nlohmann::json::object();
  for (const auto& [name, content] : files) json["files"][name] = sha256_hex(content);
  return json.dump();
}

std::string refusal(const std::string& dir) {
  return test::message_of<UserError>([&] { write_result_folder(dir, {{"a", "1"}}); });
}

}  // namespace

TEST_CASE("result folders appear whole and replace results") {
  const test::TemporaryFolder folder;
  const std::string dir = (folder.path() / "out").string();
  write_result_folder(dir, {{"manifest.json", manifest_for({{"a", "1"}})}, {"a", "1"}});
  CHECK(complete_revision(dir) == std::string("abc"));
  write_result_folder(dir + "/", {{"manifest.json", manifest_for({{"b", "2"}})}, {"b", "2"}});
  CHECK_FALSE(std::filesystem::exists(dir + "/a"));
  CHECK(read_text(dir + "/b") == "2");
  // Through a link, the folder it points to is replaced and the link stays.
  const std::filesystem::path link = folder.path() / "link";
  std::filesystem::create_directory_symlink(dir, link);
  write_result_folder(link.string(), {{"manifest.json", manifest_for({{"c", "3"}})}, {"c", "3"}});
  CHECK(std::filesystem::is_symlink(link));
  CHECK(read_text(dir + "/c") == "3");
  int entries = 0;  // no temporary folder is left
  for (const auto& e : std::filesystem::directory_iterator(folder.path()))
    entries += e.exists() ? 1 : 0;
  CHECK(entries == 2);
}

TEST_CASE("a folder that is no result, or holds more than one, is not touched") {
  const test::TemporaryFolder folder;
  folder.write("web/manifest.json", "{}");
  folder.write("web/src/main.js", "code");
  CHECK(refusal((folder.path() / "web").string()).find("is no result folder") != std::string::npos);
  folder.write("notes/manifest.json", manifest_for({{"a", "1"}}));
  folder.write("notes/a", "1");
  folder.write("notes/my-notes.txt", "x");
  CHECK(refusal((folder.path() / "notes").string()).find("also holds 'my-notes.txt'") !=
        std::string::npos);
  folder.write("sweep/manifest.json", manifest_for({}));
  folder.write("sweep/points/p/x", "y");
  CHECK(refusal((folder.path() / "sweep").string()).find("also holds 'points'") !=
        std::string::npos);
  const std::string file = folder.write("file", "x");
  CHECK(refusal(file).find("is no folder") != std::string::npos);
  CHECK(refusal(file + "/sub").find("cannot be written: Not a directory") != std::string::npos);
  CHECK(read_text((folder.path() / "web/src/main.js").string()) == "code");
  CHECK(read_text((folder.path() / "notes/my-notes.txt").string()) == "x");
  CHECK(read_text((folder.path() / "sweep/points/p/x").string()) == "y");
}

TEST_CASE("a result is complete only with every file as its manifest has it") {
  const test::TemporaryFolder folder;
  const std::string dir = folder.path().string();
  folder.write("manifest.json", manifest_for({{"a", "1"}}));
  CHECK_FALSE(complete_revision(dir));  // a is missing
  folder.write("a", "2");
  CHECK_FALSE(complete_revision(dir));  // a was edited
  folder.write("a", "1");
  CHECK(complete_revision(dir) == std::string("abc"));
  folder.write("manifest.json", "{\"complete\": true}");
  CHECK_FALSE(complete_revision(dir));
  folder.write("manifest.json", "{\"complete\": \"yes\", \"shiftpoint\": 3}");
  CHECK_FALSE(complete_revision(dir));
  folder.write("manifest.json", "not json");
  CHECK_FALSE(complete_revision(dir));
}

TEST_CASE("milliseconds are printed from the integer, exact beyond what a double holds") {
  CHECK(ms_text(0) == "0.000000");
  CHECK(ms_text(1) == "0.000001");
  CHECK(ms_text(20 * kNanosPerSecond + 5) == "20000.000005");
  CHECK(ms_text(9007199254740993) == "9007199254.740993");  // 2^53 + 1
  CHECK(ms_text(-1).empty());
}

TEST_CASE("without verify steps there is no bottleneck to name") {
  const auto s = make_summary(Scenario{}, Workload{}, SimulationResult{}, StepLog(1));
  CHECK(s["bottleneck"]["part"].is_null());
  CHECK(s["attribution"]["attention"].is_null());
  CHECK_NOTHROW(summary_text(s.dump()));
}
