#include "sim/workload/azure_csv.h"

#include <utility>

#include "sim/workload/workload_test_support.h"

using namespace shiftpoint;
using namespace shiftpoint::test;

namespace {

const std::string kHeader = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
const std::string kRow = "2023-11-16 18:15:46.6805900,374,44\n";

}  // namespace

TEST_CASE("datetimes become exact nanoseconds") {
  Nanos ns = 0;
  // 2023-11-16 is day 19677 (date -d 2023-11-16 +%s / 86400); 18:15:46 is second 65746.
  REQUIRE(parse_datetime("2023-11-16 18:15:46.6805900", ns));
  CHECK(ns == (19677 * 86400LL + 65746) * 1'000'000'000LL + 680'590'000LL);
  REQUIRE(parse_datetime("1970-01-01 00:00:00", ns));
  CHECK(ns == 0);
  REQUIRE(parse_datetime("1970-01-01T00:00:01.000000001Z", ns));
  CHECK(ns == 1'000'000'001);
  REQUIRE(parse_datetime("1970-01-01 00:00:00.5+00:00", ns));
  CHECK(ns == 500'000'000);
}

TEST_CASE("datetimes cross midnight, months, years and leap days") {
  const auto distance = [](std::string_view from, std::string_view to) {
    Nanos a = 0, b = 0;
    REQUIRE(parse_datetime(from, a));
    REQUIRE(parse_datetime(to, b));
    return b - a;
  };
  CHECK(distance("2023-11-30 23:59:59.9999999", "2023-12-01 00:00:00.0000000") == 100);
  CHECK(distance("2023-12-31 23:59:59", "2024-01-01 00:00:00") == kNanosPerSecond);
  CHECK(distance("2024-02-28 12:00:00", "2024-03-01 12:00:00") == 172'800 * kNanosPerSecond);
  CHECK(distance("2023-02-28 12:00:00", "2023-03-01 12:00:00") == 86400 * kNanosPerSecond);
  CHECK(distance("2100-02-28 12:00:00", "2100-03-01 12:00:00") == 86400 * kNanosPerSecond);
  CHECK(distance("2000-02-28 12:00:00", "2000-03-01 12:00:00") == 172'800 * kNanosPerSecond);
}

TEST_CASE("what is no datetime is refused") {
  Nanos ns = 0;
  for (const char* text :
       {"", "1700158546.68", "2023-11-16", "2023-11-16 18:15", "2023-13-01 00:00:00",
        "2023-00-01 00:00:00", "2023-02-29 00:00:00", "2023-11-31 00:00:00", "2023-11-16 24:00:00",
        "2023-11-16 18:60:00", "2023-11-16 18:15:60", "2023-11-16 18:15:46.",
        "2023-11-16 18:15:46.1234567891", "2023-11-16 18:15:46 PM", "2023-11-16 18:15:46+01:00",
        "16-11-2023 18:15:46", "1969-12-31 23:59:59", "2200-01-01 00:00:00",
        "+023-11-16 18:15:46"}) {
    INFO(text);
    CHECK_FALSE(parse_datetime(text, ns));
  }
}

TEST_CASE("azure: the published form, with CR LF and blank lines, is read and detected") {
  const Workload w = load(
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
      "2023-11-16 18:15:46.6805900,374,44\r\n"
      "\r\n"
      "2023-11-16 18:15:50.9951690,396,109\r\n"
      "   \n",
      trace_config());
  CHECK(w.format == "azure-csv");
  CHECK(w.block_tokens == 0);
  CHECK(w.concurrency == 0);
  REQUIRE(w.requests.size() == 2);
  CHECK(w.requests[0].arrival_ns == 0);
  CHECK(w.requests[1].arrival_ns == 4'314'579'000);  // 50.9951690 - 46.6805900 s
  CHECK(w.requests[0].input_tokens == 374);
  CHECK(w.requests[0].output_tokens == 44);
  CHECK(w.requests[1].input_tokens == 396);
  CHECK(w.requests[1].output_tokens == 109);
  CHECK(w.requests[0].source_line == 2);
  CHECK(w.requests[1].source_line == 4);  // the blank line counts
  CHECK_FALSE(w.requests[0].prefilled);
  CHECK(w.requests[0].block_ids.empty());
  CHECK(w.counts.rows == 2);
  CHECK(w.counts.accepted == 2);
}

TEST_CASE("azure: columns are found by name, others ignored, a byte order mark dropped") {
  const std::string text =
      "\xEF\xBB\xBFGeneratedTokens, NumImages ,TIMESTAMP,ContextTokens\n"
      " 7 ,2,2023-11-16 18:15:46, 30";  // no newline at the end
  for (const char* format : {"auto", "azure-csv"}) {
    const Workload w = load(text, trace_config(format));
    REQUIRE(w.requests.size() == 1);
    CHECK(w.requests[0].input_tokens == 30);
    CHECK(w.requests[0].output_tokens == 7);
  }
}

TEST_CASE("azure: a malformed row is named by line and field") {
  const std::string prefix = kHeader + kRow + "\n";  // the bad row is line 4
  const std::pair<const char*, const char*> cases[] = {
      {"2023-11-16 18:15:46,12", "t.trace:4: found 2 cells in '2023-11-16 18:15:46,12'"},
      {"2023-11-16 18:15:46,12,3,9", "t.trace:4: found 4 cells"},
      {"18:15:46,12,3", "t.trace:4: 'TIMESTAMP': found '18:15:46'; accepted: a time like"},
      {"2023-11-16 18:15:46,12.5,3", "t.trace:4: 'ContextTokens': found '12.5'; accepted: a whole"},
      {"2023-11-16 18:15:46,,3", "t.trace:4: 'ContextTokens': found ''; accepted: a whole"},
      {"2023-11-16 18:15:46,0,3", "t.trace:4: 'ContextTokens': found 0; accepted: a whole"},
      {"2023-11-16 18:15:46,12,0", "t.trace:4: 'GeneratedTokens': found 0; accepted: a whole"},
      {"2023-11-16 18:15:46,12,-3", "t.trace:4: 'GeneratedTokens': found -3; accepted: a whole"},
      {"2023-11-16 18:15:46,12,3x", "t.trace:4: 'GeneratedTokens': found '3x'; accepted: a whole"},
      {"2023-11-16 18:15:46,\"12\",3", "t.trace:4: 'ContextTokens': found '\"12\"'"},
      {"2023-11-16 18:15:46,99999999999999999999,3",
       "t.trace:4: 'ContextTokens': found '99999999999999999999'"},
      {"2023-11-16 18:15:46,100000001,3", "t.trace:4: 'ContextTokens': found 100000001"},
  };
  for (const auto& [row, message] : cases) {
    INFO(row);
    CHECK(load_error(prefix + row + "\n", trace_config()).starts_with(message));
  }
}

TEST_CASE("azure: a wrong header ends the run even where bad rows are rejected") {
  WorkloadConfig config = trace_config("azure-csv");
  for (const char* bad_rows : {"fail", "reject"}) {
    config.bad_rows = bad_rows;
    CHECK(load_error(kRow + kRow, config)
              .starts_with("t.trace:1: 'TIMESTAMP': no such column in '2023-11-16 18:15:46.68"));
    CHECK(load_error("\nTIMESTAMP,ContextTokens,Tokens\n" + kRow, config)
              .starts_with("t.trace:2: 'GeneratedTokens': no such column in "));
    CHECK(load_error("TIMESTAMP,ContextTokens,GeneratedTokens,ContextTokens\n", config)
              .starts_with("t.trace:1: 'ContextTokens': column occurs twice in "));
  }
}
