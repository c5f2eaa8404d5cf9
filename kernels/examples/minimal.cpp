// One verify-attention call without the simulator: a request with 1,000 cached tokens and a chain
// of 4 draft tokens. Prints the first output value. Needs a CUDA device.
#include <cuda_runtime.h>

#include <cstdio>
#include <numeric>
#include <vector>

#include "kernels/verify_attention.h"

template <class T>
T* on_device(const std::vector<T>& values) {
  void* data = nullptr;
  if (cudaMalloc(&data, values.size() * sizeof(T)) != cudaSuccess ||
      cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice) !=
          cudaSuccess) {
    throw shiftpoint::KernelError("no device memory");
  }
  return static_cast<T*>(data);
}

int main() try {
  constexpr int kPrefix = 1000, kDrafts = 4, kHeads = 8;
  constexpr std::size_t kRows = std::size_t{kDrafts} * kHeads;
  std::vector<std::int64_t> slots(kPrefix + kDrafts);
  std::iota(slots.begin(), slots.end(), 0);
  std::vector<std::uint8_t> mask;
  for (int row = 0; row < kDrafts; ++row)
    for (int col = 0; col < kPrefix + kDrafts; ++col) mask.push_back(col <= kPrefix + row ? 1 : 0);

  shiftpoint::VerifyAttentionParams p;
  p.batch = 1, p.q_tokens = kDrafts, p.heads = kHeads, p.softmax_scale = 0.0722F;
  p.max_context_tokens = kPrefix;
  const std::vector<std::uint16_t> ones(slots.size() * shiftpoint::kRowDims,
                                        0x3f80);  // 1.0 in bf16
  p.pool = on_device(ones);
  p.q = on_device(std::vector<std::uint16_t>(kRows * shiftpoint::kRowDims, 0x3c00));
  p.kv_indptr = on_device(std::vector<std::int32_t>{0, kPrefix});
  p.kv_indices = on_device(slots);
  p.out_cache_loc = static_cast<const std::int64_t*>(p.kv_indices) + kPrefix;
  p.custom_mask = on_device(mask);
  p.mask_indptr = on_device(std::vector<std::int64_t>{0});
  std::vector<std::uint16_t> out(kRows * shiftpoint::kLatentDims);
  p.out = on_device(out);
  p.nsplit = shiftpoint::suggested_nsplit("packed", p, shiftpoint::current_device_limits());
  p.workspace_bytes = shiftpoint::workspace_bytes("packed", p);
  p.workspace = on_device(std::vector<std::uint8_t>(p.workspace_bytes));
  shiftpoint::prepare("packed");
  shiftpoint::launch("packed", p);
  cudaMemcpy(out.data(), p.out, out.size() * 2, cudaMemcpyDeviceToHost);
  std::printf("first value: 0x%04x (1.0 is 0x3f80)\n", out.front());
} catch (const shiftpoint::KernelError& error) {
  std::fprintf(stderr, "minimal: %s\n", error.what());
  return 1;
}
