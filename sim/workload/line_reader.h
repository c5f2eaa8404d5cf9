// What the trace readers share: lines with their numbers, numbers out of text, and the part of a
// bad line that a message shows. No floating point.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>

#include "sim/core/error.h"

namespace shiftpoint {

// Longest input or output that a trace or a generator may ask for, as in the option table: sums of
// two stay far from overflow, and a mistaken column is found.
inline constexpr std::int64_t kMaxRequestTokens = 100'000'000;

// Next line that is not blank, without its CR; a byte order mark before line 1 is dropped.
// `place.line` counts all lines, blank ones too. False at the end. Throws UserError when the
// stream breaks (and stays bad()).
bool next_line(std::istream& in, InputPlace& place, std::string& line);

std::string_view without_blanks(std::string_view text);  // spaces and tabs at both ends

// The whole of `text` as a decimal integer; false otherwise, also when it does not fit.
bool parse_integer(std::string_view text, std::int64_t& value);

std::string shortest_text(double value);  // "0.8", "1e-09": the fewest digits that read back

// A length read at `place` in `field`: throws UserError unless 1 <= tokens <= kMaxRequestTokens.
void check_length(const InputPlace& place, const char* field, std::int64_t tokens);

inline constexpr const char* kAcceptedLength = "a whole number of tokens from 1 to 100000000";

}  // namespace shiftpoint
