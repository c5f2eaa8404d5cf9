// The articles' first kernel: a warp's load instruction fetches one element a lane.
#include "sim/cost/attention_model.h"

namespace shiftpoint {

AttentionTime split_scalar_time(const AttentionShape& shape, const HardwareConfig& hardware) {
  return split_rows_time(shape, hardware, 32 * shape.bytes_per_element);
}

}  // namespace shiftpoint
