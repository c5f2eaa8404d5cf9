// The committed claims.csv, changed cell by cell, and its audit by id.
#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

#include "experiments/claims/claims.h"
#include "sim/test_support/catch.h"

namespace shiftpoint::test {

inline std::string committed_claims() {
  std::ifstream file(source_dir() / "experiments" / "claims" / "claims.csv");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// `from`, which must occur exactly once, becomes `to`.
inline std::string with(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos) {
    throw std::logic_error("'" + from + "' does not occur exactly once");
  }
  return std::string(text).replace(at, from.size(), to);
}

// The value of claim `id` in `text`, which must be `from`, becomes `to`.
inline std::string with_value(const std::string& text, const std::string& id,
                              const std::string& from, const std::string& to) {
  const std::size_t row = text.find("\n" + id + ",");
  const std::size_t end = text.find('\n', row + 1);
  if (row == std::string::npos) throw std::logic_error("no row " + id);
  const std::string line = text.substr(row, end - row);
  return std::string(text).replace(row, line.size(), with(line, "," + from + ",", "," + to + ","));
}

inline std::map<std::string, ClaimVerdict> audit(const std::string& text,
                                                 const AuditInputs& inputs = {}) {
  std::istringstream stream(text);
  std::map<std::string, ClaimVerdict> by_id;
  for (const ClaimVerdict& verdict : audit_claims(stream, inputs)) by_id[verdict.id] = verdict;
  return by_id;
}

// The n-th computed quantity of that name.
inline Interval computed(const ClaimVerdict& verdict, const std::string& name, int n = 0) {
  for (const Quantity& quantity : verdict.computed) {
    if (quantity.name == name && n-- == 0) return {quantity.low, quantity.high};
  }
  throw std::logic_error(verdict.id + " computes no " + name);
}

inline std::string message_of(const std::string& text) {
  std::istringstream stream(text);
  try {
    audit_claims(stream, {});
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace shiftpoint::test
