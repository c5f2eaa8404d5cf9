// What placement and routing make of 9 tokens, 384 experts and 8 ranks: closed forms of sim/moe for
// uniform routing.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/claims/checks.h"
#include "sim/core/det_math.h"
#include "sim/core/model.h"
#include "sim/moe/routing.h"

namespace shiftpoint::checks {
namespace {

struct Deployment {
  std::int64_t experts, k, ranks, tokens;
};

Deployment deployment(const CheckContext& context) {
  return {context.whole("experts", kMostExperts), context.whole("experts_per_token", kMostExperts),
          context.whole("ranks", kMostRanks), context.whole("tokens", kMostTokens)};
}

// Independently routed tokens that would activate `fraction` of the distinct experts that d.tokens
// independent ones do: E (1 - (1 - k/E)^t) = fraction * distinct(T), solved for t.
double equivalent_tokens(const Deployment& d, double fraction) {
  const double experts = static_cast<double>(d.experts);
  const double most = static_cast<double>(d.tokens);
  if (d.k == d.experts) return 1;
  const double distinct = expected_activated_experts(d.experts, d.k, d.tokens);
  const double t =
      det_log(1 - fraction * distinct / experts) / det_log(1 - static_cast<double>(d.k) / experts);
  return std::clamp(t, 1.0, most);
}

}  // namespace

Finding expert_activations(const CheckContext& context) {
  Finding finding;
  const auto tokens = context.whole("tokens", kMostTokens);
  const auto k = context.whole("experts_per_token", kMostExperts);
  const auto experts = context.whole("experts", kMostExperts);
  const double activations = static_cast<double>(tokens * k);
  const double distinct = expected_activated_experts(experts, k, tokens);
  finding.inputs = {"sim/moe expected_activated_experts"};
  finding.add("activations", activations, "activations");
  finding.add("expected_activated_experts", distinct, "experts");
  finding.tolerance =
      "equal within the rounding of the claim: a count, the same in every placement";
  finding.verdict =
      context.value().contains(activations) ? Verdict::kSupported : Verdict::kContradicted;
  finding.headline = fmt::format(
      "{} tokens x {} experts = {:.0f} activations, of {:.1f} distinct experts if uniform.", tokens,
      k, activations, distinct);
  finding.explanation = fmt::format(
      "{} x {} = {:.0f} activations (printed {}) of {:.2f} distinct experts under uniform routing, "
      "in every placement",
      tokens, k, activations, context.claim().printed, distinct);
  return finding;
}

Finding expert_placement(const CheckContext& context) {
  Finding finding;
  const auto experts = context.whole("experts", kMostExperts);
  const auto ranks = context.whole("ranks", kMostRanks);
  const std::string name = context.text("placement");
  const auto placement = make_placement(name, experts, 1, ranks);
  // A rank that reads the fraction `slice` of an expert's weights holds 1 / (slice * ranks) of
  // them.
  const double held =
      static_cast<double>(experts) / (placement->slice() * static_cast<double>(ranks));
  finding.inputs = {"sim/moe placement " + name};
  finding.add("experts_on_a_rank", held, "experts");
  finding.tolerance = "equal: a count, under the placement that the statement names";
  const bool agrees = context.value().contains(held);
  finding.verdict = agrees ? Verdict::kSupported : Verdict::kContradicted;
  const bool sliced = placement->slice() < 1;
  finding.headline = fmt::format(
      "Under {} placement a rank holds {} experts{}.", name,
      sliced ? fmt::format("a slice of all {:.0f}", held) : fmt::format("{:.0f} whole", held),
      agrees ? "" : ", not " + context.claim().printed + " whole ones");
  finding.explanation =
      fmt::format("under {} placement a rank holds {} of {} experts (printed: {})", name,
                  sliced ? fmt::format("a slice of {:.0f}", held) : fmt::format("{:.0f}", held),
                  experts, context.claim().printed);
  if (!agrees && sliced) {
    finding.explanation += fmt::format(
        ": tensor parallelism and {} whole experts a rank exclude each other; no expert-parallel "
        "flag is quoted; in slices all ranks read the same experts, so their imbalance of "
        "activated experts is 1",
        context.claim().printed);
  }
  return finding;
}

Finding idle_ranks(const CheckContext& context) {
  Finding finding;
  const Deployment d = deployment(context);
  const std::string name = context.text("placement");
  const bool sliced = make_placement(name, d.experts, d.k, d.ranks)->slice() < 1;
  const double ranks = static_cast<double>(d.ranks);
  const double layers = static_cast<double>(ModelConfig().moe_layers());
  const double missed = idle_rank_probability(d.experts, d.k, d.ranks, 1);
  // [C(E - E/R, k) / C(E, k)]^t at any t. Tokens that route alike act as fewer independent ones,
  // between 1 (all the same experts) and all; the count falls with t, so the ends bound it.
  const auto idle_at = [&](double t) { return sliced ? 0.0 : ranks * det_pow(missed, t); };
  const double uniform = idle_at(static_cast<double>(d.tokens));
  const double alike = idle_at(1);
  // 0.61: 13.64 against 22.38 distinct experts in 45,096 windows of 9 consecutive tokens, GPT-OSS
  // 20B (AmanPriyanshu/GPT-OSS-MoE-ExpertFingerprinting, commit 72b368f6, 49 traces).
  const double fraction = context.number("distinct_of_uniform");
  if (fraction > 1)
    context.fail("distinct_of_uniform", "found above 1", "a share of uniform routing");
  const double local_tokens = equivalent_tokens(d, fraction);
  const double supported_from = context.number("supported_from_ranks");
  const double contradicted_below = context.number("contradicted_below_ranks");
  finding.inputs = {"sim/moe idle_rank_probability", "sim/moe expected_activated_experts",
                    "sim/moe placement " + name};
  finding.add("idle_ranks_a_layer", {uniform, alike}, "ranks");
  finding.add("idle_ranks_a_step_uniform", uniform * layers, "ranks");
  finding.add("equivalent_tokens_measured_locality", local_tokens, "tokens");
  finding.add("idle_ranks_a_layer_measured_locality", idle_at(local_tokens), "ranks");
  finding.tolerance = fmt::format(
      "1 to {} effective independent tokens, uniform routing, {} placement: supported when {:g} or "
      "more ranks are expected to be idle in a layer at every such number, contradicted when fewer "
      "than {:g} are at every one, else not identified",
      d.tokens, name, supported_from, contradicted_below);
  finding.verdict = uniform >= supported_from    ? Verdict::kSupported
                    : alike < contradicted_below ? Verdict::kContradicted
                                                 : Verdict::kNotIdentified;
  if (sliced) {
    finding.headline = fmt::format(
        "Under {} placement no rank is ever idle: all read every activated expert.", name);
    finding.explanation = fmt::format("under {} exactly 0 idle ranks a layer at any routing", name);
    return finding;
  }
  finding.headline = fmt::format(
      "Idle ranks a layer: {:.4f} if {} tokens route independently, {:.3f} at measured locality; 0 "
      "if sliced.",
      uniform, d.tokens, idle_at(local_tokens));
  finding.explanation = fmt::format(
      "{}, uniform: {:.4f} idle ranks a layer ({:.3f} a step over {:.0f} layers) with {} "
      "independent tokens, {:.2f} with one",
      name, uniform, uniform * layers, layers, d.tokens, alike);
  if (missed > 0 && uniform < contradicted_below && alike >= contradicted_below) {
    const double threshold = det_log(contradicted_below / ranks) / det_log(missed);
    finding.add("independent_tokens_at_threshold", threshold, "tokens");
    finding.explanation += fmt::format("; below {:.1f} independent tokens it exceeds {:g}",
                                       threshold, contradicted_below);
  }
  finding.explanation += fmt::format(
      "; locality measured on another model ({:g}x the distinct experts of uniform routing) makes "
      "{} tokens {:.1f}: {:.3f}; under tp-sliced exactly 0",
      fraction, d.tokens, local_tokens, idle_at(local_tokens));
  return finding;
}

Finding moe_levers(const CheckContext& context) {
  Finding finding;
  const Deployment d = deployment(context);
  const auto batch = context.whole("batch", kMostTokens);
  const double ranks = static_cast<double>(d.ranks);
  const double one = static_cast<double>(d.tokens);
  const double distinct = expected_activated_experts(d.experts, d.k, d.tokens);
  const double many = expected_activated_experts(d.experts, d.k, d.tokens * batch);
  // Expert weights that the slowest rank reads, for each token, in whole experts.
  const double sliced = distinct / ranks / one;
  const double whole = expected_max_rank_experts(d.experts, d.k, d.ranks, d.tokens) / one;
  const double sliced_batch = many / ranks / (one * static_cast<double>(batch));
  finding.inputs = {"sim/moe expected_activated_experts", "sim/moe expected_max_rank_experts"};
  finding.add("experts_read_per_token_sliced", sliced, "experts");
  finding.add("experts_read_per_token_whole", whole, "experts");
  finding.add("experts_read_per_token_sliced_batch", sliced_batch, "experts");
  finding.tolerance =
      "a lever raises simulated tokens/s by 5 % or more over the tp-sliced deployment at batch 1: "
      "supported if both larger batches and whole-expert placement do, contradicted if neither "
      "does, else not identified";
  const double* base = context.metric("moe_levers", "tokens_per_s_sliced_batch_1");
  const double* batched = context.metric("moe_levers", "tokens_per_s_sliced_batched");
  const double* expert = context.metric("moe_levers", "tokens_per_s_whole_batch_1");
  finding.explanation = fmt::format(
      "bytes alone: at batch {} the slowest rank reads {:.2f}x less for each token, whole-expert "
      "placement {:.2f}x more at batch 1, and perfect balance would only equal tp-sliced",
      batch, sliced / sliced_batch, whole / sliced);
  finding.headline = fmt::format(
      "Bytes a token: batch {} saves {:.1f}x; whole experts cost {:.2f}x more at batch 1.", batch,
      sliced / sliced_batch, whole / sliced);
  if (base == nullptr || batched == nullptr || expert == nullptr) {
    finding.verdict = Verdict::kNeeds;
    finding.detail = "experiment:moe_levers";
    return finding;
  }
  finding.inputs.push_back("experiment:moe_levers");
  finding.add("simulated_gain_of_batch", *batched / *base, "x");
  finding.add("simulated_gain_of_whole_experts", *expert / *base, "x");
  const int levers = (*batched >= 1.05 * *base ? 1 : 0) + (*expert >= 1.05 * *base ? 1 : 0);
  finding.verdict = levers == 2   ? Verdict::kSupported
                    : levers == 0 ? Verdict::kContradicted
                                  : Verdict::kNotIdentified;
  finding.headline =
      fmt::format("Simulated tokens/s: batch {} gives {:.2f}x, whole experts give {:.2f}x.", batch,
                  *batched / *base, *expert / *base);
  finding.explanation += fmt::format("; simulated: batch {:.2f}x, whole experts {:.2f}x",
                                     *batched / *base, *expert / *base);
  return finding;
}

}  // namespace shiftpoint::checks
