#include <utility>

#include "sim/workload/workload_test_support.h"

using namespace shiftpoint;
using namespace shiftpoint::test;

namespace {

const std::string kRow =
    R"({"timestamp": 3000, "input_length": 1024, "output_length": 5, "hash_ids": [0, 1]})"
    "\n";

}  // namespace

TEST_CASE("mooncake: ms, lengths and 512-token blocks, the last of which may be partial") {
  const Workload w = load(
      R"({"timestamp": 27, "input_length": 1024, "output_length": 500, "hash_ids": [0, 46]})"
      "\r\n\n"
      R"({"timestamp": 3027, "input_length": 1025, "output_length": 1, "hash_ids": [0, 7, 8]})"
      "\n"
      R"({"hash_ids": [9], "extra": "x", "output_length": 2, "input_length": 1, "timestamp": 3027})",
      trace_config());
  CHECK(w.format == "mooncake-jsonl");
  CHECK(w.block_tokens == 512);
  REQUIRE(w.requests.size() == 3);
  CHECK(w.requests[0].arrival_ns == 0);
  CHECK(w.requests[1].arrival_ns == 3000 * kNanosPerMilli);
  CHECK(w.requests[2].arrival_ns == 3000 * kNanosPerMilli);
  CHECK(w.requests[0].block_ids == std::vector<std::int64_t>{0, 46});
  CHECK(w.requests[1].block_ids == std::vector<std::int64_t>{0, 7, 8});
  CHECK(w.requests[2].block_ids == std::vector<std::int64_t>{9});
  CHECK(w.requests[1].input_tokens == 1025);
  CHECK(w.requests[1].output_tokens == 1);
  CHECK(w.requests[1].source_line == 3);
}

TEST_CASE("mooncake: a malformed row is named by line and field") {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"timestamp": 1, "input_length": 3)", "found '{\"timestamp\": 1, \"input_length\": 3'"},
      {R"([1, 2])", "found '[1, 2]'; accepted: one JSON object a line"},
      {R"({"input_length": 3, "output_length": 1, "hash_ids": [0]})",
       "'timestamp': no such key in the row; accepted: whole milliseconds"},
      {R"({"timestamp": 1.5, "input_length": 3, "output_length": 1, "hash_ids": [0]})",
       "'timestamp': found '1.5'; accepted: whole milliseconds"},
      {R"({"timestamp": "1", "input_length": 3, "output_length": 1, "hash_ids": [0]})",
       "'timestamp': found '\"1\"'; accepted: whole milliseconds"},
      {R"({"timestamp": -1, "input_length": 3, "output_length": 1, "hash_ids": [0]})",
       "'timestamp': found '-1'; accepted: whole milliseconds"},
      {R"({"timestamp": 9300000000000, "input_length": 3, "output_length": 1, "hash_ids": [0]})",
       "'timestamp': found '9300000000000'; accepted: whole milliseconds"},
      {R"({"timestamp": 1, "output_length": 1, "hash_ids": [0]})",
       "'input_length': no such key in the row; accepted: a whole number of tokens"},
      {R"({"timestamp": 1, "input_length": 0, "output_length": 1, "hash_ids": []})",
       "'input_length': found 0; accepted: a whole number of tokens"},
      {R"({"timestamp": 1, "input_length": 3, "output_length": 0, "hash_ids": [0]})",
       "'output_length': found 0; accepted: a whole number of tokens"},
      {R"({"timestamp": 1, "input_length": 3, "output_length": -8, "hash_ids": [0]})",
       "'output_length': found -8; accepted: a whole number of tokens"},
      {R"({"timestamp": 1, "input_length": 3, "output_length": null, "hash_ids": [0]})",
       "'output_length': found 'null'; accepted: a whole number of tokens"},
      {R"({"timestamp": 1, "input_length": 3, "output_length": 1})",
       "'hash_ids': no such key in the row"},
      {R"({"timestamp": 1, "input_length": 3, "output_length": 1, "hash_ids": 0})",
       "'hash_ids': found '0'; accepted: a list of whole numbers"},
      {R"({"timestamp": 1, "input_length": 3, "output_length": 1, "hash_ids": ["0"]})",
       "'hash_ids': found '\"0\"'; accepted: a list of whole numbers"},
      {R"({"timestamp": 1, "input_length": 3, "output_length": 1, "hash_ids": [-1]})",
       "'hash_ids': found '-1'; accepted: a list of whole numbers"},
      {R"({"timestamp": 1, "input_length": 3, "output_length": 1, "hash_ids": [18446744073709551615]})",
       "'hash_ids': found '18446744073709551615'; accepted: a list of whole numbers"},
      {R"({"timestamp": 1, "input_length": 513, "output_length": 1, "hash_ids": [0]})",
       "'hash_ids': found 1 ids; accepted: 2 ids for input_length 513"},
      {R"({"timestamp": 1, "input_length": 512, "output_length": 1, "hash_ids": [0, 1]})",
       "'hash_ids': found 2 ids; accepted: 1 ids for input_length 512"},
  };
  for (const auto& [row, message] : cases) {
    INFO(row);
    std::string text = kRow;
    text.append(row).append("\n").append(kRow);
    const std::string error = load_error(text, trace_config());
    CHECK(error.starts_with(std::string("t.trace:2: ") + message));
  }
}

TEST_CASE("mooncake: a damaged first row is reported by field, not as an unknown format") {
  const std::string row = R"({"input_length": 3, "output_length": 1, "hash_ids": [0]})";
  CHECK(load_error(row, trace_config()).starts_with("t.trace:1: 'timestamp': no such key"));
}

TEST_CASE("mooncake: rows of the Bailian format, alike but in seconds, are not mistaken for it") {
  const std::string row =
      R"({"chat_id": 1, "parent_chat_id": -1, "timestamp": 0.1, "input_length": 17, )"
      R"("output_length": 3, "type": "text", "turn": 1, "hash_ids": [1, 2]})";
  CHECK(load_error(row, trace_config()).find("no known format begins with") != std::string::npos);
}
