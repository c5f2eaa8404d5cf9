// What the published throughputs say about the acceptance length, and what ratios of kernels, which
// cancel it, say about the share that does not grow with context (identified_set.h).
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "experiments/claims/checks.h"
#include "experiments/claims/series.h"

namespace shiftpoint::checks {
namespace {

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

// "C01: impossible: ...": what constant acceptance leaves for a step's context-independent part.
std::string context_free_text(const std::string& prefix, double most_ms, const Interval& host_ms) {
  if (most_ms < 0) {
    return fmt::format("{}: impossible: the intercept would be negative ({:.2f} ms)", prefix,
                       most_ms);
  }
  return fmt::format(
      "{}: at most {:.2f} ms are independent of context, {} the {:.2f} ms of host work", prefix,
      most_ms, most_ms < host_ms.low ? "less than" : "enough for", host_ms.middle());
}

}  // namespace

Finding constant_acceptance(const CheckContext& context) {
  const Interval acceptance = context.acceptance_lengths();
  Interval host_ms = exactly(0);
  Finding finding;
  for (const std::string& id : context.list("host")) {
    host_ms = host_ms + context.value(context.other(id));
    finding.inputs.push_back(id);
  }
  finding.tolerance =
      "both premises together are contradicted when, for some kernel, the largest "
      "context-independent time that they allow (times the largest length) is negative or below "
      "the published host time of a step, which is part of it; convex attention is not covered";
  finding.verdict = Verdict::kNotIdentified;
  double worst_ms = std::numeric_limits<double>::infinity();
  std::string worst;
  for (const std::string& prefix : context.list("throughputs")) {
    const Series series = throughput_series(context, prefix);
    finding.inputs.insert(finding.inputs.end(), series.ids.begin(), series.ids.end());
    const double per_accepted = concave_max_context_free_ms(series.points);
    const double most_ms = per_accepted > 0 ? per_accepted * acceptance.high : per_accepted;
    for (const Chord& chord : constant_acceptance_chords(series.points)) {
      finding.add("chord_intercept_ms_per_accepted", chord.intercept_ms, "ms");
    }
    if (most_ms < host_ms.low) finding.verdict = Verdict::kContradicted;
    if (most_ms < worst_ms) worst = context_free_text(prefix, most_ms, host_ms);
    worst_ms = std::min(worst_ms, most_ms);
    finding.explanation += context_free_text(prefix, most_ms, host_ms);
    const double fall = least_fall(series, acceptance);
    if (fall > 0) {
      finding.add("least_fall_of_acceptance", fall, "x");
      finding.explanation += fmt::format(
          ", and if attention is linear and acceptance never rose, it fell {:.2f}x or more", fall);
    }
    finding.explanation += "; ";
  }
  const bool refuted = finding.verdict == Verdict::kContradicted;
  finding.headline =
      refuted ? fmt::format(
                    "Not both: at most {:.1f} ms of a step would not depend on context; host "
                    "work alone takes {:.1f}.",
                    worst_ms, host_ms.middle())
              : fmt::format("Both can hold: {}.", worst);
  if (refuted && worst_ms < 0) {
    finding.headline = fmt::format(
        "Not both: a step at context 0 would take less than no time ({:.1f} "
        "ms an accepted token).",
        worst_ms);
  }
  finding.explanation +=
      refuted ? "constant acceptance and linear-or-concave attention cannot both hold; acceptance "
                "fell, attention is convex, or the rates contain something else (prefill)"
              : "constant acceptance and linear-or-concave attention can both hold";
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
  std::size_t pairs = 0;
  std::string infeasible;
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
          infeasible +=
              fmt::format("{}{} from {:.0f} to {:.0f} tokens", infeasible.empty() ? "" : ", ",
                          prefix, fast.points[i].context_tokens, fast.points[j].context_tokens);
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
  const bool some = longest_span.low <= longest_span.high;
  const std::string span_text =
      some ? fmt::format("{:.1f}-{:.1f} %", 100 * longest_span.low, 100 * longest_span.high)
           : "no share";
  finding.headline =
      fmt::format("Ratios of kernels give a share of {} at {:.0f} tokens{}.", span_text, at,
                  infeasible.empty() ? "" : ", but not every pair fits linear attention");
  finding.explanation = fmt::format(
      "from the shortest to the longest context the kernels' ratios give a share of {} at {:.0f} "
      "tokens whatever the acceptance length; of all {} pairs of kernels and contexts ",
      span_text, at, pairs);
  finding.explanation += infeasible.empty()
                             ? "each admits linear attention"
                             : fmt::format(
                                   "these admit no linear attention: {}, which puts the linear "
                                   "premise of this number in doubt",
                                   infeasible);
  return finding;
}

}  // namespace shiftpoint::checks
