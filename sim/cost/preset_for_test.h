// Presets read by a few lines of test code, so that the tests of this module need neither Boost nor
// config/: "key = value  # comment" inside one section.
#pragma once

#include <fstream>
#include <string>
#include <variant>

#include "sim/core/option_table.h"
#include "sim/test_support/catch.h"

namespace shiftpoint::test {

template <class Config, std::size_t Rows>
Config read_preset(const std::string& path_in_data, const Option<Config> (&options)[Rows]) {
  std::ifstream file(source_dir() / "data" / path_in_data);
  REQUIRE(file);
  Config config;
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t equals = line.find('=');
    if (line.empty() || line[0] == '[' || equals == std::string::npos) continue;
    const std::string key = line.substr(0, line.find_last_not_of(' ', equals - 1) + 1);
    bool known = false;
    for (const Option<Config>& option : options) {
      if (key != option.name) continue;
      known = true;
      const double value = std::stod(line.substr(equals + 1));
      if (const auto* whole = std::get_if<std::int64_t Config::*>(&option.member)) {
        config.*(*whole) = static_cast<std::int64_t>(value);
      } else {
        config.*(std::get<double Config::*>(option.member)) = value;
      }
    }
    INFO(path_in_data << ": " << key);
    REQUIRE(known);
  }
  return config;
}

}  // namespace shiftpoint::test
