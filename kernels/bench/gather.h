// The gather kernel behind kernel_bench memory.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

namespace shiftpoint {

// Row sizes that are built.
inline constexpr int kGatherRowBytes[] = {128, 256, 576, 656, 1152, 2304};

void load_gather();  // loads the kernels, which a capture may not
// Reads blocks x rows_per_block rows of `pool` in the order of the slot list `order`.
void launch_gather(int row_bytes, int blocks, const void* pool, const int* order,
                   int rows_per_block, std::uint32_t* sink, cudaStream_t stream);

}  // namespace shiftpoint
