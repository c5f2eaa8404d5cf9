#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <sstream>

#include "sim/cli/command.h"
#include "sim/config/bound_option.h"
#include "sim/config/input_file.h"

namespace shiftpoint {
namespace {

// Nearest-rank quantiles of a column.
std::string column_text(const char* name, std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  std::int64_t sum = 0;
  for (const std::int64_t v : values) sum += v;
  const auto at = [&](std::size_t percent) {
    return values[std::max<std::size_t>(1, (percent * values.size() + 99) / 100) - 1];
  };
  return fmt::format(
      "{:<8} min {}, p25 {}, p50 {}, p75 {}, p90 {}, p99 {}, max {}, mean {:.1f}, sum {}\n", name,
      values.front(), at(25), at(50), at(75), at(90), at(99), values.back(),
      static_cast<double>(sum) / static_cast<double>(values.size()), sum);
}

std::string arrivals_text(const Workload& workload) {
  const auto& requests = workload.requests;
  const double seconds = s_from_nanos(requests.back().arrival_ns);
  std::int64_t same_time = 0;
  for (std::size_t i = 1; i < requests.size(); ++i) {
    same_time += requests[i].arrival_ns == requests[i - 1].arrival_ns ? 1 : 0;
  }
  std::string text = fmt::format("arrivals over {:.1f} s", seconds);
  if (seconds > 0) {
    text += fmt::format(", {:.3f} requests a second",
                        static_cast<double>(requests.size() - 1) / seconds);
  }
  return text + fmt::format(", {} at the time of the one before\n", same_time);
}

// [workload] keys from the command line, without an experiment file.
WorkloadConfig workload_config(const Overrides& overrides) {
  Scenario scenario;
  const std::vector<BoundOption> options = bind_options(scenario);
  scenario.workload.kind = "trace";
  scenario.workload.bad_rows =
      "reject";  // an inspection reports bad rows, it does not stop at them
  for (const std::string& text : overrides) {
    const auto equals = text.find('=');
    for (const BoundOption& option : options) {
      if (option.key != text.substr(0, equals)) continue;
      if (!option.key.starts_with("workload.")) {
        throw UsageError(describe_bad_input({"command line", 0}, option.key, "does nothing here",
                                            "keys of [workload]"));
      }
      const std::string wrong = option.set(text.substr(equals + 1));
      if (!wrong.empty()) {
        throw UsageError(
            describe_bad_input({"command line", 0}, option.key, wrong, option.accepted));
      }
    }
  }
  return scenario.workload;
}

}  // namespace

int command_trace(const std::vector<std::string>& arguments) {
  const Command& command = command_named("trace");
  const FileArguments parsed = parse_arguments(command, arguments, {}, 2);
  if (parsed.help) {
    print_help(command, "", false);
    std::cout << "  FILE may be gzip-compressed, or - for standard input. Bad rows are reported "
                 "and left\n"
                 "  out (--workload.bad_rows=fail stops at the first).\n";
    return 0;
  }
  if (parsed.files[0] != "inspect") {
    throw UsageError("trace: found '" + parsed.files[0] + "'; accepted: inspect");
  }
  WorkloadConfig config = workload_config(parsed.overrides);
  config.trace = parsed.files[1];
  InputFile file = read_input_file(config.trace);
  std::istringstream stream(std::move(file.bytes));
  const Workload workload = make_workload(config, &stream, file.name, 0);
  const TraceCounts& counts = workload.counts;

  std::cout << fmt::format("file     {}\nsha256   {}\nformat   {}\n", file.name, file.sha256,
                           workload.format);
  std::cout << fmt::format("rows     {} read, {} accepted, {} rejected, {} clipped by {} tokens\n",
                           counts.rows, counts.accepted, counts.rejected, counts.clipped_rows,
                           counts.clipped_tokens);
  for (const std::string& message : counts.first_rejections) std::cout << "  " << message << "\n";
  std::vector<std::int64_t> input, output, blocks;
  for (const Request& r : workload.requests) {
    input.push_back(r.input_tokens);
    output.push_back(r.output_tokens);
    blocks.push_back(static_cast<std::int64_t>(r.block_ids.size()));
  }
  std::cout << arrivals_text(workload) << column_text("input", input)
            << column_text("output", output);
  if (workload.block_tokens > 0) {
    std::cout << column_text("blocks", blocks)
              << fmt::format("         prefix blocks of {} tokens\n", workload.block_tokens);
  }
  return 0;
}

}  // namespace shiftpoint
