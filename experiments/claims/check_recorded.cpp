// Claims that only a measurement or an experiment can decide: the check says which one is missing,
// and decides by a fixed rule when its results are there.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/claims/checks.h"
#include "sim/core/model.h"

namespace shiftpoint::checks {
namespace {

Finding& needs(Finding& finding, const std::string& what) {
  finding.verdict = Verdict::kNeeds;
  finding.detail = what;
  return finding;
}

// Bandwidths of a gather of 1152-byte rows over an index list in order and in fully random order.
// Only a recorded profile has them: simulated attention times need not depend on the order at all,
// so a verdict from them would be a tautology.
struct Gather {
  const double* identity_gbps = nullptr;
  const double* random_gbps = nullptr;

  bool known() const {
    return identity_gbps != nullptr && random_gbps != nullptr && *identity_gbps > 0 &&
           *random_gbps > 0;
  }
  double slowdown() const { return *identity_gbps / *random_gbps; }
};

Gather recorded_gather(const CheckContext& context) {
  return {context.metric("gather_profile", "gbps_identity_1152"),
          context.metric("gather_profile", "gbps_random_1152")};
}

constexpr const char* kGatherProfile = "gpu:gather-profile";

}  // namespace

Finding measured_on_target(const CheckContext& context) {
  Finding finding;
  finding.tolerance = "a reading of one machine: no closed form and no other claim fixes it";
  finding.headline = fmt::format("{} {} is a reading of one machine; no other number fixes it.",
                                 context.claim().printed, context.claim().unit);
  finding.explanation = fmt::format(
      "{} {} was read on the published deployment and follows from no "
      "other number",
      context.claim().printed, context.claim().unit);
  return needs(finding, context.claim().needs);
}

Finding foreign_source(const CheckContext& context) {
  Finding finding;
  finding.verdict = Verdict::kOutOfScope;
  finding.detail = "a property of another program's source text";
  finding.tolerance = "none: nothing here computes it";
  finding.headline = "Not checked here: both orders are simulated, and " + context.text("effect") +
                     " judges them.";
  finding.explanation = "both orders are simulated, so their effect (" + context.text("effect") +
                        ") is judged instead";
  return finding;
}

Finding free_list_order(const CheckContext& context) {
  Finding finding;
  finding.tolerance =
      "run lengths may be simulated, the time of a gather must be measured (a recorded profile of "
      "1152-byte rows): contradicted when sorting makes runs less than 2x longer, or a fully "
      "random gather is less than 5 % slower than one in order (no order can then slow attention); "
      "supported when, each run beginning with a random row, attention gains 5 % or more; else not "
      "identified";
  const double* runs = context.metric("kv_churn", "mean_run_tokens_unsorted");
  const double* sorted_runs = context.metric("kv_churn", "mean_run_tokens_sorted");
  const Gather gather = recorded_gather(context);
  const bool simulated = runs != nullptr && sorted_runs != nullptr && *runs > 0 && *sorted_runs > 0;
  if (!simulated || !gather.known()) {
    finding.headline =
        "Needs simulated run lengths under churn and a measured gather of 1152-byte rows.";
    finding.explanation =
        "needs the run lengths of both orders under churn (simulated) and the measured bandwidth "
        "of a gather in order and in random order";
    return needs(finding, simulated        ? kGatherProfile
                          : gather.known() ? "experiment:kv_churn"
                                           : std::string("experiment:kv_churn ") + kGatherProfile);
  }
  const double longer = *sorted_runs / *runs;
  // Time of a row relative to one in order: 1, and the excess of a random row where a run begins.
  const double excess = gather.slowdown() - 1;
  const double faster = (1 + excess / *runs) / (1 + excess / *sorted_runs);
  finding.inputs = {"experiment:kv_churn", "experiment:gather_profile"};
  finding.add("run_length_gain", longer, "x");
  finding.add("random_gather_slowdown", gather.slowdown(), "x");
  finding.add("attention_gain", faster, "x");
  finding.verdict = longer < 2 || gather.slowdown() < 1.05 ? Verdict::kContradicted
                    : faster >= 1.05                       ? Verdict::kSupported
                                                           : Verdict::kNotIdentified;
  finding.headline = fmt::format(
      "Sorting makes runs {:.2f}x longer; a random gather is {:.3f}x slower than in order.", longer,
      gather.slowdown());
  finding.explanation = fmt::format(
      "sorting makes runs {:.2f}x longer and attention {:.3f}x faster; a fully random gather is "
      "measured {:.3f}x slower than one in order",
      longer, faster, gather.slowdown());
  return finding;
}

Finding request_contiguity(const CheckContext& context) {
  Finding finding;
  finding.tolerance =
      "supported when the generated part has a mean run of at least 64 slots, contradicted when it "
      "is below twice the acceptance length, else not identified";
  const double* run = context.metric("single_request_contiguity", "generated_mean_run_tokens");
  const double* accepted = context.metric("single_request_contiguity", "acceptance_length");
  if (run == nullptr || accepted == nullptr) {
    finding.headline = "Needs a run: rejected drafts decide how contiguous the generated part is.";
    finding.explanation =
        "true of a prompt; the generated part depends on what rejected drafts leave behind at page "
        "size 1";
    return needs(finding, "experiment:single_request_contiguity");
  }
  finding.inputs = {"experiment:single_request_contiguity"};
  finding.add("generated_mean_run_tokens", *run, "tokens");
  finding.add("acceptance_length", *accepted, "tokens");
  finding.verdict = *run >= 64             ? Verdict::kSupported
                    : *run < 2 * *accepted ? Verdict::kContradicted
                                           : Verdict::kNotIdentified;
  finding.headline = fmt::format("The generated part has a mean run of {:.1f} slots.", *run);
  finding.explanation = fmt::format(
      "the generated part has a mean run of {:.2f} slots at an acceptance length of {:.2f}", *run,
      *accepted);
  return finding;
}

Finding relocation_return(const CheckContext& context) {
  Finding finding;
  const double row_bytes = ModelConfig().kv_row_bytes();
  const double line_bytes = context.number("line_bytes");
  const double lines = row_bytes / line_bytes;
  const bool whole_lines = lines == static_cast<double>(static_cast<std::int64_t>(lines));
  finding.add("lines_per_row", lines, "lines");
  finding.tolerance =
      "the part that can be tested is the low return; the time of a gather must be measured (a "
      "recorded profile of 1152-byte rows), since a simulated one could only repeat its own "
      "assumption: supported when going from a fully random to a contiguous gather saves less than "
      "5 % of a step even if attention were all of it, or less than that with the simulated share "
      "of attention (tier1_return attention_share), contradicted otherwise; the reason given (the "
      "experts dominate) is judged by claim C15";
  finding.inputs = {"ModelConfig kv_row_bytes"};
  finding.explanation = fmt::format(
      "a row of {:.0f} B is {:.2f} lines of {:.0f} B{}", row_bytes, lines, line_bytes,
      whole_lines ? ", so a scattered gather fetches no extra bytes whatever dominates the step"
                  : "");
  finding.headline = fmt::format(
      "A cache row is {:.2f} lines of {:.0f} B; what scattering costs needs a measurement.", lines,
      line_bytes);
  const Gather gather = recorded_gather(context);
  if (!gather.known()) return needs(finding, kGatherProfile);
  // Of attention's time; faster in random order than in order saves nothing.
  const double saved = std::max(0.0, 1 - 1 / gather.slowdown());
  finding.inputs.push_back("experiment:gather_profile");
  finding.add("random_gather_slowdown", gather.slowdown(), "x");
  finding.add("saved_of_attention_at_most", saved, "");
  finding.explanation += fmt::format(
      "; a fully random gather is measured {:.3f}x slower than one in order, so perfect "
      "contiguity saves at most {:.2f} % of attention",
      gather.slowdown(), 100 * saved);
  finding.headline = fmt::format(
      "Perfect contiguity saves at most {:.1f} % of attention (measured gather).", 100 * saved);
  finding.verdict = Verdict::kSupported;
  if (saved < 0.05) return finding;
  const double* share = context.metric("tier1_return", "attention_share");
  if (share == nullptr) return needs(finding, "experiment:tier1_return");
  finding.inputs.push_back("experiment:tier1_return");
  finding.add("step_gain_fraction", saved * *share, "");
  finding.verdict = saved * *share < 0.05 ? Verdict::kSupported : Verdict::kContradicted;
  finding.headline =
      fmt::format("Perfect contiguity saves at most {:.1f} % of a step.", 100 * saved * *share);
  finding.explanation += fmt::format(" and {:.2f} % of a step", 100 * saved * *share);
  return finding;
}

Finding isa_lacks(const CheckContext& context) {
  Finding finding;
  const std::string target = context.text("target");
  const std::vector<std::string> instructions = context.list("instructions");
  finding.tolerance =
      "supported only if the assembler refuses every named family for every recorded " + target +
      " target";
  std::size_t recorded = 0, present = 0;
  for (const std::string& instruction : instructions) {
    bool known = false, assembles = false;
    for (const IsaProbe& probe : context.inputs().isa_probes) {
      // sm_120 and its variants sm_120a, sm_120f.
      const bool same =
          probe.target == target || (probe.target.size() == target.size() + 1 &&
                                     probe.target.compare(0, target.size(), target) == 0 &&
                                     (probe.target.back() == 'a' || probe.target.back() == 'f'));
      if (probe.instruction != instruction || !same) continue;
      known = true;
      assembles = assembles || probe.assembles;
    }
    if (!known) continue;
    ++recorded;
    present += assembles ? 1 : 0;
    finding.add(("assembles_" + instruction).c_str(), assembles ? 1 : 0, "");
    finding.explanation += (finding.explanation.empty() ? "" : ", ") + instruction +
                           (assembles ? " assembles" : " does not assemble");
  }
  if (recorded < instructions.size()) {
    finding.headline = fmt::format("{} of {} instruction families have been tried for {}.",
                                   recorded, instructions.size(), target);
    finding.explanation = fmt::format("{} of {} instruction families have a recorded probe for {}",
                                      recorded, instructions.size(), target);
    return needs(finding, context.claim().needs);
  }
  finding.inputs = {"data/profiles/isa_probe.csv"};
  finding.explanation += " for " + target;
  finding.headline = fmt::format("The assembler accepts {} of {} instruction families for {}.",
                                 present, recorded, target);
  finding.verdict = present == 0 ? Verdict::kSupported : Verdict::kContradicted;
  return finding;
}

Finding kernel_exactness(const CheckContext& context) {
  Finding finding;
  finding.tolerance =
      "our implementation of the same kernel stands in for theirs: supported when every verified "
      "token of the split kernels agrees with the float64 oracle, contradicted otherwise";
  const double* tokens = context.metric("kernel_verification", "tokens");
  const double* wrong = context.metric("kernel_verification", "mismatched_tokens");
  if (tokens == nullptr || wrong == nullptr || *tokens <= 0) {
    finding.headline = "Needs the split kernels run against the oracle on a GPU.";
    finding.explanation = "needs the split kernels run against the oracle on a GPU";
    return needs(finding, context.claim().needs);
  }
  finding.inputs = {"experiment:kernel_verification"};
  finding.add("tokens", *tokens, "tokens");
  finding.add("mismatched_tokens", *wrong, "tokens");
  finding.verdict = *wrong == 0 ? Verdict::kSupported : Verdict::kContradicted;
  finding.headline =
      fmt::format("{:.0f} of {:.0f} verified tokens differ from the oracle.", *wrong, *tokens);
  finding.explanation =
      fmt::format("{:.0f} of {:.0f} verified tokens differ from the oracle", *wrong, *tokens);
  return finding;
}

}  // namespace shiftpoint::checks
