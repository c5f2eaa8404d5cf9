// {"timestamp": 0, "input_length": 1000, "output_length": 500, "hash_ids": [0, 1]}
// timestamp: whole ms. hash_ids: one id a block of 512 input tokens, the last block may be partial;
// two requests that agree in an id agree in all tokens up to the end of that block. All four keys
// are needed: without ids prefix hits would silently be none. Other keys are ignored.
#include "sim/workload/mooncake_jsonl.h"

#include <nlohmann/json.hpp>

#include "sim/workload/line_reader.h"

namespace shiftpoint {
namespace {

using nlohmann::json;

const json& member(const json& object, const char* key, const InputPlace& place,
                   const char* accepted) {
  const auto found = object.find(key);
  if (found == object.end()) throw_bad_input(place, key, "no such key in the row", accepted);
  return *found;
}

// False for fractions (1.0 too: the format counts whole units), strings, and what 64 signed bits
// do not hold.
bool whole_number(const json& value, std::int64_t& number) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) {
    return false;
  }
  number = value.get<std::int64_t>();
  return true;
}

std::int64_t length(const json& object, const char* key, const InputPlace& place) {
  const json& value = member(object, key, place, kAcceptedLength);
  std::int64_t tokens = 0;
  if (!whole_number(value, tokens)) {
    throw_bad_input(place, key, "found " + quoted_excerpt(value.dump()), kAcceptedLength);
  }
  check_length(place, key, tokens);
  return tokens;
}

Nanos arrival(const json& object, const InputPlace& place) {
  constexpr const char* kAccepted = "whole milliseconds, 0 or more";
  const json& value = member(object, "timestamp", place, kAccepted);
  std::int64_t ms = 0;
  if (!whole_number(value, ms) || ms < 0 || ms > INT64_MAX / kNanosPerMilli) {
    throw_bad_input(place, "timestamp", "found " + quoted_excerpt(value.dump()), kAccepted);
  }
  return ms * kNanosPerMilli;
}

std::vector<std::int64_t> block_ids(const json& object, std::int64_t input_tokens,
                                    const InputPlace& place) {
  constexpr const char* kAccepted = "a list of whole numbers, 0 or more";
  const json& list = member(object, "hash_ids", place, kAccepted);
  if (!list.is_array()) {
    throw_bad_input(place, "hash_ids", "found " + quoted_excerpt(list.dump()), kAccepted);
  }
  const std::int64_t blocks = (input_tokens + kMooncakeBlockTokens - 1) / kMooncakeBlockTokens;
  if (static_cast<std::int64_t>(list.size()) != blocks) {
    throw_bad_input(place, "hash_ids", "found " + std::to_string(list.size()) + " ids",
                    std::to_string(blocks) + " ids for input_length " +
                        std::to_string(input_tokens) + ", one a block of 512 tokens");
  }
  std::vector<std::int64_t> ids;
  ids.reserve(list.size());
  for (const json& value : list) {
    std::int64_t id = 0;
    if (!whole_number(value, id) || id < 0) {
      throw_bad_input(place, "hash_ids", "found " + quoted_excerpt(value.dump()), kAccepted);
    }
    ids.push_back(id);
  }
  return ids;
}

class MooncakeJsonlReader : public TraceReader {
 public:
  bool next(std::istream& in, InputPlace& place, Request& row) override {
    if (!next_line(in, place, line_)) return false;
    const json object = json::parse(line_, nullptr, /*allow_exceptions=*/false);
    if (!object.is_object()) {
      throw_bad_input(place, "", "found " + quoted_excerpt(line_),
                      "one JSON object a line with timestamp, input_length, output_length and "
                      "hash_ids");
    }
    row.arrival_ns = arrival(object, place);
    row.input_tokens = length(object, "input_length", place);
    row.output_tokens = length(object, "output_length", place);
    row.block_ids = block_ids(object, row.input_tokens, place);
    return true;
  }

 private:
  std::string line_;
};

}  // namespace

// By substring, so that a damaged first row is still reported by the reader, with its field.
// chat_id marks the Bailian format: the same keys, but seconds and 16-token blocks.
bool is_mooncake_jsonl(std::string_view first_line) {
  const auto has = [&](std::string_view key) {
    return first_line.find(key) != std::string_view::npos;
  };
  return without_blanks(first_line).starts_with('{') && has("\"input_length\"") &&
         has("\"output_length\"") && !has("\"chat_id\"");
}

std::unique_ptr<TraceReader> make_mooncake_jsonl_reader() {
  return std::make_unique<MooncakeJsonlReader>();
}

}  // namespace shiftpoint
