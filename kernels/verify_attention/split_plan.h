// How a request's tokens are divided over its KV splits. A pure function of the live token count
// and of constants fixed at capture; the split kernels and the combine kernels evaluate it on the
// device from the same length, so they agree on which splits exist and nobody needs sentinels in
// the workspace. Splits differ by at most one unit.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define SHIFTPOINT_HOST_DEVICE __host__ __device__
#else
#define SHIFTPOINT_HOST_DEVICE
#endif

namespace shiftpoint {

struct SplitPlan {
  std::int64_t tokens = 0;
  int unit_tokens = 1;  // a split is a whole number of units, except the last unit of the request
  int units = 0;
  int used = 0;  // splits 0 .. used - 1 have at least one token, the others none

  // The first units % used splits are one unit longer. 32-bit: a 64-bit division costs a block
  // hundreds of cycles before its first load.
  SHIFTPOINT_HOST_DEVICE int first_unit(int split) const {
    const int least = units / used;
    const int longer = units - least * used;
    return split * least + (split < longer ? split : longer);
  }
  SHIFTPOINT_HOST_DEVICE std::int64_t first_token(int split) const {
    const std::int64_t token = std::int64_t{first_unit(split)} * unit_tokens;
    return token < tokens ? token : tokens;
  }
};

// `min_units`: a split smaller than this costs more to combine than it saves. Tokens of one request
// stay below 2^31.
SHIFTPOINT_HOST_DEVICE inline SplitPlan plan_splits(std::int64_t tokens, int unit_tokens,
                                                    int min_units, int nsplit) {
  SplitPlan plan;
  plan.tokens = tokens;
  plan.unit_tokens = unit_tokens;
  plan.units = static_cast<int>((tokens + unit_tokens - 1) / unit_tokens);
  const int wanted = (plan.units + min_units - 1) / min_units;
  plan.used = wanted < nsplit ? wanted : nsplit;
  return plan;
}

}  // namespace shiftpoint
