// Mean and nearest-rank quantiles of durations, as reports print them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/core/types.h"

namespace shiftpoint {

// {"count", "mean", "p50", "p90", "p99", "max"} in milliseconds; without values all but count are
// null. Quantile q of n sorted values: value number ceil(q n), counted from 1.
nlohmann::ordered_json distribution_ms(std::vector<Nanos> values_ns);

// Milliseconds with six decimals, from the integer: exact at any size. "" for a negative time
// (never).
std::string ms_text(Nanos ns);

}  // namespace shiftpoint
