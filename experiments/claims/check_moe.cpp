// What placement and routing make of 9 tokens, 384 experts and 8 ranks: closed forms of sim/moe for
// uniform routing.
#include <fmt/format.h>

#include "experiments/claims/checks.h"
#include "sim/moe/routing.h"

namespace shiftpoint::checks {
namespace {

struct Deployment {
  std::int64_t experts, k, ranks, tokens;
};

Deployment deployment(const CheckContext& context) {
  return {context.whole("experts"), context.whole("experts_per_token"), context.whole("ranks"),
          context.whole("tokens")};
}

}  // namespace

Finding expert_placement(const CheckContext& context) {
  Finding finding;
  const Deployment d = deployment(context);
  const std::string name = context.text("placement");
  const auto placement = make_placement(name, d.experts, d.k, d.ranks);
  // A rank that reads the fraction `slice` of an expert's weights holds 1 / (slice * ranks) of
  // them.
  const double held =
      static_cast<double>(d.experts) / (placement->slice() * static_cast<double>(d.ranks));
  const double claimed_held = context.number("experts_a_rank");
  const double activations = static_cast<double>(d.tokens * d.k);
  const double distinct = expected_activated_experts(d.experts, d.k, d.tokens);
  finding.inputs = {"sim/moe placement " + name, "sim/moe expected_activated_experts"};
  finding.add("activations", activations, "activations");
  finding.add("expected_activated_experts", distinct, "experts");
  finding.add("experts_on_a_rank", held, "experts");
  finding.tolerance = "equal: counts; both the activations and the experts on a rank must agree";
  const bool agrees = context.value().contains(activations) && held == claimed_held;
  finding.verdict = agrees ? Verdict::kSupported : Verdict::kContradicted;
  finding.explanation = fmt::format(
      "{} x {} = {:.0f} activations (printed {}) of {:.2f} distinct experts; under {} placement a "
      "rank holds part or all of {:.0f} experts, not {:.0f}",
      d.tokens, d.k, activations, context.claim().printed, distinct, name, held, claimed_held);
  if (held == claimed_held) {
    finding.explanation = fmt::format(
        "{} x {} = {:.0f} activations (printed {}) of {:.2f} distinct experts; under {} placement "
        "a rank holds {:.0f} experts",
        d.tokens, d.k, activations, context.claim().printed, distinct, name, held);
  } else if (placement->slice() < 1) {
    finding.explanation +=
        ", so all ranks read the same experts and their imbalance of activated "
        "experts is 1; whole experts are another deployment";
  }
  return finding;
}

Finding idle_ranks(const CheckContext& context) {
  Finding finding;
  const Deployment d = deployment(context);
  const std::string name = context.text("placement");
  const bool sliced = make_placement(name, d.experts, d.k, d.ranks)->slice() < 1;
  const double idle = sliced ? 0 : idle_rank_probability(d.experts, d.k, d.ranks, d.tokens);
  const double expected = idle * static_cast<double>(d.ranks);
  const double supported_from = context.number("supported_from_ranks");
  const double contradicted_below = context.number("contradicted_below_ranks");
  finding.inputs = {"sim/moe idle_rank_probability", "sim/moe placement " + name};
  finding.add("idle_rank_probability", idle, "");
  finding.add("idle_ranks_a_layer", expected, "ranks");
  if (!sliced) {
    finding.add("idle_rank_probability_one_token",
                idle_rank_probability(d.experts, d.k, d.ranks, 1), "");
  }
  finding.tolerance = fmt::format(
      "uniform routing; supported when at least {:g} ranks are expected to be idle in a layer, "
      "contradicted below {:g}: an event in fewer than one layer in {:.0f} cannot shape a step",
      supported_from, contradicted_below, 1 / contradicted_below);
  finding.verdict = expected >= supported_from      ? Verdict::kSupported
                    : expected < contradicted_below ? Verdict::kContradicted
                                                    : Verdict::kNotIdentified;
  finding.explanation = fmt::format(
      "with {} tokens a given rank is idle with probability {:.3g}, {:.3g} idle ranks a layer; "
      "with one token it is {:.3g} (tokens that route alike raise the former)",
      d.tokens, idle, expected, sliced ? 0 : idle_rank_probability(d.experts, d.k, d.ranks, 1));
  return finding;
}

Finding moe_levers(const CheckContext& context) {
  Finding finding;
  const Deployment d = deployment(context);
  const auto batch = context.whole("batch");
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
  finding.explanation += fmt::format("; simulated: batch {:.2f}x, whole experts {:.2f}x",
                                     *batched / *base, *expert / *base);
  return finding;
}

}  // namespace shiftpoint::checks
