// Has the bottleneck moved from attention to the experts? What the published throughputs force,
// allow and exclude, with the acceptance length unknown (identified_set.h).
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "experiments/claims/checks.h"
#include "experiments/claims/series.h"
#include "sim/core/hardware.h"
#include "sim/core/model.h"
#include "sim/cost/step_time.h"
#include "sim/moe/routing.h"

namespace shiftpoint::checks {
namespace {

// Experts that wait for the slowest rank, whole-expert placement and uniform routing: what perfect
// balance would save in a step. Bytes of (max - mean) experts a rank at the card's weight rate.
double expert_wait_ms(std::int64_t tokens) {
  const ModelConfig model;
  const HardwareConfig hardware;
  const double slowest =
      expected_max_rank_experts(model.experts, model.experts_per_token, hardware.ranks, tokens);
  const double mean = expected_activated_experts(model.experts, model.experts_per_token, tokens) /
                      static_cast<double>(hardware.ranks);
  return (slowest - mean) * model.expert_bytes() * static_cast<double>(model.moe_layers()) /
         (hardware.moe_read_gbps * 1e9) * 1e3;
}

struct Judgement {
  double context_tokens = 0;
  // Linear attention; nothing where no such curve explains the throughputs.
  std::optional<Interval> share_any_curve, share_falling;
  double share_constant_max = 0;        // any non-decreasing attention
  double needed_ratio = 0;              // L(first) / L(last) for a share above one half
  double wait_share_max = 0;            // at acceptance length 1
  double rate_for_one_eighth_gbps = 0;  // weight rate at which the wait would reach 1/8
  std::string grounds;                  // of a contradiction
  Verdict verdict = Verdict::kNotIdentified;
};

// The largest of the parts of a step is at least 1/kParts of it.
constexpr double kLargestPartAtLeast = 1.0 / kParts;

static_assert(kParts == 8, "the rule below names the number of parts");

constexpr const char* kShiftRule =
    "contradicted at every acceptance length where the wait for the slowest rank (uniform routing, "
    "whole experts, acceptance length 1) is below 1/8 of the step, which the largest of 8 parts "
    "cannot be; contradicted at constant acceptance where the context-independent part cannot "
    "exceed attention (share <= 1/2) for any attention that does not fall with context; where "
    "share > 1/2 is forced for every acceptance curve in the range, experiment:bottleneck_shift "
    "decides; not identified otherwise";

std::vector<Judgement> judge(const CheckContext& context, const Series& series) {
  const Interval acceptance = acceptance_range(static_cast<double>(context.whole("draft_tokens")));
  const ShareSet any = linear_share_set(series.points, acceptance, AcceptanceCurve::kArbitrary);
  const ShareSet falling =
      linear_share_set(series.points, acceptance, AcceptanceCurve::kNonIncreasing);
  const std::vector<double> constant =
      any_attention_max_share(series.points, acceptance, AcceptanceCurve::kConstant);
  const double wait_ms = expert_wait_ms(static_cast<std::int64_t>(acceptance.high));
  std::vector<Judgement> all;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const Throughput& point = series.points[i];
    Judgement j;
    j.context_tokens = point.context_tokens;
    if (any.feasible) j.share_any_curve = any.share[i];
    if (falling.feasible) j.share_falling = falling.share[i];
    j.share_constant_max = constant[i];
    j.needed_ratio =
        least_acceptance_ratio(series.points.front(), series.points.back(), point.context_tokens);
    const double wait_share = wait_ms * point.tokens_per_s.high / 1e3 / acceptance.low;
    j.wait_share_max = std::min(1.0, wait_share);
    j.rate_for_one_eighth_gbps = HardwareConfig().moe_read_gbps * wait_share / kLargestPartAtLeast;
    if (j.share_constant_max <= 0.5) j.grounds = "at constant acceptance";
    if (j.wait_share_max < kLargestPartAtLeast) j.grounds = "at every acceptance length";
    if (!j.grounds.empty()) {
      j.verdict = Verdict::kContradicted;
    } else if (j.share_any_curve && j.share_any_curve->low > 0.5) {
      j.verdict = Verdict::kNeeds;
    }
    all.push_back(j);
  }
  return all;
}

std::string share_text(const std::optional<Interval>& share) {
  if (!share) return "no share";
  return fmt::format("{:.1f}-{:.1f} %", 100 * share->low, 100 * share->high);
}

std::string verdict_words(const Judgement& j) {
  if (j.verdict == Verdict::kContradicted) return "contradicted " + j.grounds;
  return j.verdict == Verdict::kNeeds ? "forced" : "not identified";
}

void decide_forced(const CheckContext& context, const Judgement& j, Finding& finding) {
  const std::string at = fmt::format("{:.0f}", j.context_tokens);
  const double* wait = context.metric("bottleneck_shift", "expert_wait_share_" + at);
  const double* largest = context.metric("bottleneck_shift", "largest_share_" + at);
  if (wait == nullptr || largest == nullptr) {
    finding.detail = "experiment:bottleneck_shift";
    return;
  }
  finding.verdict = *wait >= *largest ? Verdict::kSupported : Verdict::kContradicted;
  finding.add("simulated_expert_wait_share", *wait, "");
  finding.add("simulated_largest_share", *largest, "");
  finding.inputs.push_back("experiment:bottleneck_shift");
}

// Least L(first) / L(last) of a curve that does not rise with context, linear attention; 0 if none.
double least_fall(const Series& series, const Interval& acceptance) {
  const ShareSet falling =
      linear_share_set(series.points, acceptance, AcceptanceCurve::kNonIncreasing);
  if (!falling.feasible) return 0;
  // a / b from the share at the first context; the ratio rises with it.
  const double share = falling.share.front().low;
  if (share >= 1) return 0;
  const double at = share / (1 - share) * series.points.front().context_tokens;
  return least_acceptance_ratio(series.points.front(), series.points.back(), at);
}

const std::vector<std::string> kClosedForms = {"sim/moe expected_max_rank_experts",
                                               "sim/moe expected_activated_experts"};

}  // namespace

Finding shift_at_context(const CheckContext& context) {
  const Series series = throughput_series(context, context.text("throughputs"));
  const double at = context.context_tokens(context.claim());
  Finding finding;
  finding.tolerance = kShiftRule;
  finding.inputs = series.ids;
  finding.inputs.insert(finding.inputs.end(), kClosedForms.begin(), kClosedForms.end());
  for (const Judgement& j : judge(context, series)) {
    if (j.context_tokens != at) continue;
    finding.verdict = j.verdict;
    if (j.share_any_curve) finding.add("share_any_acceptance_curve", *j.share_any_curve, "");
    if (j.share_falling) finding.add("share_falling_acceptance", *j.share_falling, "");
    finding.add("share_constant_acceptance", {0, j.share_constant_max}, "");
    finding.add("needed_acceptance_ratio",
                {j.needed_ratio, static_cast<double>(context.whole("draft_tokens"))}, "x");
    finding.add("expert_wait_share_at_most", j.wait_share_max, "");
    finding.add("weight_rate_for_one_eighth", j.rate_for_one_eighth_gbps, "GB/s");
    if (j.verdict == Verdict::kNeeds) decide_forced(context, j, finding);
    finding.explanation = fmt::format(
        "{} at {:.0f} tokens: balancing experts would save at most {:.1f} % of the step (12.5 % "
        "would take weights read at {:.0f} GB/s); all that is independent of context is at most "
        "{:.1f} % at constant acceptance, {} if acceptance falls and attention is linear; more "
        "than half needs L({:.0f})/L({:.0f}) >= {:.2f}",
        verdict_words(j), at, 100 * j.wait_share_max, j.rate_for_one_eighth_gbps,
        100 * j.share_constant_max, share_text(j.share_falling),
        series.points.front().context_tokens, series.points.back().context_tokens, j.needed_ratio);
    return finding;
  }
  context.fail("context_tokens",
               fmt::format("no throughput of {} at {:.0f} tokens", context.text("throughputs"), at),
               "a context of those throughputs");
}

Finding shift_overall(const CheckContext& context) {
  const Series series = throughput_series(context, context.text("throughputs"));
  Finding finding;
  finding.tolerance = std::string(
                          "judged by context; contradicted (or forced) as a whole only if "
                          "it is so at every published context. By context: ") +
                      kShiftRule;
  finding.inputs = series.ids;
  finding.inputs.insert(finding.inputs.end(), kClosedForms.begin(), kClosedForms.end());
  std::string by_context;
  std::size_t contradicted = 0, forced = 0;
  const std::vector<Judgement> all = judge(context, series);
  for (const Judgement& j : all) {
    contradicted += j.verdict == Verdict::kContradicted ? 1 : 0;
    forced += j.verdict == Verdict::kNeeds ? 1 : 0;
    by_context += fmt::format(
        "{}{:.0f} tokens: {} (constant acceptance at most {:.1f} %, falling acceptance {}, more "
        "than "
        "half needs a fall by {:.2f}x or more)",
        by_context.empty() ? "" : "; ", j.context_tokens, verdict_words(j),
        100 * j.share_constant_max, share_text(j.share_falling), j.needed_ratio);
    if (j.share_any_curve) finding.add("share_any_acceptance_curve", *j.share_any_curve, "");
  }
  finding.verdict = Verdict::kNotIdentified;
  if (contradicted == all.size()) finding.verdict = Verdict::kContradicted;
  if (forced == all.size()) {
    finding.verdict = Verdict::kNeeds;
    finding.detail = "experiment:bottleneck_shift";
  }
  finding.explanation = "context-independent share of the step at " + by_context;
  return finding;
}

Finding constant_acceptance(const CheckContext& context) {
  const Interval acceptance = acceptance_range(static_cast<double>(context.whole("draft_tokens")));
  Interval host_ms = exactly(0);
  Finding finding;
  for (const std::string& id : context.list("host")) {
    host_ms = host_ms + context.value(context.other(id));
    finding.inputs.push_back(id);
  }
  finding.tolerance =
      "contradicted when, for some kernel, the largest context-independent time that a constant "
      "acceptance length allows (times the largest length; attention linear or concave in context) "
      "is below the published host time of a step, which is part of it";
  finding.verdict = Verdict::kNotIdentified;
  for (const std::string& prefix : context.list("throughputs")) {
    const Series series = throughput_series(context, prefix);
    finding.inputs.insert(finding.inputs.end(), series.ids.begin(), series.ids.end());
    const double per_accepted = concave_max_context_free_ms(series.points);
    const double most_ms = per_accepted > 0 ? per_accepted * acceptance.high : per_accepted;
    const bool linear =
        linear_share_set(series.points, acceptance, AcceptanceCurve::kConstant).feasible;
    for (const Chord& chord : constant_acceptance_chords(series.points)) {
      finding.add("chord_intercept_ms_per_accepted", chord.intercept_ms, "ms");
    }
    if (most_ms < host_ms.low) finding.verdict = Verdict::kContradicted;
    finding.explanation += fmt::format(
        "{}{}: at constant acceptance at most {:.2f} ms are independent of context ({} "
        "linear fit within rounding)",
        finding.explanation.empty() ? "" : "; ", prefix, most_ms, linear ? "a" : "no");
    const double fall = least_fall(series, acceptance);
    if (fall > 0) {
      finding.add("least_fall_of_acceptance", fall, "x");
      finding.explanation +=
          fmt::format(", with linear attention it fell {:.2f}x or more (if it never rose)", fall);
    }
  }
  finding.explanation += fmt::format(
      "; host work alone is {:.2f} ms: acceptance fell with context, or the published rates "
      "contain something else",
      host_ms.middle());
  return finding;
}

Finding kernel_ratio(const CheckContext& context) {
  const double at = context.context_tokens(context.claim());
  const Series fast = throughput_series(context, context.text("final"));
  Finding finding;
  finding.inputs = fast.ids;
  finding.tolerance =
      "two kernels at the same context share the acceptance length, so the ratio of their "
      "throughputs cancels it; supported (contradicted) only if the share is above (below) 1/2 for "
      "every kernel and every pair of contexts, attention linear in both";
  bool above = true, below = true;
  Interval longest_span{1, 0};
  std::size_t pairs = 0, infeasible = 0;
  for (const std::string& prefix : context.list("others")) {
    const Series slow = throughput_series(context, prefix);
    finding.inputs.insert(finding.inputs.end(), slow.ids.begin(), slow.ids.end());
    for (std::size_t i = 0; i < fast.points.size(); ++i) {
      for (std::size_t j = i + 1; j < fast.points.size(); ++j) {
        const Throughput* from = slow.at(fast.points[i].context_tokens);
        const Throughput* to = slow.at(fast.points[j].context_tokens);
        if (from == nullptr || to == nullptr) continue;
        ++pairs;
        const RatioShare share = kernel_ratio_share(fast.points[i], fast.points[j], *from, *to, at);
        if (!share.feasible) {
          ++infeasible;
          above = below = false;
          continue;
        }
        above = above && share.share.low > 0.5;
        below = below && share.share.high < 0.5;
        finding.add("share_from_ratio", share.share, "");
        if (i == 0 && j + 1 == fast.points.size()) {
          longest_span = {std::min(longest_span.low, share.share.low),
                          std::max(longest_span.high, share.share.high)};
        }
      }
    }
  }
  finding.verdict = Verdict::kNotIdentified;
  if (pairs > 0 && above) finding.verdict = Verdict::kSupported;
  if (pairs > 0 && below) finding.verdict = Verdict::kContradicted;
  const std::string span_text = longest_span.low > longest_span.high
                                    ? "no share"
                                    : fmt::format("a share of {:.1f}-{:.1f} %",
                                                  100 * longest_span.low, 100 * longest_span.high);
  finding.explanation = fmt::format(
      "from the shortest to the longest context the kernels' ratios give {} at {:.0f} tokens "
      "whatever the acceptance length; of all {} pairs of kernels and contexts {} admit no linear "
      "attention",
      span_text, at, pairs, infeasible);
  return finding;
}

}  // namespace shiftpoint::checks
