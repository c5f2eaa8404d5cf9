#include <fmt/format.h>

#include <charconv>
#include <iostream>

#include "sim/cli/command.h"
#include "sim/cli/progress_line.h"
#include "sim/config/unused_keys.h"
#include "sim/report/manifest.h"
#include "sim/report/sweep.h"

namespace shiftpoint {
namespace {

Shard parse_shard(const std::string& text) {
  Shard shard;
  const auto slash = text.find('/');
  const auto number = [](std::string_view part, std::int64_t& value) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc() && end == part.data() + part.size();
  };
  const std::string_view view = text;
  if (slash == std::string::npos || !number(view.substr(0, slash), shard.index) ||
      !number(view.substr(slash + 1), shard.count) || shard.index < 0 || shard.count < 1 ||
      shard.index >= shard.count) {
    throw UsageError(describe_bad_input({"command line", 0}, "--shard", "found '" + text + "'",
                                        "i/n with 0 <= i < n"));
  }
  return shard;
}

}  // namespace

int command_sweep(const std::vector<std::string>& arguments) {
  const Command& command = command_named("sweep");
  const FileArguments parsed = parse_arguments(command, arguments, {"shard"}, 1);
  if (parsed.help) {
    print_help(
        command,
        "  --shard=i/n   only the points whose number modulo n is i (0 <= i < n); merge later\n",
        true);
    return 0;
  }
  const Shard shard = parsed.flag("shard").empty() ? Shard{} : parse_shard(parsed.flag("shard"));
  const LoadedScenario loaded = load_or_usage_error(parsed.files[0], parsed.overrides);
  Overrides axes;
  for (const SweepAxis& axis : loaded.sweep) axes.push_back(axis.key);
  for (const std::string& inert : unused_keys(loaded, axes)) {
    throw UsageError(parsed.files[0] + ": [sweep]: " + inert);
  }
  SweepCounts counts;
  with_usage_errors(loaded, [&] {
    ProgressLine line;
    counts =
        run_sweep(loaded, shard, [&](std::int64_t p, std::int64_t n, const std::string& label) {
          line.show(fmt::format("point {} of {}: {}", p + 1, n, label));
        });
  });
  std::cout << fmt::format("{} of {} points run, {} were complete\n", counts.run, counts.points,
                           counts.skipped);
  if (revision_text().ends_with("-modified")) {
    std::cout << "note: built from uncommitted changes, so that no earlier result is reused\n";
  }
  if (shard.count == 1) {
    merge_sweep(loaded);
    std::cout << "results in " << sweep_dir(loaded) << "/points.csv\n";
  } else {
    std::cout << "next: the other shards, then shiftpoint merge " << parsed.files[0] << "\n";
  }
  return 0;
}

int command_merge(const std::vector<std::string>& arguments) {
  const Command& command = command_named("merge");
  const FileArguments parsed = parse_arguments(command, arguments, {}, 1);
  if (parsed.help) {
    print_help(command, "", true);
    return 0;
  }
  const LoadedScenario loaded = load_or_usage_error(parsed.files[0], parsed.overrides);
  merge_sweep(loaded);
  std::cout << "results in " << sweep_dir(loaded) << "/points.csv\n";
  return 0;
}

}  // namespace shiftpoint
