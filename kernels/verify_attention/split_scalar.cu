// split-scalar: the articles' first kernel. A lane reads 18 single bf16 values of a row, each warp
// load 64 bytes. Bytes from L2: 72 x 1,152 a token; 2,176 x 72 operations a token on the FP32
// units. Expected bound: instruction issue (18 loads, 34 multiply-adds, 5 shuffles a lane and
// token), far above the DRAM time. Measured: README.md beside this file.
#include "kernels/verify_attention/split_rowwise.cuh"

namespace shiftpoint {
namespace {

struct ScalarReader {
  __device__ __forceinline__ static void read(float (&out)[rowwise::kLaneDims],
                                              const __nv_bfloat16* row) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
#pragma unroll
    for (int i = 0; i < rowwise::kLaneDims; ++i) {
      out[i] = __bfloat162float(row[lane + 32 * i]);
    }
  }
  __device__ __forceinline__ static int dim(int lane, int i) {
    return lane + 32 * i;
  }
};

}  // namespace

const Variant kSplitScalar = {"split-scalar",
                              "one block per (request, query, head, split), 2-byte loads",
                              0,
                              rowwise::unsupported,
                              rowwise::workspace,
                              rowwise::suggested_nsplit,
                              rowwise::prepare<ScalarReader>,
                              rowwise::launch<ScalarReader>};

}  // namespace shiftpoint
