#include "experiments/claims/csv_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace shiftpoint {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ",") + name;
  return all;
}

std::vector<std::string> split_line(const std::string& line, const InputPlace& place) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted) {
      if (c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += '"';
        ++i;
      } else if (c == '"') {
        quoted = false;
      } else {
        fields.back() += c;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  if (quoted) throw_bad_input(place, "", "a quote that does not close", "one row a line");
  return fields;
}

void check_header(const std::vector<std::string>& header, const std::vector<std::string>& columns,
                  const InputPlace& place) {
  for (const std::string& column : header) {
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
      throw_bad_input(place, column, "unknown column", joined(columns));
    }
    if (std::count(header.begin(), header.end(), column) > 1) {
      throw_bad_input(place, column, "column given twice", joined(columns));
    }
  }
  for (const std::string& column : columns) {
    if (std::find(header.begin(), header.end(), column) == header.end()) {
      throw_bad_input(place, column, "column missing", joined(columns));
    }
  }
}

}  // namespace

std::vector<CsvRow> read_csv(std::istream& csv, const std::string& name,
                             const std::vector<std::string>& columns) {
  std::vector<std::string> header;
  std::vector<CsvRow> rows;
  InputPlace place{name, 0};
  std::string line;
  while (std::getline(csv, line)) {
    ++place.line;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    const std::vector<std::string> fields = split_line(line, place);
    if (header.empty()) {
      header = fields;
      check_header(header, columns, place);
      continue;
    }
    if (fields.size() != header.size()) {
      throw_bad_input(place, "", "found " + std::to_string(fields.size()) + " fields",
                      std::to_string(header.size()) + " (" + joined(header) + ")");
    }
    CsvRow row;
    row.line = place.line;
    for (std::size_t i = 0; i < fields.size(); ++i) row.fields[header[i]] = fields[i];
    rows.push_back(std::move(row));
  }
  if (header.empty()) throw_bad_input({name, 1}, "", "found no header", joined(columns));
  return rows;
}

double parse_number(const std::string& text, const InputPlace& place, const std::string& field) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || !std::isfinite(number)) {
    throw_bad_input(place, field, "found '" + text + "'", "a decimal number");
  }
  return number;
}

}  // namespace shiftpoint
