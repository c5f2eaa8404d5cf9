// Name, driver and clocks of the card through the driver's management library, loaded at run time
// because a machine without it must still run the kernels.
#pragma once

#include <string>

namespace shiftpoint {

struct GpuState {
  int sm_clock_mhz = 0;  // 0: unknown
  int memory_clock_mhz = 0;
  unsigned long long throttle_reasons = 0;  // nvml's clock event reasons
  int power_mw = 0;
};
GpuState read_gpu_state();

struct GpuIdentity {
  std::string name, driver;
  int cuda_runtime = 0, cuda_driver = 0;
};
GpuIdentity read_gpu_identity();

}  // namespace shiftpoint
