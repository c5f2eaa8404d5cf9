#include "sim/core/error.h"

#include <utility>

namespace shiftpoint {

std::string describe_bad_input(const InputPlace& place, const std::string& field,
                               const std::string& found, const std::string& accepted) {
  std::string text;
  if (!place.file.empty()) {
    text += place.file;
    if (place.line > 0) text += ":" + std::to_string(place.line);
    text += ": ";
  }
  if (!field.empty()) text += "'" + field + "': ";
  if (!found.empty()) text += found;
  if (!accepted.empty()) text += (found.empty() ? "accepted: " : "; accepted: ") + accepted;
  return text;
}

BadValue::BadValue(std::string which, std::string what_found, std::string what_accepted)
    : UserError(describe_bad_input({}, which, what_found, what_accepted)),
      field(std::move(which)),
      found(std::move(what_found)),
      accepted(std::move(what_accepted)) {}

std::string quoted_excerpt(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string shown = "'";
  for (const char c : text.substr(0, kShown)) shown += c >= ' ' && c <= '~' ? c : '?';
  return shown + (text.size() > kShown ? "...'" : "'");
}

void throw_bad_input(const InputPlace& place, const std::string& field, const std::string& found,
                     const std::string& accepted) {
  if (place.file.empty() && !field.empty()) throw BadValue(field, found, accepted);
  throw UserError(describe_bad_input(place, field, found, accepted));
}

void fail_invariant(const char* condition, const char* file, int line, const std::string& detail) {
  throw InvariantError(std::string(file) + ":" + std::to_string(line) + ": invariant '" +
                       condition + "' broken: " + detail);
}

}  // namespace shiftpoint
