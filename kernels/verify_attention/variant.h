// What a variant implements. One .cu file a variant; the table is in registry.cpp.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "kernels/verify_attention.h"

namespace shiftpoint {

struct Variant {
  const char* name;
  const char* help;
  std::size_t dynamic_shared_bytes;
  std::string (*unsupported)(const VerifyAttentionParams&, const DeviceLimits&);  // "" when fine
  std::size_t (*workspace_bytes)(const VerifyAttentionParams&);
  int (*suggested_nsplit)(const VerifyAttentionParams&, const DeviceLimits&);
  void (*prepare)();
  void (*launch)(const VerifyAttentionParams&);
};

extern const Variant kExtendSerial;
extern const Variant kFlattenSplit;
extern const Variant kSplitScalar;
extern const Variant kSplitVector;
extern const Variant kPacked;
extern const Variant kPackedSolo;
extern const Variant kPackedPair;

// Throws KernelError naming the call when `status` is an error.
void check_cuda(cudaError_t status, const char* what);
#define SHIFTPOINT_CUDA_CHECK(call) ::shiftpoint::check_cuda((call), #call)

}  // namespace shiftpoint
