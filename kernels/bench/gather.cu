#include <string>

#include "kernels/bench/gather.h"
#include "kernels/verify_attention/variant.h"

namespace shiftpoint {
namespace {

constexpr int kUnroll = 8;
constexpr int kThreads = 256;

// A block owns a contiguous part of the index list, as a KV split does; neighbouring lanes read
// neighbouring 16-byte chunks.
template <int kRowBytes>
__global__ void __launch_bounds__(kThreads)
    gather_kernel(const unsigned char* pool, const int* order, int rows_per_block,
                  std::uint32_t* sink) {
  constexpr int kChunks = kRowBytes / 16;
  const int* mine = order + static_cast<std::int64_t>(blockIdx.x) * rows_per_block;
  const int chunks = rows_per_block * kChunks;
  std::uint32_t sum = 0;
  for (int first = static_cast<int>(threadIdx.x); first < chunks; first += kThreads * kUnroll) {
    uint4 v[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const int c = first + u * kThreads;
      v[u] = make_uint4(0, 0, 0, 0);
      if (c < chunks) {
        const auto* row = pool + static_cast<std::int64_t>(__ldg(mine + c / kChunks)) * kRowBytes;
        v[u] = __ldcs(reinterpret_cast<const uint4*>(row) + c % kChunks);
      }
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      sum += v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
    }
  }
  if (sum == 0x12345678U) {  // never for random data, but the compiler cannot know
    *sink = sum;
  }
}

using GatherKernel = void (*)(const unsigned char*, const int*, int, std::uint32_t*);

GatherKernel kernel_for(int row_bytes) {
  switch (row_bytes) {
    case 128:
      return gather_kernel<128>;
    case 256:
      return gather_kernel<256>;
    case 576:
      return gather_kernel<576>;
    case 656:
      return gather_kernel<656>;
    case 1152:
      return gather_kernel<1152>;
    case 2304:
      return gather_kernel<2304>;
    default:
      throw KernelError("no gather kernel for rows of " + std::to_string(row_bytes) + " bytes");
  }
}

}  // namespace

void load_gather() {
  cudaFuncAttributes attributes;
  for (const int row_bytes : kGatherRowBytes) {
    SHIFTPOINT_CUDA_CHECK(
        cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel_for(row_bytes))));
  }
}

void launch_gather(int row_bytes, int blocks, const void* pool, const int* order,
                   int rows_per_block, std::uint32_t* sink, cudaStream_t stream) {
  kernel_for(row_bytes)<<<blocks, kThreads, 0, stream>>>(static_cast<const unsigned char*>(pool),
                                                         order, rows_per_block, sink);
  SHIFTPOINT_CUDA_CHECK(cudaGetLastError());
}

}  // namespace shiftpoint
