// Shared by the GPU tests: the visible skip, and a captured call.
#pragma once

#include <cuda_runtime.h>

#include "kernels/bench/device_case.h"
#include "kernels/bench/timing.h"
#include "sim/test_support/catch.h"

namespace shiftpoint::test {

inline bool has_gpu() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

// Variants of the registry that this card supports for `params`.
inline std::vector<std::string> supported_variants(const VerifyAttentionParams& params) {
  std::vector<std::string> names;
  for (const VariantInfo& info : verify_attention_variants()) {
    if (supported(info.name, params, current_device_limits()).ok) {
      names.emplace_back(info.name);
      prepare(info.name);
    }
  }
  return names;
}

}  // namespace shiftpoint::test

#define SHIFTPOINT_NEEDS_GPU()                      \
  do {                                              \
    if (!::shiftpoint::test::has_gpu()) {           \
      SHIFTPOINT_SKIP("no CUDA device is visible"); \
    }                                               \
  } while (false)
