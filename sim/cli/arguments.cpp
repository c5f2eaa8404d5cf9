#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <iostream>

#include "sim/cli/command.h"
#include "sim/config/bound_option.h"

namespace shiftpoint {
namespace {

namespace po = boost::program_options;

po::options_description describe(const std::vector<std::string>& own) {
  po::options_description all;
  all.add_options()("help", "");
  for (const std::string& name : own) {
    all.add_options()(name.c_str(), po::value<std::string>(), "");
  }
  Scenario defaults;
  for (const BoundOption& option : bind_options(defaults)) {
    all.add_options()(option.key.c_str(), po::value<std::string>(), "");
    all.add_options()(("sweep." + option.key).c_str(), po::value<std::string>(), "");
  }
  all.add_options()("file", po::value<std::vector<std::string>>(), "");
  return all;
}

[[noreturn]] void unknown_option(const Command& command, const std::string& token) {
  Scenario defaults;
  std::string key = token.substr(
      token.find_first_not_of('-') == std::string::npos ? 0 : token.find_first_not_of('-'));
  key = key.substr(0, key.find('='));
  const std::string near = nearest_key(key, bind_options(defaults));
  throw UsageError(describe_bad_input(
      {"command line", 0}, "", "unknown option " + quoted_excerpt(token),
      near.empty() ? fmt::format("what 'shiftpoint {} --help' lists", command.name)
                   : fmt::format("did you mean '--{}'?", near)));
}

}  // namespace

std::string FileArguments::flag(const std::string& name) const {
  for (const auto& [key, value] : flags) {
    if (key == name) return value;
  }
  return {};
}

const Command& command_named(std::string_view name) {
  for (const Command& command : commands()) {
    if (name == command.name) return command;
  }
  throw UsageError("unknown command '" + std::string(name) +
                   "'; accepted: " + joined_names(commands()));
}

FileArguments parse_arguments(const Command& command, const std::vector<std::string>& arguments,
                              const std::vector<std::string>& own, std::size_t file_count) {
  FileArguments result;
  po::positional_options_description positional;
  positional.add("file", -1);
  const po::options_description described = describe(own);
  po::parsed_options parsed(&described);
  try {
    namespace style = po::command_line_style;
    parsed = po::command_line_parser(arguments)
                 .options(described)
                 .positional(positional)
                 .style(style::allow_long | style::long_allow_adjacent | style::long_allow_next)
                 .allow_unregistered()
                 .run();
  } catch (const po::error& error) {
    throw UsageError(std::string("command line: ") + error.what());
  }
  for (const po::option& option : parsed.options) {
    if (option.unregistered) unknown_option(command, option.original_tokens.front());
    if (option.string_key == "help") {
      result.help = true;
      return result;
    }
    const std::string value = option.value.empty() ? "" : option.value.front();
    if (option.string_key == "file") {
      if (value.size() > 1 && value.front() == '-') unknown_option(command, value);
      result.files.push_back(value);
    } else if (std::find(own.begin(), own.end(), option.string_key) != own.end()) {
      if (!result.flag(option.string_key).empty()) {
        throw UsageError("command line: '--" + option.string_key + "': repeated option");
      }
      result.flags.emplace_back(option.string_key, value);
    } else {
      result.overrides.push_back(option.string_key + "=" + value);
    }
  }
  if (result.files.size() != file_count) {
    throw UsageError(fmt::format("found {} argument{}; accepted: shiftpoint {} {}",
                                 result.files.size(), result.files.size() == 1 ? "" : "s",
                                 command.name, command.arguments));
  }
  return result;
}

void print_help(const Command& command, const std::string& own_help, bool with_keys) {
  std::cout << "shiftpoint " << command.name << " " << command.arguments << "\n  " << command.help
            << "\n"
            << own_help;
  if (with_keys) {
    std::cout
        << "\nEvery key below works on the command line (--section.key=value) and in a file\n"
           "(key = value under [section]); shown with its default. A [sweep] section takes\n"
           "section.key = value, value, ... (lists are separated by ';'); a key given on the\n"
           "command line is not swept.\n"
        << options_help();
  }
}

void with_usage_errors(const LoadedScenario& loaded, const std::function<void()>& action) {
  bool bad_value = false;
  try {
    with_places(loaded, [&] {
      try {
        action();
      } catch (const BadValue&) {
        bad_value = true;
        throw;
      }
    });
  } catch (const UserError& error) {
    if (bad_value) throw UsageError(error.what());
    throw;
  }
}

LoadedScenario load_or_usage_error(const std::string& file, const Overrides& overrides) {
  LoadedScenario loaded;
  try {
    loaded = load_scenario(file, overrides);
  } catch (const UserError& error) {
    throw UsageError(error.what());
  }
  // The points of a sweep are checked one by one, when they run.
  if (loaded.sweep.empty()) {
    with_usage_errors(loaded, [&] { check_deployment(loaded.scenario.deployment); });
  }
  return loaded;
}

}  // namespace shiftpoint
