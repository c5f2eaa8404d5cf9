#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <sstream>

#include "experiments/claims/claims.h"
#include "sim/cli/command.h"
#include "sim/report/claim_metrics.h"
#include "sim/report/result_folder.h"

namespace shiftpoint {
namespace {

namespace fs = std::filesystem;

// The nearest `relative` at or above the working folder; as given when there is none.
std::string find_upwards(const std::string& relative) {
  for (fs::path folder = fs::current_path();; folder = folder.parent_path()) {
    if (fs::exists(folder / relative)) {
      return (folder / relative).lexically_relative(fs::current_path()).string();
    }
    if (folder == folder.root_path()) return relative;
  }
}

AuditInputs gather_inputs(const std::string& claims, const std::string& results) {
  AuditInputs inputs;
  inputs.claims_name = claims;
  const std::string probes = find_upwards("data/profiles/isa_probe.csv");
  if (fs::exists(probes)) {
    std::istringstream csv(read_text(probes));
    inputs.isa_probes = read_isa_probes(csv, probes);
  }
  const std::string shift = results + "/bottleneck_shift/points.csv";
  if (fs::exists(shift)) {
    std::istringstream csv(read_text(shift));
    for (const auto& [metric, value] : bottleneck_shift_metrics(csv, shift)) {
      inputs.experiments["bottleneck_shift"][metric] = value;
    }
  }
  return inputs;
}

const char* const kHelp =
    "  --claims=FILE    the claims (default: experiments/claims/claims.csv above the working "
    "folder)\n"
    "  --results=DIR    results of our experiments that claims are held against (default: "
    "results)\n"
    "  --output.dir=DIR where claims.json and claims.md go (default: results/audit)\n";

}  // namespace

int command_audit(const std::vector<std::string>& arguments) {
  const Command& command = command_named("audit");
  const FileArguments parsed = parse_arguments(command, arguments, {"claims", "results"}, 0);
  if (parsed.help) {
    print_help(command, kHelp, false);
    return 0;
  }
  std::string dir = "results/audit";
  for (const std::string& override_text : parsed.overrides) {
    if (!override_text.starts_with("output.dir=")) {
      throw UsageError(
          describe_bad_input({"command line", 0}, override_text.substr(0, override_text.find('=')),
                             "does nothing here", "--claims, --results, --output.dir"));
    }
    dir = override_text.substr(override_text.find('=') + 1);
  }
  const std::string claims = parsed.flag("claims").empty()
                                 ? find_upwards("experiments/claims/claims.csv")
                                 : parsed.flag("claims");
  const std::string results = parsed.flag("results").empty() ? "results" : parsed.flag("results");
  if (!parsed.flag("results").empty() && !fs::is_directory(results)) {
    throw UsageError(describe_bad_input({"command line", 0}, "--results",
                                        "no folder " + quoted_excerpt(results), "a folder"));
  }
  std::istringstream csv(read_text(claims));
  const std::vector<ClaimVerdict> verdicts = audit_claims(csv, gather_inputs(claims, results));

  std::cout << to_table(verdicts) << "\n";
  std::map<std::string, int> counts;
  for (const ClaimVerdict& v : verdicts) {
    ++counts[v.verdict == Verdict::kNeeds ? "needs more"
                                          : verdict_text(v).substr(0, verdict_text(v).find(' '))];
  }
  for (const auto& [verdict, count] : counts)
    std::cout << fmt::format("{:>4} {}\n", count, verdict);
  write_files(dir, {{"claims.json", to_json(verdicts)}, {"claims.md", to_markdown(verdicts)}});
  std::cout << "verdicts with their numbers in " << dir << "/claims.json and claims.md\n";
  return 0;
}

}  // namespace shiftpoint
