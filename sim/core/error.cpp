#include "sim/core/error.h"

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

void throw_bad_input(const InputPlace& place, const std::string& field, const std::string& found,
                     const std::string& accepted) {
  throw UserError(describe_bad_input(place, field, found, accepted));
}

void fail_invariant(const char* condition, const char* file, int line, const std::string& detail) {
  throw InvariantError(std::string(file) + ":" + std::to_string(line) + ": invariant '" +
                       condition + "' broken: " + detail);
}

}  // namespace shiftpoint
