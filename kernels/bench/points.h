// Named sets of timing points.
#pragma once

#include <string>
#include <vector>

#include "kernels/bench/workload.h"

namespace shiftpoint {

// "bars": the nine points by which the packed kernel is judged, for the given variants;
// "full": the grid of a committed profile; "splits": a sweep of NSPLIT; "65536x8": one context and
// batch. Throws KernelError.
std::vector<BenchPoint> named_points(const std::string& set,
                                     const std::vector<std::string>& variants);

}  // namespace shiftpoint
