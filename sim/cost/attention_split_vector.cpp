// The articles' final kernel: a warp's load instruction fetches 128 bits a lane.
#include "sim/cost/attention_model.h"

namespace shiftpoint {

AttentionTime split_vector_time(const AttentionShape& shape, const HardwareConfig& hardware) {
  return split_rows_time(shape, hardware, 32 * 16);
}

}  // namespace shiftpoint
