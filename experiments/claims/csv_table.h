// A small reader of comma-separated tables with a header: quotes ("" for a quote), no line breaks
// inside a field. Columns must be exactly those expected, in any order.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <vector>

#include "sim/core/error.h"

namespace shiftpoint {

struct CsvRow {
  std::int64_t line = 0;
  std::map<std::string, std::string> fields;
};

// Throws UserError with file and line. Blank lines are skipped.
std::vector<CsvRow> read_csv(std::istream& csv, const std::string& name,
                             const std::vector<std::string>& columns);

// A finite decimal number; throws UserError naming file, line and field.
double parse_number(const std::string& text, const InputPlace& place, const std::string& field);

}  // namespace shiftpoint
