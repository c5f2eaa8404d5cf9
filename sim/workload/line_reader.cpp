#include "sim/workload/line_reader.h"

#include <charconv>
#include <system_error>

namespace shiftpoint {

bool next_line(std::istream& in, InputPlace& place, std::string& line) {
  while (std::getline(in, line)) {
    ++place.line;
    if (place.line == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!without_blanks(line).empty()) return true;
  }
  if (in.bad()) {
    throw_bad_input({place.file, place.line + 1}, "", "reading failed before the end of the input",
                    "");
  }
  return false;
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool parse_integer(std::string_view text, std::int64_t& value) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stopped == end;
}

std::string shortest_text(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

void check_length(const InputPlace& place, const char* field, std::int64_t tokens) {
  if (tokens >= 1 && tokens <= kMaxRequestTokens) return;
  throw_bad_input(place, field, "found " + std::to_string(tokens), kAcceptedLength);
}

}  // namespace shiftpoint
