// Published throughputs of one kernel: the claims in tok/s whose id is a prefix and one letter.
#pragma once

#include <string>
#include <vector>

#include "experiments/claims/check.h"
#include "experiments/claims/identified_set.h"

namespace shiftpoint {

struct Series {
  std::vector<std::string> ids;
  std::vector<Throughput> points;  // ascending in context

  const Throughput* at(double context_tokens) const {
    for (const Throughput& p : points) {
      if (p.context_tokens == context_tokens) return &p;
    }
    return nullptr;
  }
};

// At least two points at different contexts, or UserError.
Series throughput_series(const CheckContext& context, const std::string& prefix);

}  // namespace shiftpoint
