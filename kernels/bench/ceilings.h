// What the card can do, measured in the same run as the kernels: read-only bandwidth, copy
// bandwidth and the rate of mma.sync from registers.
#pragma once

namespace shiftpoint {

struct Ceilings {
  double read_gbps = 0;        // 16-byte loads over a buffer far beyond L2
  double copy_gbps = 0;        // device-to-device copy, read + write bytes
  double mma_tflops = 0;       // mma.sync m16n8k16 bf16, registers only, random data
  double empty_kernel_us = 0;  // in a graph
};

Ceilings measure_ceilings();

}  // namespace shiftpoint
