#include "sim/workload/trace_reader.h"
#include "sim/workload/workload_test_support.h"

using namespace shiftpoint;
using namespace shiftpoint::test;

namespace {

const std::string kHeader = "TIMESTAMP,ContextTokens,GeneratedTokens\n";

std::string row(const std::string& second, int input, int output) {
  return "2023-11-16 18:15:" + second + "," + std::to_string(input) + "," + std::to_string(output) +
         "\n";
}

// Ten rows on lines 2 to 11; lines 3, 6 and 11 are above 1000 tokens (input + output).
std::string ten_rows() {
  std::string text = kHeader;
  for (int i = 0; i < 10; ++i) {
    const bool above = i == 1 || i == 4 || i == 9;
    text += row("1" + std::to_string(i), above ? 950 + 10 * i : 900, 100);
  }
  return text;
}

}  // namespace

TEST_CASE("the registry finds every format by name and offers auto") {
  CHECK(trace_format_names() == "auto|azure-csv|mooncake-jsonl");
  for (const TraceFormat& format : trace_formats()) {
    CHECK(find_trace_format(format.name) == &format);
  }
  CHECK(find_trace_format("auto") == nullptr);
}

TEST_CASE("an unknown format lists those that are known, with their columns") {
  const std::string unknown = load_error(kHeader, trace_config("csv"));
  CHECK(unknown.starts_with("'workload.format': found 'csv'; accepted: auto; azure-csv (CSV: "));
  CHECK(unknown.find("mooncake-jsonl (JSON lines: timestamp (ms)") != std::string::npos);

  const std::string undetected =
      load_error("\narrived_at,num_prefill_tokens\n1,2\n", trace_config());
  CHECK(
      undetected.starts_with("t.trace:2: 'workload.format': no known format begins with "
                             "'arrived_at,num_prefill_tokens'; accepted: azure-csv (CSV: "));
  CHECK(undetected.find("GeneratedTokens") != std::string::npos);
  CHECK(undetected.find("hash_ids") != std::string::npos);
  // 60 characters are shown, bytes outside ASCII as '?'.
  CHECK(load_error("\x1f\x8b" + std::string(500, 'x'), trace_config())
            .find("'??" + std::string(58, 'x') + "...'") != std::string::npos);
}

TEST_CASE("a trace without requests is an error") {
  for (const std::string& text : {std::string(), std::string("\n \r\n"), kHeader}) {
    CHECK(load_error(text, trace_config()) ==
          "t.trace: 'workload.trace': found no data rows; accepted: a trace with at least one "
          "request");
  }
  CHECK(load_error("", trace_config("azure-csv")).find("found no data rows") != std::string::npos);
  CHECK(load_error("", trace_config("mooncake-jsonl")).find("no data rows") != std::string::npos);

  WorkloadConfig config = trace_config();
  config.bad_rows = "reject";
  const std::string all_bad = load_error(kHeader + "x,1,1\ny,1,1\n", config);
  CHECK(all_bad.find("all 2 rows are malformed, the first: t.trace:2: 'TIMESTAMP': found 'x'") !=
        std::string::npos);
}

TEST_CASE("kind=trace without a trace names workload.trace") {
  CHECK_THROWS_WITH(make_workload(trace_config(), nullptr, "", 1),
                    "'workload.trace': found no trace, but workload.kind is trace; accepted: a "
                    "trace file, or - for standard input");
  WorkloadConfig config;
  config.kind = "closed";
  CHECK_THROWS_WITH(make_workload(config, nullptr, "", 1),
                    "'workload.kind': found 'closed'; accepted: trace|closed-loop|synthetic");
}

TEST_CASE("a stream that breaks is an error, also where bad rows are rejected") {
  WorkloadConfig config = trace_config("azure-csv");
  config.bad_rows = "reject";
  std::istringstream in(kHeader + row("10", 1, 1));
  in.setstate(std::ios::badbit);
  CHECK_THROWS_WITH(make_workload(config, &in, "t.trace", 1),
                    "t.trace:1: reading failed before the end of the input");
}

TEST_CASE("rows out of time order are sorted stably and the first arrival is 0") {
  const Workload w = load(kHeader + row("20", 1, 1) + row("10", 2, 1) + row("20", 3, 1) +
                              row("10", 4, 1) + row("09.5", 5, 1),
                          trace_config());
  std::vector<std::int64_t> inputs, lines, ids, arrivals_ms;
  for (const Request& r : w.requests) {
    inputs.push_back(r.input_tokens);
    lines.push_back(r.source_line);
    ids.push_back(r.id);
    arrivals_ms.push_back(r.arrival_ns / kNanosPerMilli);
  }
  CHECK(inputs == std::vector<std::int64_t>{5, 2, 4, 1, 3});
  CHECK(lines == std::vector<std::int64_t>{6, 3, 5, 2, 4});
  CHECK(ids == std::vector<std::int64_t>{0, 1, 2, 3, 4});
  CHECK(arrivals_ms == std::vector<std::int64_t>{0, 500, 500, 10500, 10500});
}

TEST_CASE("time_scale stretches arrivals, 0 makes them simultaneous") {
  const std::string text = kHeader + row("10", 1, 1) + row("10.0000003", 2, 1) + row("12", 3, 1);
  WorkloadConfig config = trace_config();
  config.time_scale = 0.5;
  Workload w = load(text, config);
  CHECK(w.requests[1].arrival_ns == 150);
  CHECK(w.requests[2].arrival_ns == kNanosPerSecond);
  config.time_scale = 0;
  w = load(text, config);
  CHECK(w.requests[2].arrival_ns == 0);
  CHECK(w.requests[2].input_tokens == 3);
  // 2 s * 1e10 = 634 years.
  config.time_scale = 1e10;
  CHECK(load_error(text, config).starts_with("'workload.time_scale': found 1e+10;"));
}

TEST_CASE("limit counts rows read, rejected ones too") {
  WorkloadConfig config = trace_config();
  config.limit = 3;
  CHECK(load(ten_rows(), config).requests.size() == 3);
  config.limit = 11;
  CHECK(load(ten_rows(), config).requests.size() == 10);
  config.limit = 2;
  config.bad_rows = "reject";
  const Workload w = load(kHeader + row("10", 1, 0) + row("11", 2, 2) + row("12", 3, 3), config);
  CHECK(w.counts.rows == 2);
  CHECK(w.counts.accepted == 1);
  CHECK(w.counts.rejected == 1);
  // What lies beyond the limit is not looked at.
  config.bad_rows = "fail";
  config.limit = 1;
  CHECK(load(kHeader + row("10", 1, 1) + "rubbish\n", config).requests.size() == 1);
}

TEST_CASE("rejected rows are counted and their first ten messages kept") {
  std::string text = kHeader;
  for (int i = 0; i < 30; ++i) text += row(std::to_string(10 + i), 5, i % 2);  // 15 with output 0
  WorkloadConfig config = trace_config();
  CHECK(load_error(text, config).starts_with("t.trace:2: 'GeneratedTokens': found 0"));
  config.bad_rows = "reject";
  const Workload w = load(text, config);
  CHECK(w.counts.rows == 30);
  CHECK(w.counts.accepted == 15);
  CHECK(w.counts.rejected == 15);
  CHECK(w.counts.accepted == static_cast<std::int64_t>(w.requests.size()));
  REQUIRE(w.counts.first_rejections.size() == 10);
  CHECK(w.counts.first_rejections[9].starts_with("t.trace:20: 'GeneratedTokens': found 0"));
  CHECK(w.requests.front().source_line == 3);
  CHECK(w.requests.front().arrival_ns == 0);  // counted from the first accepted row
  config.bad_rows = "skip";
  CHECK(load_error(text, config) == "'workload.bad_rows': found 'skip'; accepted: fail|reject");
}

TEST_CASE("requests above max_context_tokens are refused by line numbers unless clipped") {
  WorkloadConfig config = trace_config();
  config.max_context_tokens = 1000;
  CHECK(load_error(ten_rows(), config) ==
        "t.trace: 'workload.max_context_tokens': found 3 requests above 1000 (lines 3, 6, 11); "
        "accepted: input + output of at most 1000, or workload.clip to shorten them");
  config.max_context_tokens = 999;  // now all rows: ten numbers fit
  CHECK(load_error(ten_rows(), config)
            .find("10 requests above 999 (lines 2, 3, 4, 5, 6, 7, 8, 9, "
                  "10, 11)") != std::string::npos);
  const std::string eleven = kHeader + row("59", 1, 999) + ten_rows().substr(kHeader.size());
  CHECK(load_error(eleven, config)
            .find("11 requests above 999 (lines 2, 3, 4, 5, 6, 7, 8, 9, 10, "
                  "11, ...)") != std::string::npos);
}

TEST_CASE("clipping shortens the input first and accounts for every token") {
  WorkloadConfig config = trace_config();
  const Workload whole = load(ten_rows(), config);
  config.max_context_tokens = 1000;
  config.clip = true;
  const Workload w = load(ten_rows(), config);
  CHECK(w.counts.clipped_rows == 3);
  // Inputs 960, 990 and 1040 become 900: 60 + 90 + 140 tokens.
  CHECK(w.counts.clipped_tokens == 290);
  CHECK(total_output(w) == total_output(whole));
  CHECK(total_input(w) + w.counts.clipped_tokens == total_input(whole));
  CHECK(w.counts.rejected == 0);

  config.max_context_tokens = 50;  // outputs of 100 do not fit: one token of input stays
  const Workload tiny = load(ten_rows(), config);
  CHECK(tiny.requests[0].input_tokens == 1);
  CHECK(tiny.requests[0].output_tokens == 49);
  CHECK(tiny.counts.clipped_rows == 10);
  CHECK(total_input(tiny) + total_output(tiny) + tiny.counts.clipped_tokens ==
        total_input(whole) + total_output(whole));
  config.max_context_tokens = 1;
  CHECK(load_error(ten_rows(), config).starts_with("'workload.max_context_tokens': found 1;"));
}

TEST_CASE("clipping cuts block ids with the prompt") {
  WorkloadConfig config = trace_config();
  config.clip = true;
  config.max_context_tokens = 1100;
  const std::string text =
      R"({"timestamp": 0, "input_length": 2000, "output_length": 60, "hash_ids": [4, 5, 6, 7]})";
  const Workload w = load(text, config);
  CHECK(w.requests[0].input_tokens == 1040);  // 1100 - 60, in ceil(1040 / 512) = 3 blocks
  CHECK(w.requests[0].block_ids == std::vector<std::int64_t>{4, 5, 6});
}

TEST_CASE("a closed loop has all requests at 0 and bounded concurrency") {
  WorkloadConfig config;
  config.requests = 5;
  config.batch = 2;
  config.context_tokens = 300;
  config.output_tokens = 40;
  for (const bool prefilled : {true, false}) {
    config.prefilled = prefilled;
    const Workload w = make_workload(config, nullptr, "", 1);
    CHECK(w.format == "closed-loop");
    CHECK(w.concurrency == 2);
    REQUIRE(w.requests.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
      CHECK(w.requests[i].id == static_cast<std::int64_t>(i));
      CHECK(w.requests[i].arrival_ns == 0);
      CHECK(w.requests[i].input_tokens == 300);
      CHECK(w.requests[i].output_tokens == 40);
      CHECK(w.requests[i].prefilled == prefilled);
      CHECK(w.requests[i].source_line == 0);
    }
  }
  config.max_context_tokens = 339;
  CHECK_THROWS_WITH(
      make_workload(config, nullptr, "", 1),
      Catch::Matchers::ContainsSubstring("found 5 requests above 339 (requests 0, 1, 2, 3, 4)"));
}
