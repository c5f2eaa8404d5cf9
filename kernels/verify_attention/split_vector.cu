// split-vector: the articles' final kernel. As split-scalar, but a lane reads 16 bytes at a time:
// chunks lane and lane + 32 (the 512 value dimensions), and 2 values of the rope part. Same bytes
// and operations, a ninth of the load instructions. Expected bound: FP32 issue and shuffles.
// Measured: README.md beside this file.
#include "kernels/verify_attention/split_rowwise.cuh"

namespace shiftpoint {
namespace {

struct VectorReader {
  __device__ __forceinline__ static void unpack(float* out, uint4 bits) {
    const std::uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 pair = ptx::unpack_bf16(words[i]);
      out[2 * i] = pair.x;
      out[2 * i + 1] = pair.y;
    }
  }
  __device__ __forceinline__ static void read(float (&out)[rowwise::kLaneDims],
                                              const __nv_bfloat16* row) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const auto* chunks = reinterpret_cast<const uint4*>(row);
    const uint4 low = __ldg(chunks + lane);
    const uint4 high = __ldg(chunks + lane + 32);
    const float2 rope = ptx::unpack_bf16(
        __ldg(reinterpret_cast<const std::uint32_t*>(row) + kLatentDims / 2 + lane));
    unpack(out, low);
    unpack(out + 8, high);
    out[16] = rope.x;
    out[17] = rope.y;
  }
  __device__ __forceinline__ static int dim(int lane, int i) {
    return i < 8 ? 8 * lane + i : 256 + 8 * lane + i - 8;
  }
};

}  // namespace

const Variant kSplitVector = {"split-vector",
                              "one block per (request, query, head, split), 16-byte loads",
                              0,
                              rowwise::unsupported,
                              rowwise::workspace,
                              rowwise::suggested_nsplit,
                              rowwise::prepare<VectorReader>,
                              rowwise::launch<VectorReader>};

}  // namespace shiftpoint
