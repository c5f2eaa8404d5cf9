// Bytes and operations that a published throughput implies, at every acceptance length that a
// verify step can have.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/claims/checks.h"
#include "experiments/claims/series.h"
#include "sim/core/hardware.h"
#include "sim/core/model.h"
#include "sim/moe/routing.h"

namespace shiftpoint::checks {
namespace {

// Rows of an M tile of the tensor-core product that expert and dense layers use at few tokens.
constexpr double kTileRows = 16;

// Reads of a cache row by a kernel that fetches K (latent and rope), then V (the latent again) from
// memory, as the Triton verify kernel that is the baseline does (attention variant extend-serial).
double reads_of_k_then_v() {
  const ModelConfig model;
  return 1 +
         static_cast<double>(model.kv_latent_dims) / static_cast<double>(model.kv_row_elements());
}

// GB/s of one rank that reads each request's cache once a step, times the acceptance length.
Interval read_once_gbps(const Interval& tokens_per_s, const Interval& context_tokens) {
  return tokens_per_s * context_tokens * exactly(ModelConfig().kv_bytes_per_token() / 1e9);
}

}  // namespace

Finding throughput_within_bandwidth(const CheckContext& context) {
  Finding finding;
  const Interval acceptance = context.acceptance_lengths();
  const Claim& claim = context.claim();
  const HardwareConfig hardware;
  // Longer acceptance means fewer steps a second, so the largest gives the lowest rate.
  const Interval once = read_once_gbps(context.value(), exactly(context.context_tokens(claim)));
  const Interval rate = once / acceptance;
  finding.add("kv_read_once_gbps", rate, "GB/s");
  finding.inputs = {claim.id, "ModelConfig kv_bytes_per_token", "HardwareConfig dram_gbps"};
  finding.tolerance = fmt::format(
      "contradicted when reading the cache once a step would exceed the rated {:.0f} GB/s even at "
      "acceptance length {:.0f}; the rate itself takes a measurement on the published deployment",
      hardware.dram_gbps, acceptance.high);
  const bool impossible = rate.low > hardware.dram_gbps;
  finding.headline = fmt::format(
      "Reads the cache at {:.1f} to {:.1f} GB/s a card, of {:.0f} rated: {}.", rate.low, rate.high,
      hardware.dram_gbps, impossible ? "impossible" : "possible, and only a run can confirm it");
  finding.verdict = impossible ? Verdict::kContradicted : Verdict::kNeeds;
  if (!impossible) finding.detail = claim.needs;
  finding.explanation = fmt::format(
      "{} tok/s at {} tokens read the cache at {:.1f}-{:.1f} GB/s a rank for acceptance lengths "
      "{:.0f} to 1, {:.2f}-{:.2f} % of {:.0f} GB/s",
      claim.printed, *claim.context_tokens, rate.low, rate.high, acceptance.high,
      100 * rate.low / hardware.dram_gbps, 100 * rate.high / hardware.dram_gbps,
      hardware.dram_gbps);
  return finding;
}

Finding effective_bandwidth(const CheckContext& context) {
  Finding finding;
  const Claim& throughput = context.other(context.text("throughput"));
  const double tokens = context.context_tokens(throughput);
  const Interval span = around(tokens, context.number_or("context_half_width", 0.5));
  const Interval once = read_once_gbps(context.value(throughput), span);
  const Interval lengths = context.acceptance_lengths();
  // reads * once = L * rate: the acceptance length at which that many reads of the cache in a step
  // give the published rate.
  const double both = reads_of_k_then_v();
  const Interval of_one = once / context.value();
  const Interval of_both = exactly(both) * of_one;
  finding.inputs = {throughput.id, "ModelConfig kv_bytes_per_token, kv_latent_dims"};
  finding.add("kv_bytes_per_step", tokens * ModelConfig().kv_bytes_per_token(), "B");
  finding.add("read_once_gbps_at_acceptance_1", once, "GB/s");
  finding.add("acceptance_length_one_read", of_one, "tokens");
  finding.add("reads_k_then_v", both, "x");
  finding.add("acceptance_length_k_then_v", of_both, "tokens");
  finding.tolerance = fmt::format(
      "a verify step emits 1 to {:.0f} tokens and reads the cache once, or K and then V ({:.2f} "
      "rows): contradicted when neither gives the bandwidth at such a length (rounding included), "
      "not identified when one does, a measurement decides when both do",
      lengths.high, both);
  const bool one = of_one.overlaps(lengths);
  const bool two = of_both.overlaps(lengths);
  finding.verdict = one && two   ? Verdict::kNeeds
                    : one || two ? Verdict::kNotIdentified
                                 : Verdict::kContradicted;
  if (finding.verdict == Verdict::kNeeds) finding.detail = context.claim().needs;
  const double gigabytes = tokens * ModelConfig().kv_bytes_per_token() / 1e9;
  const double acceptance = gigabytes * *throughput.value / *context.claim().value;
  const auto possible = [](bool yes) { return yes ? "" : "impossible: "; };
  finding.headline = fmt::format(
      "One read of the cache: {}acceptance length {:.2f}; K and V read separately: {}{:.2f}.",
      possible(one), acceptance, possible(two), both * acceptance);
  finding.explanation = fmt::format(
      "{:.0f} tokens x {:.0f} B x {} layers = {:.2f} GB a step; at {} tok/s one read a step is "
      "{:.1f} GB/s at acceptance length 1; {} GB/s with one read: {}acceptance length {:.2f} "
      "({:.2f}-{:.2f}); with K and V read separately ({} + {} elements of a {}-element row, {:.2f} "
      "reads): {}acceptance length {:.2f} ({:.2f}-{:.2f})",
      tokens, ModelConfig().kv_row_bytes(), ModelConfig().layers, gigabytes, throughput.printed,
      once.middle(), context.claim().printed, possible(one), acceptance, of_one.low, of_one.high,
      ModelConfig().kv_row_elements(), ModelConfig().kv_latent_dims,
      ModelConfig().kv_row_elements(), both, possible(two), both * acceptance, of_both.low,
      of_both.high);
  return finding;
}

Finding bandwidth_gap(const CheckContext& context) {
  Finding finding;
  const Claim& effective = context.other(context.text("effective"));
  const Interval peak =
      around(context.number("peak_gbps"), context.number_or("peak_half_width_gbps", 0.5));
  const Interval gap = peak / context.value(effective);
  finding.inputs = {effective.id};
  finding.add("gap", gap, "x");
  finding.tolerance = kRoundingRule;
  finding.verdict = gap.overlaps(context.value()) ? Verdict::kSupported : Verdict::kContradicted;
  finding.headline = fmt::format("{:.0f} GB/s over {} GB/s is {:.0f}x.", peak.middle(),
                                 effective.printed, peak.middle() / *effective.value);
  finding.explanation =
      fmt::format("{:.0f} GB/s / {} GB/s = {:.1f}x ({:.1f}-{:.1f}) against the printed {}x",
                  peak.middle(), effective.printed, peak.middle() / *effective.value, gap.low,
                  gap.high, context.claim().printed);
  return finding;
}

Finding tensor_utilisation(const CheckContext& context) {
  Finding finding;
  const Series series = throughput_series(context, context.text("throughputs"));
  const double nodes = context.acceptance_lengths().high;
  const double attention_tile = context.number("attention_tile_rows");
  const Interval peak_tflops{context.number("peak_tflops_low"), context.number("peak_tflops_high")};
  const ModelConfig model;
  const double ranks = static_cast<double>(HardwareConfig().ranks);
  const double heads = static_cast<double>(model.attention_heads) / ranks;
  // Multiply-adds count 2. Attention: scores over latent + rope, values over latent.
  const double flops_per_row_token =
      2.0 * static_cast<double>(model.kv_row_elements() + model.kv_latent_dims);
  const double distinct = expected_activated_experts(model.experts, model.experts_per_token,
                                                     static_cast<std::int64_t>(nodes));
  const double moe_layers = static_cast<double>(model.moe_layers());
  const double expert = 2.0 * model.expert_params() * moe_layers / ranks;
  const double dense =
      2.0 * model.attention_params_per_layer * static_cast<double>(model.layers) / ranks;
  // Useful: live rows only. Issued: every tile padded, at most one expert row group an expert.
  const double useful_fixed =
      expert * nodes * static_cast<double>(model.experts_per_token + model.shared_experts) +
      dense * nodes;
  const double issued_fixed =
      expert * kTileRows * (distinct + static_cast<double>(model.shared_experts)) +
      dense * kTileRows;
  finding.inputs = series.ids;
  finding.inputs.push_back("sim/moe expected_activated_experts");
  std::size_t possible = 0;
  for (const Throughput& p : series.points) {
    const double per_row =
        flops_per_row_token * heads * p.context_tokens * static_cast<double>(model.layers);
    const Interval flops{useful_fixed + per_row * nodes, issued_fixed + per_row * attention_tile};
    const Interval steps_per_s = p.tokens_per_s / context.acceptance_lengths();
    const Interval percent = flops * steps_per_s / (peak_tflops * exactly(1e10));
    possible += percent.overlaps(context.value()) ? 1 : 0;
    finding.add("tensor_utilisation_percent", percent, "%");
    finding.explanation +=
        fmt::format("{}{:.2f}-{:.2f} % at {:.0f} tokens", finding.explanation.empty() ? "" : ", ",
                    percent.low, percent.high, p.context_tokens);
  }
  finding.tolerance =
      "range from useful operations at the longest acceptance and the highest peak to padded "
      "operations at acceptance length 1 and the lowest peak; the claim names no context: "
      "supported (contradicted) if inside at all (none) of the published contexts, else not "
      "identified";
  finding.verdict = possible == series.points.size() ? Verdict::kSupported
                    : possible == 0                  ? Verdict::kContradicted
                                                     : Verdict::kNotIdentified;
  finding.headline = fmt::format("{} % is possible at {} of the {} published contexts.",
                                 context.claim().printed, possible, series.points.size());
  finding.explanation = fmt::format(
      "the baseline's throughputs imply {}: {} % is possible at {} of "
      "{} contexts",
      finding.explanation, context.claim().printed, possible, series.points.size());
  return finding;
}

}  // namespace shiftpoint::checks
