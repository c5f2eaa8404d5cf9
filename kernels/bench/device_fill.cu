#include <cuda_bf16.h>

#include "kernels/bench/device_fill.h"
#include "kernels/verify_attention/variant.h"

namespace shiftpoint {
namespace {

__device__ __forceinline__ std::uint32_t mix(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ (x >> 16);
}

__device__ __forceinline__ std::uint32_t hash(std::int64_t i, std::uint32_t seed) {
  return mix(static_cast<std::uint32_t>(i) ^
             mix(static_cast<std::uint32_t>(i >> 32) * 0x9e3779b9U + seed));
}

__global__ void normal_kernel(__nv_bfloat16* target, std::int64_t elements, std::uint32_t seed) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < elements; i += step) {
    const std::uint32_t h = hash(i, seed);
    const int sum = static_cast<int>(h & 255) + static_cast<int>(h >> 8 & 255) +
                    static_cast<int>(h >> 16 & 255) + static_cast<int>(h >> 24);
    // Variance of a byte: (256^2 - 1) / 12; four of them: 147.8^2.
    target[i] = __float2bfloat16_rn(static_cast<float>(sum - 510) * (1.0F / 147.8F));
  }
}

__global__ void words_kernel(std::uint32_t* target, std::int64_t words, std::uint32_t seed) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < words;
       i += step) {
    target[i] = hash(i, seed);
  }
}

}  // namespace

void fill_normal_bf16(void* target, std::int64_t elements, std::uint32_t seed) {
  normal_kernel<<<2048, 256>>>(static_cast<__nv_bfloat16*>(target), elements, seed);
  SHIFTPOINT_CUDA_CHECK(cudaGetLastError());
}

void fill_random_words(void* target, std::int64_t words, std::uint32_t seed) {
  words_kernel<<<2048, 256>>>(static_cast<std::uint32_t*>(target), words, seed);
  SHIFTPOINT_CUDA_CHECK(cudaGetLastError());
}

}  // namespace shiftpoint
