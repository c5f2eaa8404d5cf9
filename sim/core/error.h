// Two kinds of failure. A UserError is something the user can mend: bad input, a bad option, a
// deployment that cannot work. An InvariantError is a mistake of ours, checked in release builds
// too. Libraries throw; only main turns an exception into an exit status.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace shiftpoint {

// Message shape: "FILE:LINE: field 'F': found X; accepted: Y". Parts that do not apply are left
// out.
struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A value of one key (or field) that no file or line is known for yet: whoever knows where the
// value came from (config/) says it again with its place.
struct BadValue : UserError {
  BadValue(std::string which, std::string what_found, std::string what_accepted);
  std::string field, found, accepted;
};

struct InvariantError : std::logic_error {
  using std::logic_error::logic_error;
};

struct InputPlace {
  std::string file;       // as the user wrote it; empty: no file
  std::int64_t line = 0;  // 1-based; 0: no line
};

// Composes the one message of a bad input. `field`, `found` and `accepted` may be empty.
std::string describe_bad_input(const InputPlace& place, const std::string& field,
                               const std::string& found, const std::string& accepted);

// "'text'", at most 60 characters of it, everything outside printable ASCII as '?': what a message
// may show of an input.
std::string quoted_excerpt(std::string_view text);

// Throws BadValue when `place` names no file and `field` is given, UserError otherwise.
[[noreturn]] void throw_bad_input(const InputPlace& place, const std::string& field,
                                  const std::string& found, const std::string& accepted);

[[noreturn]] void fail_invariant(const char* condition, const char* file, int line,
                                 const std::string& detail);

}  // namespace shiftpoint

// Always on. `detail` is only evaluated when the condition fails.
#define SIM_CHECK(condition, detail)                                          \
  do {                                                                        \
    if (!(condition)) {                                                       \
      ::shiftpoint::fail_invariant(#condition, __FILE__, __LINE__, (detail)); \
    }                                                                         \
  } while (false)
