// Claims that only a measurement or an experiment can decide: the check says which one is missing,
// and decides by a fixed rule when its results are there.
#include <fmt/format.h>

#include "experiments/claims/checks.h"
#include "sim/core/model.h"

namespace shiftpoint::checks {
namespace {

Finding& needs(Finding& finding, const std::string& what) {
  finding.verdict = Verdict::kNeeds;
  finding.detail = what;
  return finding;
}

}  // namespace

Finding measured_on_target(const CheckContext& context) {
  Finding finding;
  finding.tolerance = "a reading of one machine: no closed form and no other claim fixes it";
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
  finding.explanation = "both orders are simulated, so their effect (" + context.text("effect") +
                        ") is judged instead";
  return finding;
}

Finding free_list_order(const CheckContext& context) {
  Finding finding;
  finding.tolerance =
      "supported when the sorted free list makes runs at least 2x longer and attention at least 5 "
      "% "
      "faster, contradicted when it does neither, not identified when only one holds";
  const double* runs = context.metric("kv_churn", "mean_run_tokens_unsorted");
  const double* sorted_runs = context.metric("kv_churn", "mean_run_tokens_sorted");
  const double* us = context.metric("kv_churn", "attention_us_unsorted");
  const double* sorted_us = context.metric("kv_churn", "attention_us_sorted");
  if (runs == nullptr || sorted_runs == nullptr || us == nullptr || sorted_us == nullptr) {
    finding.explanation =
        "needs the run lengths of both orders under churn and attention times on their index lists";
    return needs(finding, "experiment:kv_churn");
  }
  const double longer = *sorted_runs / *runs;
  const double faster = *us / *sorted_us;
  finding.inputs = {"experiment:kv_churn"};
  finding.add("run_length_gain", longer, "x");
  finding.add("attention_gain", faster, "x");
  const bool runs_gain = longer >= 2;
  const bool time_gain = faster >= 1.05;
  finding.verdict = runs_gain && time_gain     ? Verdict::kSupported
                    : !runs_gain && !time_gain ? Verdict::kContradicted
                                               : Verdict::kNotIdentified;
  finding.explanation =
      fmt::format("sorting makes runs {:.2f}x longer and attention {:.3f}x faster", longer, faster);
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
  finding.add("lines_per_row", lines, "lines");
  finding.tolerance =
      "the part that can be tested is the low return: supported when perfect contiguity saves less "
      "than 5 % of a simulated step, contradicted otherwise; the reason given (MoE dominates) is "
      "judged by claim C15";
  finding.inputs = {"ModelConfig kv_row_bytes"};
  finding.explanation =
      fmt::format("a row of {:.0f} B is {:.2f} lines of {:.0f} B{}", row_bytes, lines, line_bytes,
                  lines == static_cast<double>(static_cast<std::int64_t>(lines))
                      ? ", so a scattered gather fetches no extra bytes whatever dominates the step"
                      : "");
  const double* gain = context.metric("tier1_return", "step_gain_fraction");
  if (gain == nullptr) return needs(finding, "experiment:tier1_return");
  finding.inputs.push_back("experiment:tier1_return");
  finding.add("step_gain_fraction", *gain, "");
  finding.verdict = *gain < 0.05 ? Verdict::kSupported : Verdict::kContradicted;
  finding.explanation += fmt::format("; perfect contiguity saves {:.2f} % of a step", 100 * *gain);
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
    finding.explanation = fmt::format("{} of {} instruction families have a recorded probe for {}",
                                      recorded, instructions.size(), target);
    return needs(finding, context.claim().needs);
  }
  finding.inputs = {"data/profiles/isa_probe.csv"};
  finding.explanation += " for " + target;
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
    finding.explanation = "needs the split kernels run against the oracle on a GPU";
    return needs(finding, context.claim().needs);
  }
  finding.inputs = {"experiment:kernel_verification"};
  finding.add("tokens", *tokens, "tokens");
  finding.add("mismatched_tokens", *wrong, "tokens");
  finding.verdict = *wrong == 0 ? Verdict::kSupported : Verdict::kContradicted;
  finding.explanation =
      fmt::format("{:.0f} of {:.0f} verified tokens differ from the oracle", *wrong, *tokens);
  return finding;
}

}  // namespace shiftpoint::checks
