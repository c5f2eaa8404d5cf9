// Option tables bound to one Scenario and stripped of their types, so that files, the command line,
// `explain` and sweeps all go through the same parsing and the same range checks.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/scenario.h"

namespace shiftpoint {

struct BoundOption {
  std::string key;  // "section.name"
  std::string unit;
  std::string help;
  std::string accepted;  // "integer, 1 .. 1000", "one of fifo|need-sort", ...
  bool is_list = false;
  // Parses, checks and stores. Returns "" or what is wrong ("found 'x'", without key or place).
  std::function<std::string(std::string_view text)> set;
  std::function<std::string()> get;  // canonical text
};

// Every option of every module, in the order of `explain`. The scenario must outlive the result.
std::vector<BoundOption> bind_options(Scenario& scenario);

// The known key nearest to `key` by edit distance, or "" when nothing is near.
std::string nearest_key(const std::string& key, const std::vector<BoundOption>& options);

}  // namespace shiftpoint
