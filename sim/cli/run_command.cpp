#include <fmt/format.h>

#include <iostream>

#include "sim/cli/command.h"
#include "sim/report/manifest.h"

namespace shiftpoint {
namespace {

void print_overview(std::ostream& out) {
  out << "shiftpoint finds where the bottleneck of large-model decoding moves.\n\n";
  for (const Command& command : commands()) {
    out << fmt::format("  shiftpoint {} {}\n      {}\n", command.name, command.arguments,
                       command.help);
  }
  out << "\n  shiftpoint COMMAND --help   the command's options and every configuration key\n"
         "  shiftpoint --version        version and revision\n";
}

}  // namespace

int run_command(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    print_overview(std::cerr);
    return 2;
  }
  if (arguments[0] == "--help" || arguments[0] == "help") {
    print_overview(std::cout);
    return 0;
  }
  if (arguments[0] == "--version") {
    std::cout << "shiftpoint " << version_text() << "\n";
    return 0;
  }
  return command_named(arguments[0]).run({arguments.begin() + 1, arguments.end()});
}

}  // namespace shiftpoint
