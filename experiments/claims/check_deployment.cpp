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
  shape.query_tokens = context.whole("query_tokens", kMostTokens);
  shape.heads = context.whole("heads", kMostHeads);
  shape.nsplit = context.whole("nsplit", kMostSplits);
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
  finding.headline = fmt::format("{} x {} x {} = {:.0f} blocks.", shape.query_tokens, shape.heads,
                                 shape.nsplit, blocks);
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
  finding.add("blocks_per_sm", per_sm, "blocks");
  finding.add("waves_of_resident_blocks", counts.waves, "waves");
  finding.tolerance =
      "waves can mean blocks / SMs (as if one block filled an SM) or, as the word is used, blocks "
      "/ (SMs x blocks resident on an SM); within the half width of the source's 'about': "
      "supported when both readings agree with the claim, contradicted when neither does, else not "
      "identified";
  const int agree =
      (context.value().contains(per_sm) ? 1 : 0) + (context.value().contains(counts.waves) ? 1 : 0);
  finding.verdict = agree == 2   ? Verdict::kSupported
                    : agree == 0 ? Verdict::kContradicted
                                 : Verdict::kNotIdentified;
  finding.headline =
      fmt::format("{:.2f} blocks an SM, but {:.2f} waves of the {} blocks that fit an SM at once.",
                  per_sm, counts.waves, counts.resident_blocks);
  finding.explanation = fmt::format(
      "{} blocks / {:.0f} SMs = {:.2f} blocks an SM; an SM holds {} of them at once, so they are "
      "{:.2f} waves; printed: {}",
      counts.blocks, sms, per_sm, counts.resident_blocks, counts.waves, context.claim().printed);
  return finding;
}

Finding host_negligible(const CheckContext& context) {
  Finding finding;
  const Interval acceptance = context.acceptance_lengths();
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
  const Throughput& first = series.points.front();
  const Interval most = context.value() * first.tokens_per_s / acceptance * exactly(100.0 / 1e3);
  finding.headline = fmt::format(
      "{:.1f}-{:.1f} % of the step at {:.0f} tokens, for acceptance lengths {:.0f} to {:.0f}.",
      most.low, most.high, first.context_tokens, acceptance.high, acceptance.low);
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
  const double rows = context.acceptance_lengths().high *
                      static_cast<double>(model.attention_heads) /
                      static_cast<double>(HardwareConfig().ranks);
  const double workspace =
      rows * context.number("nsplit") * static_cast<double>(model.kv_latent_dims + 2) * 4;
  finding.inputs = {before.id, after.id, "ModelConfig kv_latent_dims, kv_bytes_per_token"};
  finding.add("freed_bytes", freed, "B");
  finding.add("workspace_bytes", workspace, "B");
  finding.add("freed_kv_tokens", freed / model.kv_bytes_per_token(), "tokens");
  finding.tolerance =
      "contradicted when the fractions free less than the workspace that the kernel's shape needs; "
      "supported or contradicted by workspace plus the memory of captured graphs, once "
      "graph_memory bytes_a_rank is measured";
  const double* graphs = context.metric("graph_memory", "bytes_a_rank");
  const double needed = workspace + (graphs == nullptr ? 0 : *graphs);
  std::string graph_text = "the memory of captured graphs is not known";
  if (freed < needed) {
    finding.verdict = Verdict::kContradicted;
  } else if (graphs != nullptr) {
    finding.verdict = Verdict::kSupported;
  } else {
    finding.detail = context.claim().needs;
  }
  if (graphs != nullptr) {
    finding.inputs.push_back("experiment:graph_memory");
    finding.add("graph_bytes", *graphs, "B");
    graph_text = fmt::format("captured graphs take {:.2f} GB", *graphs / 1e9);
  }
  finding.headline = fmt::format("Frees {:.2f} GB a card; the workspace takes {:.1f} MB, and {}.",
                                 freed / 1e9, workspace / 1e6, graph_text);
  finding.explanation = fmt::format(
      "({} - {}) x {:.0f} MiB frees {:.2f} GB a card, {:.0f}x the {:.1f} MB of workspace, at the "
      "cost of {:.0f} cached tokens; {}",
      before.printed, after.printed, context.number("card_mib"), freed / 1e9, freed / workspace,
      workspace / 1e6, freed / model.kv_bytes_per_token(), graph_text);
  return finding;
}

Finding deployment_setting(const CheckContext& context) {
  Finding finding;
  const Claim& effect = context.other(context.text("effect"));
  finding.verdict = Verdict::kOutOfScope;
  finding.detail = "a setting of the published deployment";
  finding.tolerance = "none: a setting asserts nothing; what its change did is judged instead";
  finding.headline = fmt::format("{} was a setting; whether changing it made room is judged as {}.",
                                 context.claim().printed, effect.id);
  finding.explanation = fmt::format("{} is what the operator chose; {} judges the change to {}",
                                    context.claim().printed, effect.id, effect.printed);
  return finding;
}

}  // namespace shiftpoint::checks
