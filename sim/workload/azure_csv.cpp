// TIMESTAMP,ContextTokens,GeneratedTokens
// 2023-11-16 18:15:46.6805900,374,44
// Columns are found by name, in any order; others are ignored. Cells are not quoted. Lines may end
// in CR LF, as the published files do.
#include "sim/workload/azure_csv.h"

#include <array>
#include <chrono>

#include "sim/workload/line_reader.h"

namespace shiftpoint {
namespace {

constexpr std::array<const char*, 3> kColumns = {"TIMESTAMP", "ContextTokens", "GeneratedTokens"};
constexpr const char* kAcceptedHeader =
    "a header line with TIMESTAMP, ContextTokens and GeneratedTokens, in any order";

std::vector<std::string_view> split_cells(std::string_view line) {
  std::vector<std::string_view> cells;
  for (std::size_t start = 0;;) {
    const std::size_t comma = line.find(',', start);
    cells.push_back(without_blanks(line.substr(start, comma - start)));
    if (comma == std::string_view::npos) return cells;
    start = comma + 1;
  }
}

std::size_t times_present(const std::vector<std::string_view>& cells, std::string_view name) {
  std::size_t count = 0;
  for (const std::string_view cell : cells) count += cell == name ? 1 : 0;
  return count;
}

// Exactly `digits` decimal digits at the front of `text`, which are then taken off.
bool take_digits(std::string_view& text, std::size_t digits, unsigned& value) {
  if (text.size() < digits) return false;
  value = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  text.remove_prefix(digits);
  return true;
}

bool take_char(std::string_view& text, std::string_view accepted) {
  if (text.empty() || accepted.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

// ".6805900" -> 680590000; nothing -> 0. More digits than ns are refused, not cut off.
bool take_fraction(std::string_view& text, Nanos& ns) {
  ns = 0;
  if (!take_char(text, ".")) return true;
  Nanos unit = kNanosPerSecond;
  unsigned digit = 0;
  while (take_digits(text, 1, digit)) {
    if (unit == 1) return false;
    unit /= 10;
    ns += static_cast<Nanos>(digit) * unit;
  }
  return unit < kNanosPerSecond;  // at least one digit after the point
}

class AzureCsvReader : public TraceReader {
 public:
  void read_header(std::istream& in, InputPlace& place) override {
    if (!next_line(in, place, line_)) return;
    const std::vector<std::string_view> cells = split_cells(line_);
    for (std::size_t c = 0; c < kColumns.size(); ++c) {
      if (times_present(cells, kColumns[c]) != 1) {
        const bool missing = times_present(cells, kColumns[c]) == 0;
        throw_bad_input(place, kColumns[c],
                        std::string(missing ? "no such column in " : "column occurs twice in ") +
                            quoted_excerpt(line_),
                        kAcceptedHeader);
      }
      while (cells[position_[c]] != kColumns[c]) ++position_[c];
    }
    cells_ = cells.size();
  }

  bool next(std::istream& in, InputPlace& place, Request& row) override {
    if (!next_line(in, place, line_)) return false;
    const std::vector<std::string_view> cells = split_cells(line_);
    if (cells.size() != cells_) {
      throw_bad_input(
          place, "", "found " + std::to_string(cells.size()) + " cells in " + quoted_excerpt(line_),
          std::to_string(cells_) + " cells, as in the header");
    }
    const std::string_view time = cells[position_[0]];
    if (!parse_datetime(time, row.arrival_ns)) {
      throw_bad_input(place, kColumns[0], "found " + quoted_excerpt(time),
                      "a time like 2023-11-16 18:15:46.6805900, years 1970 to 2199");
    }
    row.input_tokens = length(place, 1, cells);
    row.output_tokens = length(place, 2, cells);
    row.block_ids.clear();
    return true;
  }

 private:
  std::int64_t length(const InputPlace& place, std::size_t column,
                      const std::vector<std::string_view>& cells) const {
    const std::string_view cell = cells[position_[column]];
    std::int64_t tokens = 0;
    if (!parse_integer(cell, tokens)) {
      throw_bad_input(place, kColumns[column], "found " + quoted_excerpt(cell), kAcceptedLength);
    }
    check_length(place, kColumns[column], tokens);
    return tokens;
  }

  std::string line_;
  std::size_t cells_ = 0;
  std::array<std::size_t, kColumns.size()> position_ = {};  // of each of kColumns in a row
};

}  // namespace

bool parse_datetime(std::string_view text, Nanos& ns) {
  unsigned year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  Nanos fraction = 0;
  const bool shaped =
      take_digits(text, 4, year) && take_char(text, "-") && take_digits(text, 2, month) &&
      take_char(text, "-") && take_digits(text, 2, day) && take_char(text, " T") &&
      take_digits(text, 2, hour) && take_char(text, ":") && take_digits(text, 2, minute) &&
      take_char(text, ":") && take_digits(text, 2, second) && take_fraction(text, fraction) &&
      (text.empty() || text == "Z" || text == "+00:00");
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(month), std::chrono::day(day)};
  if (!shaped || !date.ok() || year < 1970 || year > 2199) return false;
  if (hour > 23 || minute > 59 || second > 59) return false;
  const Nanos days = std::chrono::sys_days(date).time_since_epoch().count();
  ns = (((days * 24 + hour) * 60 + minute) * 60 + second) * kNanosPerSecond + fraction;
  return true;
}

bool is_azure_csv(std::string_view first_line) {
  const std::vector<std::string_view> cells = split_cells(first_line);
  for (const char* column : kColumns) {
    if (times_present(cells, column) == 0) return false;
  }
  return true;
}

std::unique_ptr<TraceReader> make_azure_csv_reader() {
  return std::make_unique<AzureCsvReader>();
}

}  // namespace shiftpoint
