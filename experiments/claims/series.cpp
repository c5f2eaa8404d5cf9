#include "experiments/claims/series.h"

#include <algorithm>

namespace shiftpoint {

Series throughput_series(const CheckContext& context, const std::string& prefix) {
  std::vector<const Claim*> members;
  for (const Claim& claim : context.claims()) {
    if (claim.unit == "tok/s" && claim.context_tokens && claim.id.size() == prefix.size() + 1 &&
        claim.id.compare(0, prefix.size(), prefix) == 0) {
      members.push_back(&claim);
    }
  }
  std::sort(members.begin(), members.end(),
            [](const Claim* a, const Claim* b) { return *a->context_tokens < *b->context_tokens; });
  Series series;
  for (const Claim* claim : members) {
    if (series.points.size() == kMostPoints) {
      context.fail("parameters",
                   "more than " + std::to_string(kMostPoints) + " throughputs '" + prefix + "'",
                   "2 to " + std::to_string(kMostPoints));
    }
    const double tokens = context.context_tokens(*claim);
    if (series.at(tokens) != nullptr) {
      context.fail("context_tokens", claim->id + " has the context of another claim of " + prefix,
                   "one throughput a context");
    }
    series.ids.push_back(claim->id);
    series.points.push_back({tokens, context.value(*claim)});
  }
  if (series.points.size() < 2) {
    context.fail("parameters",
                 "claim " + context.claim().id + " asks for the throughputs of '" + prefix + "'",
                 "the common prefix of two or more claims in tok/s");
  }
  return series;
}

}  // namespace shiftpoint
