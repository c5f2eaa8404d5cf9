#include "kernels/bench/gpu_state.h"

#include <cuda_runtime.h>
#include <dlfcn.h>

#include "kernels/verify_attention/variant.h"

namespace shiftpoint {
namespace {

// The few entry points of libnvidia-ml that are needed; signatures from its public header.
class ManagementLibrary {
 public:
  ManagementLibrary() {
    library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) {
      return;
    }
    int (*init)() = nullptr;
    int (*handle_by_index)(unsigned, void**) = nullptr;
    find(init, "nvmlInit_v2");
    find(handle_by_index, "nvmlDeviceGetHandleByIndex_v2");
    find(clock_info, "nvmlDeviceGetClockInfo");
    find(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    find(power, "nvmlDeviceGetPowerUsage");
    find(driver_version, "nvmlSystemGetDriverVersion");
    if (init == nullptr || handle_by_index == nullptr || init() != 0 ||
        handle_by_index(0, &device) != 0) {
      device = nullptr;
    }
  }

  int (*clock_info)(void*, int, unsigned*) = nullptr;
  int (*reasons)(void*, unsigned long long*) = nullptr;
  int (*power)(void*, unsigned*) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  void* device = nullptr;

 private:
  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
  }
  void* library_ = nullptr;
};

ManagementLibrary& library() {
  static ManagementLibrary instance;
  return instance;
}

}  // namespace

GpuState read_gpu_state() {
  constexpr int kSmClock = 1, kMemoryClock = 2;  // nvmlClockType_t
  ManagementLibrary& nvml = library();
  GpuState state;
  if (nvml.device == nullptr) {
    return state;
  }
  unsigned value = 0;
  if (nvml.clock_info != nullptr && nvml.clock_info(nvml.device, kSmClock, &value) == 0) {
    state.sm_clock_mhz = static_cast<int>(value);
  }
  if (nvml.clock_info != nullptr && nvml.clock_info(nvml.device, kMemoryClock, &value) == 0) {
    state.memory_clock_mhz = static_cast<int>(value);
  }
  if (nvml.power != nullptr && nvml.power(nvml.device, &value) == 0) {
    state.power_mw = static_cast<int>(value);
  }
  if (nvml.reasons != nullptr) {
    nvml.reasons(nvml.device, &state.throttle_reasons);
  }
  return state;
}

GpuIdentity read_gpu_identity() {
  GpuIdentity identity;
  cudaDeviceProp properties;
  SHIFTPOINT_CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  identity.name = properties.name;
  SHIFTPOINT_CUDA_CHECK(cudaRuntimeGetVersion(&identity.cuda_runtime));
  SHIFTPOINT_CUDA_CHECK(cudaDriverGetVersion(&identity.cuda_driver));
  char version[96] = "unknown";
  if (library().driver_version != nullptr) {
    library().driver_version(version, sizeof(version));
  }
  identity.driver = version;
  return identity;
}

}  // namespace shiftpoint
