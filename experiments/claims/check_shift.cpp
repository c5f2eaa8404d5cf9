// Has the bottleneck moved from attention to the experts? What the published throughputs force,
// allow and exclude, with the acceptance length unknown (identified_set.h).
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "experiments/claims/checks.h"
#include "experiments/claims/series.h"
#include "sim/core/hardware.h"
#include "sim/core/model.h"
#include "sim/moe/routing.h"

namespace shiftpoint::checks {
namespace {

// Experts that wait for the slowest rank, whole-expert placement and uniform routing: what perfect
// balance would save in a step. Bytes of (max - mean) experts a rank at the card's weight rate.
// Under tp-sliced placement every rank reads the same experts and the wait is 0. Skewed popularity
// (lognormal or Zipf) and locality of consecutive tokens activate fewer experts and lower max -
// mean too, to 3.1-3.8 experts against 3.86, so uniform routing gives the longest wait of these.
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
  bool constant_and_linear = false;  // some curve is both
  double share_constant_max = 0;     // any non-decreasing attention
  double needed_ratio = 0;           // L(first) / L(last) for a share above one half
  AttentionFloor attention;
  double wait_ms = 0;
  double flip_gbps = 0;  // weight rate below which the wait would exceed attention; 0: no floor
  std::string grounds;   // of a contradiction
  Verdict verdict = Verdict::kNotIdentified;
};

constexpr const char* kShiftRule =
    "contradicted where attention exceeds the wait on every admissible curve: the least attention "
    "that the throughputs allow, over every acceptance length from 1 to the nodes of a step at "
    "every context, is longer than the longest wait for the slowest rank (uniform routing, "
    "whole-expert; under tp-sliced the wait is 0, see C14c); premises: the rates are of decoding "
    "alone, and, where its shape matters, attention is linear or concave in context; where the "
    "context-independent share is above 1/2 on every such curve, experiment:bottleneck_shift "
    "decides; not identified otherwise";

void decide(Judgement& j) {
  const bool by_shape = j.share_any_curve.has_value() && j.attention.concave_ms > j.wait_ms;
  if (j.attention.any_shape_ms > j.wait_ms) {
    j.grounds = "whatever the shape of attention";
  } else if (by_shape) {
    j.grounds = "if attention is linear or concave in context";
  }
  if (!j.grounds.empty()) {
    j.verdict = Verdict::kContradicted;
  } else if (j.share_any_curve && j.share_any_curve->low > 0.5) {
    j.verdict = Verdict::kNeeds;
  }
}

std::vector<Judgement> judge(const CheckContext& context, const Series& series) {
  const Interval acceptance = context.acceptance_lengths();
  const ShareSet any = linear_share_set(series.points, acceptance, AcceptanceCurve::kArbitrary);
  const ShareSet falling =
      linear_share_set(series.points, acceptance, AcceptanceCurve::kNonIncreasing);
  const ShareSet same = linear_share_set(series.points, acceptance, AcceptanceCurve::kConstant);
  const std::vector<double> constant =
      any_attention_max_share(series.points, acceptance, AcceptanceCurve::kConstant);
  const double wait_ms = expert_wait_ms(static_cast<std::int64_t>(acceptance.high));
  std::vector<Judgement> all;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    Judgement j;
    j.context_tokens = series.points[i].context_tokens;
    if (any.feasible) j.share_any_curve = any.share[i];
    if (falling.feasible) j.share_falling = falling.share[i];
    j.constant_and_linear = same.feasible;
    j.share_constant_max = constant[i];
    j.needed_ratio =
        least_acceptance_ratio(series.points.front(), series.points.back(), j.context_tokens);
    j.attention = attention_floor(series.points, acceptance, i);
    j.wait_ms = wait_ms;
    if (j.attention.concave_ms > 0) {
      j.flip_gbps = HardwareConfig().moe_read_gbps * wait_ms / j.attention.concave_ms;
    }
    decide(j);
    all.push_back(j);
  }
  return all;
}

std::string share_text(const Judgement& j) {
  if (!j.share_falling) return "no share if acceptance falls and attention is linear";
  return fmt::format("{:.1f}-{:.1f} % if acceptance falls and attention is linear{}",
                     100 * j.share_falling->low, 100 * j.share_falling->high,
                     j.constant_and_linear ? "" : " (a set that excludes constant acceptance)");
}

// "contradicted at 16384 tokens, if ...".
std::string verdict_words(const Judgement& j) {
  const std::string at = fmt::format("at {:.0f} tokens", j.context_tokens);
  if (j.verdict == Verdict::kContradicted) return "contradicted " + at + ", " + j.grounds;
  return (j.verdict == Verdict::kNeeds ? "forced " : "not identified ") + at;
}

// "attention at least 8.2 ms, wait at most 3.75 ms": the comparison that decides.
std::string comparison_text(const Judgement& j) {
  return fmt::format("attention at least {:.1f} ms, wait for the slowest rank at most {:.2f} ms",
                     j.attention.concave_ms, j.wait_ms);
}

// The one assumed number in the comparison is the rate at which experts' weights are read.
std::string flip_text(const Judgement& j) {
  const double assumed = HardwareConfig().moe_read_gbps;
  if (j.flip_gbps == 0) return "no weight rate would decide it";
  if (j.flip_gbps < assumed) {
    return fmt::format(
        "the order flips only where weights are read below {:.0f} GB/s ({:.0f} assumed)",
        j.flip_gbps, assumed);
  }
  return fmt::format(
      "attention is certain to be longer only where weights are read above {:.0f} GB/s "
      "({:.0f} assumed)",
      j.flip_gbps, assumed);
}

void add_quantities(const Judgement& j, Finding& finding) {
  if (j.share_any_curve) finding.add("share_any_acceptance_curve", *j.share_any_curve, "");
  finding.add("attention_at_least_ms", j.attention.concave_ms, "ms");
  finding.add("attention_at_least_any_shape_ms", j.attention.any_shape_ms, "ms");
  finding.add("expert_wait_ms_whole_expert", {0, j.wait_ms}, "ms");
  if (j.flip_gbps > 0) finding.add("weight_rate_of_flip", j.flip_gbps, "GB/s");
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

const std::vector<std::string> kClosedForms = {"sim/moe expected_max_rank_experts",
                                               "sim/moe expected_activated_experts",
                                               "HardwareConfig moe_read_gbps"};

}  // namespace

Finding shift_at_context(const CheckContext& context) {
  const Series series = throughput_series(context, context.text("throughputs"));
  const double at = context.context_tokens(context.claim());
  const Interval acceptance = context.acceptance_lengths();
  Finding finding;
  finding.tolerance = kShiftRule;
  finding.inputs = series.ids;
  finding.inputs.insert(finding.inputs.end(), kClosedForms.begin(), kClosedForms.end());
  for (const Judgement& j : judge(context, series)) {
    if (j.context_tokens != at) continue;
    finding.verdict = j.verdict;
    add_quantities(j, finding);
    if (j.share_falling) finding.add("share_falling_acceptance", *j.share_falling, "");
    finding.add("share_constant_acceptance", {0, j.share_constant_max}, "");
    finding.add("needed_acceptance_ratio", {j.needed_ratio, acceptance.high}, "x");
    if (j.verdict == Verdict::kNeeds) decide_forced(context, j, finding);
    finding.headline = fmt::format(
        "At {:.0f} tokens attention takes {:.1f} ms or more, waiting for the slowest rank {:.2f} "
        "ms or less.",
        at, j.attention.concave_ms, j.wait_ms);
    finding.explanation = fmt::format(
        "{}: {} for acceptance lengths {:.0f} to {:.0f} at any context (attention linear or "
        "concave; of any shape at least {:.1f} ms; {:.0f} tokens routed uniformly over "
        "whole-expert ranks; under tp-sliced the wait is 0); {}; all that is independent of "
        "context is at most {:.1f} % at constant acceptance, {}; more than half needs "
        "L({:.0f})/L({:.0f}) >= {:.2f}",
        verdict_words(j), comparison_text(j), acceptance.low, acceptance.high,
        j.attention.any_shape_ms, acceptance.high, flip_text(j), 100 * j.share_constant_max,
        share_text(j), series.points.front().context_tokens, series.points.back().context_tokens,
        j.needed_ratio);
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
  std::string by_context, excluded, open;
  std::size_t contradicted = 0, forced = 0;
  const std::vector<Judgement> all = judge(context, series);
  for (const Judgement& j : all) {
    contradicted += j.verdict == Verdict::kContradicted ? 1 : 0;
    forced += j.verdict == Verdict::kNeeds ? 1 : 0;
    std::string& list = j.verdict == Verdict::kContradicted ? excluded : open;
    list += fmt::format("{}{:.0f}", list.empty() ? "" : ", ", j.context_tokens);
    by_context += fmt::format(
        "{}{} ({}; {}; context-independent share at most {:.1f} % at constant acceptance, {}, more "
        "than half needs a fall by {:.2f}x or more)",
        by_context.empty() ? "" : "; ", verdict_words(j), comparison_text(j), flip_text(j),
        100 * j.share_constant_max, share_text(j), j.needed_ratio);
    add_quantities(j, finding);
  }
  finding.verdict = Verdict::kNotIdentified;
  if (contradicted == all.size()) finding.verdict = Verdict::kContradicted;
  if (forced == all.size()) {
    finding.verdict = Verdict::kNeeds;
    finding.detail = "experiment:bottleneck_shift";
  }
  finding.headline = fmt::format(
      "Excluded at {} tokens (attention outlasts the wait, at most {:.2f} ms); open at {}.",
      excluded.empty() ? "no" : excluded, all.front().wait_ms, open.empty() ? "none" : open);
  finding.explanation =
      by_context + "; waits are of uniform routing over whole-expert ranks, 0 under tp-sliced";
  return finding;
}

}  // namespace shiftpoint::checks
