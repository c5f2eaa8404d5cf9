// Options described beside the struct they fill, without Boost: config/ hands these tables to
// Boost.Program_options, so that one row gives the command-line switch, the line in a file, the
// help text, the range check and the line in `explain`. A default is the member's own initialiser.
//
//   inline constexpr Option<MoeConfig> kMoeOptions[] = {
//       {"placement", "", "how experts lie on ranks", &MoeConfig::placement,
//       one_of(placement_names)},
//       {"step_floor_us", "us", "fixed time of ...", &MoeConfig::floor_us, range(0, 1e6)},
//   };
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace shiftpoint {

// What a value may be. Numbers (and every element of a list): min <= x <= max. Strings: one of the
// '|'-separated names that `names` returns, or anything where it is null.
struct Accepted {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  std::string (*names)() = nullptr;
};

constexpr Accepted anything() {
  return {};
}
constexpr Accepted range(double min, double max) {
  return {min, max, nullptr};
}
constexpr Accepted at_least(double min) {
  return {min, std::numeric_limits<double>::infinity(), nullptr};
}
// For a registry, its function of names: a new entry is then one line in the registry and none
// here. For a fixed list, a lambda: one_of([] { return std::string("fail|reject"); }).
constexpr Accepted one_of(std::string (*names)()) {
  return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(), names};
}

// "a|b|c" from the `name` members of a registry table.
template <class Table>
std::string joined_names(const Table& table) {
  std::string all;
  for (const auto& entry : table) {
    if (!all.empty()) all += '|';
    all += entry.name;
  }
  return all;
}

template <class Config>
struct Option {
  const char* name;  // key inside its section, units last
  const char* unit;  // "" for none
  const char* help;  // one line
  std::variant<std::int64_t Config::*, double Config::*, bool Config::*, std::string Config::*,
               std::vector<double> Config::*>
      member;
  Accepted accepted = {};
};

}  // namespace shiftpoint
