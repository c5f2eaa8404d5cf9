// Every check function, for registry.cpp. Family by file: check_speedup.cpp, ...
#pragma once

#include "experiments/claims/check.h"

namespace shiftpoint::checks {

// check_speedup.cpp: ratios of published throughputs.
Finding speedup(const CheckContext& context);
Finding speedup_extreme(const CheckContext& context);
Finding eager_regression(const CheckContext& context);
Finding eager_speedup(const CheckContext& context);
Finding speedup_implies_baseline(const CheckContext& context);
Finding graph_gain(const CheckContext& context);

// check_bandwidth.cpp: bytes and operations behind a throughput.
Finding throughput_within_bandwidth(const CheckContext& context);
Finding effective_bandwidth(const CheckContext& context);
Finding bandwidth_gap(const CheckContext& context);
Finding tensor_utilisation(const CheckContext& context);

// check_deployment.cpp: blocks and waves, host work, memory.
Finding block_count(const CheckContext& context);
Finding wave_count(const CheckContext& context);
Finding host_negligible(const CheckContext& context);
Finding memory_freed(const CheckContext& context);
Finding deployment_setting(const CheckContext& context);

// check_moe.cpp: placement and uniform-routing closed forms.
Finding expert_activations(const CheckContext& context);
Finding expert_placement(const CheckContext& context);
Finding idle_ranks(const CheckContext& context);
Finding moe_levers(const CheckContext& context);

// check_shift.cpp: the identified set of the bottleneck shift.
Finding shift_at_context(const CheckContext& context);
Finding shift_overall(const CheckContext& context);

// check_acceptance.cpp: what the throughputs say about the acceptance length and without it.
Finding constant_acceptance(const CheckContext& context);
Finding kernel_ratio(const CheckContext& context);

// check_recorded.cpp: what only a measurement or an experiment can tell.
Finding measured_on_target(const CheckContext& context);
Finding foreign_source(const CheckContext& context);
Finding free_list_order(const CheckContext& context);
Finding request_contiguity(const CheckContext& context);
Finding relocation_return(const CheckContext& context);
Finding isa_lacks(const CheckContext& context);
Finding kernel_exactness(const CheckContext& context);

}  // namespace shiftpoint::checks
