// Ratios of published throughputs against the ratios that the articles print.
#include <fmt/format.h>

#include "experiments/claims/checks.h"
#include "experiments/claims/series.h"
#include "sim/core/hardware.h"
#include "sim/core/model.h"
#include "sim/cost/step_time.h"

namespace shiftpoint::checks {
namespace {

std::string range_text(const Interval& x) {
  return fmt::format("{:.2f} ({:.2f}-{:.2f})", x.middle(), x.low, x.high);
}

std::string span_text(const Interval& x) {
  return fmt::format("{:.2f}-{:.2f}", x.low, x.high);
}

// The two throughputs named by `numerator` and `denominator`, which must share a context.
Interval ratio_of_claims(const CheckContext& context, const std::string& numerator,
                         const std::string& denominator, Finding& finding) {
  const Claim& top = context.other(numerator);
  const Claim& bottom = context.other(denominator);
  if (context.context_tokens(top) != context.context_tokens(bottom)) {
    context.fail("parameters", top.id + " and " + bottom.id + " have different contexts",
                 "two claims at one context");
  }
  finding.inputs.push_back(top.id);
  finding.inputs.push_back(bottom.id);
  return context.value(top) / context.value(bottom);
}

}  // namespace

Finding speedup(const CheckContext& context) {
  Finding finding;
  finding.tolerance = kRoundingRule;
  const std::vector<std::string> top = context.list("numerator");
  const std::vector<std::string> bottom = context.list("denominator");
  if (top.size() != bottom.size()) {
    context.fail("parameters", "numerator and denominator list different numbers of claims",
                 "as many of each");
  }
  // Several pairs: the claim is one number for all of their contexts.
  bool all = true;
  std::string ratios;
  for (std::size_t i = 0; i < top.size(); ++i) {
    const Interval ratio = ratio_of_claims(context, top[i], bottom[i], finding);
    all = all && ratio.overlaps(context.value());
    finding.add("speedup", ratio, "x");
    const std::string at =
        fmt::format("{:.0f} tokens", context.context_tokens(context.other(top[i])));
    ratios += fmt::format("{}{:.2f}x at {}", i == 0 ? "" : ", ", ratio.middle(), at);
    finding.explanation += fmt::format("{}{} / {} = {}x at {}", i == 0 ? "" : ", ", top[i],
                                       bottom[i], range_text(ratio), at);
  }
  finding.verdict = all ? Verdict::kSupported : Verdict::kContradicted;
  finding.headline = fmt::format("The printed throughputs make it {}; printed: {}x.", ratios,
                                 context.claim().printed);
  finding.explanation += fmt::format(" against the printed {}x", context.claim().printed);
  return finding;
}

Finding speedup_extreme(const CheckContext& context) {
  const Series fast = throughput_series(context, context.text("fast"));
  const Series slow = throughput_series(context, context.text("slow"));
  const std::string which = context.text("which");
  if (which != "least" && which != "greatest") {
    context.fail("which", "found '" + which + "'", "least|greatest");
  }
  Finding finding;
  finding.tolerance = kRoundingRule;
  finding.inputs = fast.ids;
  finding.inputs.insert(finding.inputs.end(), slow.ids.begin(), slow.ids.end());
  Interval extreme;
  std::string all;
  for (const Throughput& point : fast.points) {
    const Throughput* base = slow.at(point.context_tokens);
    if (base == nullptr) continue;
    const Interval ratio = point.tokens_per_s / base->tokens_per_s;
    extreme = all.empty() ? ratio
                          : (which == "least" ? interval_min(extreme, ratio)
                                              : interval_max(extreme, ratio));
    all += fmt::format("{}{}x at {:.0f}", all.empty() ? "" : ", ", range_text(ratio),
                       point.context_tokens);
  }
  if (all.empty()) context.fail("parameters", "no context in common", "two series that share one");
  finding.add("speedup", extreme, "x");
  finding.verdict =
      extreme.overlaps(context.value()) ? Verdict::kSupported : Verdict::kContradicted;
  // Not a middle: the extreme of several intervals is the ratio of no single pair.
  finding.headline = fmt::format("The {} ratio is {}x within rounding; printed: {}x.", which,
                                 span_text(extreme), context.claim().printed);
  finding.explanation = fmt::format("{} of {} is {}x against the printed {}x", which, all,
                                    span_text(extreme), context.claim().printed);
  return finding;
}

Finding speedup_implies_baseline(const CheckContext& context) {
  // throughput / speed-up = the baseline at this context, which must not be slower than the same
  // baseline at a longer one.
  Finding finding;
  const Claim& throughput = context.other(context.text("throughput"));
  const Claim& longer = context.other(context.text("longer_baseline"));
  finding.inputs = {throughput.id, longer.id};
  const Interval implied = context.value(throughput) / context.value();
  finding.tolerance =
      "contradicted when the baseline that the ratio implies is slower than the published baseline "
      "at a longer context (rounding included); a measurement decides otherwise";
  finding.add("implied_baseline_tok_s", implied, "tok/s");
  const bool impossible = implied.high < context.value(longer).low;
  finding.verdict = impossible ? Verdict::kContradicted : Verdict::kNeeds;
  if (!impossible) finding.detail = context.claim().needs;
  finding.headline = fmt::format(
      "It implies a baseline of {} tok/s, {} the {} tok/s at a longer context.", span_text(implied),
      impossible ? "slower than" : "compatible with", longer.printed);
  finding.explanation =
      fmt::format("{} tok/s / {}x imply a baseline of {} tok/s, against {} at {:.0f} tokens",
                  throughput.printed, context.claim().printed, range_text(implied), longer.printed,
                  context.context_tokens(longer));
  return finding;
}

Finding eager_regression(const CheckContext& context) {
  Finding finding;
  // Eager throughput over the baseline that a throughput and its speed-up imply.
  const Claim& eager = context.other(context.text("eager"));
  const Claim& graph = context.other(context.text("graph"));
  const Claim& ratio = context.other(context.text("graph_speedup"));
  finding.inputs = {eager.id, graph.id, ratio.id};
  const Interval baseline = context.value(graph) / context.value(ratio);
  const Interval computed = context.value(eager) / baseline;
  const bool same = computed.overlaps(context.value());
  finding.add("baseline_tok_s", baseline, "tok/s");
  finding.add("eager_over_baseline", computed, "x");
  finding.tolerance =
      std::string(kRoundingRule) +
      "; as the claim names no context, a disagreement at the one context where all "
      "numbers are published leaves it not identified";
  finding.verdict = same ? Verdict::kSupported : Verdict::kNotIdentified;
  finding.headline =
      fmt::format("At {:.0f} tokens the printed numbers give {}x, and the claim names no context.",
                  context.context_tokens(eager), span_text(computed));
  finding.explanation = fmt::format(
      "at {:.0f} tokens {} tok/s eager over the baseline of {} tok/s is {}x, not {}x: another "
      "context or another baseline is meant",
      context.context_tokens(eager), eager.printed, range_text(baseline), range_text(computed),
      context.claim().printed);
  if (same) {
    finding.explanation = fmt::format(
        "at {:.0f} tokens {} tok/s eager over the baseline of {} tok/s is {}x",
        context.context_tokens(eager), eager.printed, range_text(baseline), range_text(computed));
  }
  return finding;
}

Finding eager_speedup(const CheckContext& context) {
  Finding finding;
  const Interval graph =
      ratio_of_claims(context, context.text("numerator"), context.text("denominator"), finding);
  finding.tolerance =
      "contradicted when eager mode would be faster than the same kernel under graphs (rounding "
      "included); a measurement decides otherwise";
  finding.add("graph_speedup", graph, "x");
  const bool impossible = context.value().low > graph.high;
  finding.verdict = impossible ? Verdict::kContradicted : Verdict::kNeeds;
  if (!impossible) finding.detail = context.claim().needs;
  finding.headline = fmt::format(
      "{}x in eager mode, where graphs reach {}x: {}.", context.claim().printed, span_text(graph),
      impossible ? "impossible" : "possible, and only a run can confirm it");
  finding.explanation = fmt::format(
      "{}x in eager mode against {}x with graphs at {:.0f} tokens", context.claim().printed,
      range_text(graph), context.context_tokens(context.other(context.text("numerator"))));
  return finding;
}

Finding graph_gain(const CheckContext& context) {
  Finding finding;
  const Claim& graph = context.other(context.text("graph"));
  const Claim& eager = context.other(context.text("eager"));
  finding.inputs = {graph.id, eager.id, "HardwareConfig launch_us", "CostConfig kernels_per_layer"};
  const Interval gain = ratio_of_claims(context, graph.id, eager.id, finding);
  // Step time that eager mode adds, for each accepted token, and the kernels' launches in it.
  const Interval fast = exactly(1e3) / context.value(graph);
  const Interval slow = exactly(1e3) / context.value(eager);
  const Interval added{slow.low - fast.high, slow.high - fast.low};
  const double launches_ms = HardwareConfig().launch_us * 1e-3 *
                             static_cast<double>(ModelConfig().layers) *
                             static_cast<double>(CostConfig().kernels_per_layer);
  finding.add("graph_gain", gain, "x");
  finding.add("eager_adds_ms_per_accepted", added, "ms");
  finding.add("kernel_launches_ms", launches_ms, "ms");
  const double added_ms = 1e3 / *eager.value - 1e3 / *graph.value;
  finding.tolerance =
      "contradicted when eager mode is published as faster than graphs; a measurement decides "
      "otherwise";
  finding.verdict = gain.high < 1 ? Verdict::kContradicted : Verdict::kNeeds;
  if (finding.verdict == Verdict::kNeeds) finding.detail = context.claim().needs;
  std::string launches = "no time that launches could explain";
  if (added.low > 0) {
    const Interval length = exactly(launches_ms) / added;
    finding.add("acceptance_length_of_launches", length, "tokens");
    launches = fmt::format("which equals {:.1f} ms of launches at acceptance length {:.2f} ({})",
                           launches_ms, launches_ms / added_ms, span_text(length));
  }
  finding.headline =
      fmt::format("Graphs are {}x faster; eager mode adds {:.1f} ms an accepted token.",
                  span_text(gain), added_ms);
  finding.explanation = fmt::format(
      "graphs are {}x faster at {:.0f} tokens; eager mode adds {:.1f} ms times the acceptance "
      "length, {}",
      range_text(gain), context.context_tokens(graph), added_ms, launches);
  return finding;
}

}  // namespace shiftpoint::checks
