#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "sim/cli/command.h"

namespace shiftpoint {

int command_explain(const std::vector<std::string>& arguments) {
  const Command& command = command_named("explain");
  const FileArguments parsed = parse_arguments(command, arguments, {}, 1);
  if (parsed.help) {
    print_help(command, "", true);
    return 0;
  }
  const LoadedScenario loaded = load_or_usage_error(parsed.files[0], parsed.overrides);
  std::size_t key_width = 0;
  std::size_t value_width = 0;
  for (const Setting& s : loaded.settings) {
    key_width = std::max(key_width, s.key.size());
    value_width = std::max(value_width, s.value.size() + s.unit.size() + 1);
  }
  value_width = std::min<std::size_t>(value_width, 32);
  for (const Setting& s : loaded.settings) {
    const std::string value =
        (s.value.empty() ? "(empty)" : s.value) + (s.unit.empty() ? "" : " " + s.unit);
    std::cout << fmt::format("{:<{}}  {:<{}}  {}", s.key, key_width, value, value_width, s.origin);
    if (!s.tag.empty()) std::cout << "  (" << s.tag << ")";
    std::cout << "\n";
  }
  for (const SweepAxis& axis : loaded.sweep) {
    std::cout << fmt::format("sweep.{} takes {} values: {}\n", axis.key, axis.values.size(),
                             fmt::join(axis.values, " | "));
  }
  return 0;
}

}  // namespace shiftpoint
