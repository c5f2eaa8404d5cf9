// The articles' first kernel: a warp's load instruction fetches one element a lane.
#include "sim/cost/attention_model.h"

namespace shiftpoint {

namespace {

// cited: claim C04: the first capture-safe kernel ran with NSPLIT=16 (article 001).
constexpr std::int64_t kOwnNsplit = 16;

}  // namespace

AttentionTime split_scalar_time(const AttentionShape& shape, const HardwareConfig& hardware) {
  AttentionShape own = shape;
  if (own.nsplit == 0) own.nsplit = kOwnNsplit;
  return split_rows_time(own, hardware, 32 * shape.bytes_per_element);
}

}  // namespace shiftpoint
