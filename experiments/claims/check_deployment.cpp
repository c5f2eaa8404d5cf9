// Blocks and waves of the split kernel, host work of a step, and memory given up for graphs.
#include <fmt/format.h>

#include "experiments/claims/checks.h"
#include "experiments/claims/series.h"
#include "sim/core/hardware.h"
#include "sim/core/model.h"
#include "sim/cost/attention_time.h"

namespace shiftpoint::checks {
namespace {

// The launch of the articles' kernel as sim/cost counts it: one request of one token, since the
// grid does not depend on the context.
AttentionCounts launch_counts(const CheckContext& context, AttentionShape& shape) {
  const std::int64_t contexts[] = {4096};
  shape.context_tokens = contexts;
  shape.query_tokens = context.whole("query_tokens");
  shape.heads = context.whole("heads");
  shape.nsplit = context.whole("nsplit");
  const AttentionCounts counts =
      find_attention_variant("split-scalar").time(shape, HardwareConfig()).counts;
  shape.context_tokens = {};
  return counts;
}

}  // namespace

Finding block_count(const CheckContext& context) {
  Finding finding;
  AttentionShape shape;
  const AttentionCounts counts = launch_counts(context, shape);
  const double blocks = static_cast<double>(counts.blocks);
  finding.inputs = {"sim/cost split-scalar blocks"};
  finding.add("blocks", blocks, "blocks");
  finding.tolerance = "equal: a count";
  finding.verdict = blocks == *context.claim().value ? Verdict::kSupported : Verdict::kContradicted;
  finding.explanation = fmt::format(
      "1 request x {} queries x {} heads x {} splits = {:.0f} blocks against the printed {}",
      shape.query_tokens, shape.heads, shape.nsplit, blocks, context.claim().printed);
  return finding;
}

Finding wave_count(const CheckContext& context) {
  Finding finding;
  AttentionShape shape;
  const AttentionCounts counts = launch_counts(context, shape);
  const double sms = static_cast<double>(HardwareConfig().sms);
  const double per_sm = static_cast<double>(counts.blocks) / sms;
  finding.inputs = {"sim/cost split-scalar blocks and waves", "HardwareConfig sms"};
  finding.add("blocks_per_sm", per_sm, "waves");
  finding.add("waves_with_resident_blocks", counts.waves, "waves");
  finding.tolerance =
      "the source says 'about': agrees when blocks / SMs, so waves of one block an SM, lies within "
      "the half width of the claim";
  finding.verdict = context.value().contains(per_sm) ? Verdict::kSupported : Verdict::kContradicted;
  finding.explanation = fmt::format(
      "{} blocks / {:.0f} SMs = {:.2f} waves of one block an SM against the printed {}; with the "
      "blocks that fit an SM at once they are {:.2f} waves",
      counts.blocks, sms, per_sm, context.claim().printed, counts.waves);
  return finding;
}

Finding host_negligible(const CheckContext& context) {
  Finding finding;
  const Interval acceptance = acceptance_range(static_cast<double>(context.whole("draft_tokens")));
  const Series series = throughput_series(context, context.text("throughputs"));
  const double threshold = context.number("threshold_percent");
  finding.inputs = series.ids;
  bool always = true, never = true;
  std::string by_context;
  for (const Throughput& p : series.points) {
    // Share of the step L / r: lowest at the longest acceptance.
    const Interval percent = context.value() * p.tokens_per_s / acceptance * exactly(100.0 / 1e3);
    always = always && percent.high < threshold;
    never = never && percent.low >= threshold;
    finding.add("host_share_percent", percent, "%");
    by_context += fmt::format("{}{:.2f}-{:.2f} % at {:.0f}", by_context.empty() ? "" : ", ",
                              percent.low, percent.high, p.context_tokens);
  }
  finding.tolerance = fmt::format(
      "negligible means below {:g} % of the step, if nothing hides it; supported (contradicted) "
      "only if so (not so) at every published context and every acceptance length from {:.0f} to "
      "{:.0f}",
      threshold, acceptance.low, acceptance.high);
  finding.verdict = always  ? Verdict::kSupported
                    : never ? Verdict::kContradicted
                            : Verdict::kNotIdentified;
  finding.explanation =
      fmt::format("{} ms are {} tokens of the step for acceptance lengths {:.0f} to {:.0f}",
                  context.claim().printed, by_context, acceptance.high, acceptance.low);
  return finding;
}

Finding memory_freed(const CheckContext& context) {
  Finding finding;
  const Claim& before = context.other(context.text("before"));
  const Claim& after = context.other(context.text("after"));
  constexpr double kBytesPerMib = 1048576;
  const double card_bytes = context.number("card_mib") * kBytesPerMib;
  const double freed =
      (context.value(before).middle() - context.value(after).middle()) * card_bytes;
  // Workspace of the split kernel: a partial output and its log-sum-exp pair, fp32, by row and
  // split.
  const ModelConfig model;
  const double rows = static_cast<double>(context.whole("draft_tokens")) *
                      static_cast<double>(model.attention_heads) /
                      static_cast<double>(HardwareConfig().ranks);
  const double workspace =
      rows * context.number("nsplit") * static_cast<double>(model.kv_latent_dims + 2) * 4;
  finding.inputs = {before.id, after.id, "ModelConfig kv_latent_dims, kv_bytes_per_token"};
  finding.add("freed_bytes", freed, "B");
  finding.add("workspace_bytes", workspace, "B");
  finding.add("freed_kv_tokens", freed / model.kv_bytes_per_token(), "tokens");
  finding.tolerance =
      "supported when the fractions free at least the workspace that the kernel's shape needs; the "
      "memory of captured graphs is not modelled";
  finding.verdict = freed >= workspace ? Verdict::kSupported : Verdict::kContradicted;
  finding.explanation = fmt::format(
      "({} - {}) x {:.0f} MiB frees {:.2f} GB a card, {:.0f}x the {:.1f} MB of workspace, at the "
      "cost of {:.0f} cached tokens",
      before.printed, after.printed, context.number("card_mib"), freed / 1e9, freed / workspace,
      workspace / 1e6, freed / model.kv_bytes_per_token());
  return finding;
}

}  // namespace shiftpoint::checks
