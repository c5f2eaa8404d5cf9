// Options described beside the struct they fill, without Boost: config/ hands these tables to
// Boost.Program_options, so that one row gives the command-line switch, the line in a file, the help
// text, the range check and the line in `explain`. A default is the member's own initialiser.
//
//   inline constexpr Option<MoeConfig> kMoeOptions[] = {
//       {"placement", "", "how experts lie on ranks", &MoeConfig::placement, choices("tp-sliced|whole-expert")},
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
// '|'-separated choices, or anything when there are none.
struct Accepted {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  const char* choices = nullptr;
};

constexpr Accepted anything() { return {}; }
constexpr Accepted range(double min, double max) { return {min, max, nullptr}; }
constexpr Accepted at_least(double min) {
  return {min, std::numeric_limits<double>::infinity(), nullptr};
}
constexpr Accepted choices(const char* list) {
  return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(), list};
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
