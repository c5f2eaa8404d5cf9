// One command of the program, one file each (command_*.cpp). A command gets its own arguments,
// throws on failure and returns the exit status otherwise. Exit statuses: 0 done, 1 the run failed,
// 2 the input was wrong before anything ran.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/scenario.h"
#include "sim/core/error.h"

namespace shiftpoint {

// Wrong use: unknown command, option or key, bad value. Ends the program with status 2.
struct UsageError : UserError {
  using UserError::UserError;
};

struct Command {
  const char* name;
  const char* arguments;  // for the usage line
  const char* help;       // one line
  int (*run)(const std::vector<std::string>& arguments);
};

// The registry: one line a command (registry.cpp).
const std::vector<Command>& commands();

int run_command(const std::vector<std::string>& arguments);

// What the commands with an experiment file have in common.
struct FileArguments {
  std::vector<std::string> files;
  Overrides overrides;  // --section.key=value, as "section.key=value"
  std::vector<std::pair<std::string, std::string>> flags;  // the command's own options
  bool help = false;

  std::string flag(const std::string& name) const;  // "" if not given
};

// Parses with Boost.Program_options. `own` names the command's own options (they take a value).
// `file_count`: exactly so many positional arguments (none may follow --help). Throws UsageError.
FileArguments parse_arguments(const Command& command, const std::vector<std::string>& arguments,
                              const std::vector<std::string>& own, std::size_t file_count);

const Command& command_named(std::string_view name);

// Prints what a command does and, with keys, every key of the option tables.
void print_help(const Command& command, const std::string& own_help, bool with_keys);

// Loads an experiment and checks that its deployment can work; every failure is a UsageError that
// names the place of the key.
LoadedScenario load_or_usage_error(const std::string& file, const Overrides& overrides);

// Runs `action`; a value that turns out to be bad becomes a UsageError with the place that set it.
void with_usage_errors(const LoadedScenario& loaded, const std::function<void()>& action);

int command_run(const std::vector<std::string>& arguments);
int command_sweep(const std::vector<std::string>& arguments);
int command_merge(const std::vector<std::string>& arguments);
int command_explain(const std::vector<std::string>& arguments);
int command_trace(const std::vector<std::string>& arguments);
int command_audit(const std::vector<std::string>& arguments);

}  // namespace shiftpoint
