#include <fmt/format.h>

#include <iostream>

#include "sim/cli/command.h"
#include "sim/cli/progress_line.h"
#include "sim/config/unused_keys.h"
#include "sim/report/experiment.h"

namespace shiftpoint {

int command_run(const std::vector<std::string>& arguments) {
  const Command& command = command_named("run");
  const FileArguments parsed = parse_arguments(command, arguments, {}, 1);
  if (parsed.help) {
    print_help(command, "", true);
    return 0;
  }
  const LoadedScenario loaded = load_or_usage_error(parsed.files[0], parsed.overrides);
  if (!loaded.sweep.empty()) {
    throw UsageError(parsed.files[0] + ": has a [sweep] section; accepted: shiftpoint sweep " +
                     parsed.files[0]);
  }
  const std::vector<std::string> unused = unused_keys(loaded, parsed.overrides);
  ExperimentResult result;
  with_usage_errors(loaded, [&] {
    const Experiment experiment = prepare_experiment(loaded);
    ProgressLine line;
    result = run_experiment(experiment, result_dir(experiment), Detail::kFull,
                            [&](std::int64_t ended, std::int64_t total, Nanos now) {
                              line.show(fmt::format("{} of {} requests, {:.1f} s simulated", ended,
                                                    total, s_from_nanos(now)));
                            });
  });
  std::cout << summary_text(result.summary_json);
  for (const std::string& note : unused) std::cout << "note: " << note << "\n";
  for (const std::string& warning : result.warnings) std::cout << "note: " << warning << "\n";
  std::cout << "results in " << result.dir << "\n";
  return 0;
}

}  // namespace shiftpoint
