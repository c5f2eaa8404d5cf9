// The correctness cases: what `kernel_bench verify` and the GPU tests run.
#pragma once

#include <vector>

#include "kernels/reference/verify_case.h"

namespace shiftpoint {

struct CorrectnessCase {
  VerifyCaseSpec spec;
  std::vector<int> nsplits;
  int max_tokens = 1 << 20;  // query tokens compared with the oracle
};

std::vector<CorrectnessCase> correctness_cases();

}  // namespace shiftpoint
