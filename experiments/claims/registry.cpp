#include <iterator>

#include "experiments/claims/checks.h"

namespace shiftpoint {

namespace {

using namespace checks;

// name, help, unit of the value, required parameters, optional parameters, function.
constexpr CheckKind kKinds[] = {
    {"speedup", "ratio of claims, pair by pair", "x", "numerator denominator", "", speedup},
    {"speedup-extreme", "least or greatest ratio of two series", "x", "fast slow which", "",
     speedup_extreme},
    {"speedup-implies-baseline", "baseline behind a throughput and its speed-up", "x",
     "throughput longer_baseline", "", speedup_implies_baseline},
    {"eager-regression", "eager throughput over the implied baseline", "x",
     "eager graph graph_speedup", "", eager_regression},
    {"eager-speedup", "eager ratio against the ratio with graphs", "x", "numerator denominator", "",
     eager_speedup},
    {"graph-gain", "throughput with graphs over eager", "tok/s", "graph eager", "", graph_gain},
    {"throughput-within-bandwidth", "cache bytes behind a throughput", "tok/s", "draft_tokens", "",
     throughput_within_bandwidth},
    {"effective-bandwidth", "acceptance lengths behind a bandwidth", "GB/s",
     "throughput draft_tokens", "context_half_width", effective_bandwidth},
    {"bandwidth-gap", "peak over effective bandwidth", "x", "effective peak_gbps",
     "peak_half_width_gbps", bandwidth_gap},
    {"tensor-utilisation", "operations behind a throughput", "%",
     "throughputs draft_tokens attention_tile_rows peak_tflops_low peak_tflops_high", "",
     tensor_utilisation},
    {"block-count", "blocks of the split kernel", "blocks", "query_tokens heads nsplit", "",
     block_count},
    {"wave-count", "blocks over SMs, and over resident blocks", "waves",
     "query_tokens heads nsplit", "", wave_count},
    {"host-negligible", "host time against the step", "ms",
     "throughputs draft_tokens threshold_percent", "", host_negligible},
    {"memory-freed", "memory fraction against the workspace; graph_memory: bytes_a_rank",
     "fraction", "before after card_mib draft_tokens nsplit", "", memory_freed},
    {"deployment-setting", "a setting, whose effect another claim states", "fraction", "effect", "",
     deployment_setting},
    {"expert-activations", "tokens times experts a token", "activations",
     "experts experts_per_token tokens", "", expert_activations},
    {"expert-placement", "experts on a rank", "experts", "experts ranks placement", "",
     expert_placement},
    {"idle-ranks", "ranks without an activated expert", "",
     "experts experts_per_token ranks tokens placement distinct_of_uniform supported_from_ranks "
     "contradicted_below_ranks",
     "", idle_ranks},
    {"moe-levers",
     "moe_levers: tokens_per_s_sliced_batch_1, tokens_per_s_sliced_batched, "
     "tokens_per_s_whole_batch_1",
     "", "experts experts_per_token ranks tokens batch", "", moe_levers},
    {"shift-at-context",
     "identified set at one context; bottleneck_shift: expert_wait_share_<context>, "
     "largest_share_<context>",
     "", "throughputs draft_tokens", "", shift_at_context},
    {"shift-overall", "identified set at every context", "", "throughputs draft_tokens", "",
     shift_overall},
    {"constant-acceptance", "intercepts at constant acceptance", "",
     "throughputs draft_tokens host", "", constant_acceptance},
    {"kernel-ratio", "share from ratios of kernels", "", "final others", "", kernel_ratio},
    {"measured-on-target", "a reading of the published deployment", "*", "", "",
     measured_on_target},
    {"foreign-source", "a property of another program", "", "effect", "", foreign_source},
    {"free-list-order",
     "kv_churn: mean_run_tokens_unsorted, mean_run_tokens_sorted; gather_profile (recorded only): "
     "gbps_identity_1152, gbps_random_1152",
     "", "", "", free_list_order},
    {"request-contiguity",
     "single_request_contiguity: generated_mean_run_tokens, acceptance_length", "", "", "",
     request_contiguity},
    {"relocation-return",
     "gather_profile (recorded only): gbps_identity_1152, gbps_random_1152; tier1_return: "
     "attention_share",
     "", "line_bytes", "", relocation_return},
    {"isa-lacks", "recorded assembler probe", "", "target instructions", "", isa_lacks},
    {"kernel-exactness", "kernel_verification: tokens, mismatched_tokens", "", "", "",
     kernel_exactness},
};

}  // namespace

const std::vector<CheckKind>& check_kinds() {
  static const std::vector<CheckKind> kinds(std::begin(kKinds), std::end(kKinds));
  return kinds;
}

const CheckKind* find_check(std::string_view name) {
  for (const CheckKind& kind : check_kinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

}  // namespace shiftpoint
