#include <array>
#include <iterator>

#include "kernels/verify_attention/variant.h"

namespace shiftpoint {
namespace {

// The registry: one line a variant.
constexpr std::array kVariants = {&kExtendSerial, &kFlattenSplit, &kSplitScalar, &kSplitVector,
                                  &kPacked,       &kPackedSolo,   &kPackedPair};

const Variant& find_variant(std::string_view name) {
  std::string names;
  for (const Variant* variant : kVariants) {
    if (name == variant->name) {
      return *variant;
    }
    names += names.empty() ? variant->name : std::string(", ") + variant->name;
  }
  throw KernelError("verify attention variant '" + std::string(name) +
                    "' is unknown; accepted: " + names);
}

bool misaligned(const void* pointer, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes != 0;
}

std::string bad_sizes(const VerifyAttentionParams& p) {
  if (p.batch < 1 || p.batch > 65535) {
    return "batch " + std::to_string(p.batch) + " is outside 1 to 65535";
  }
  if (p.q_tokens < 1 || p.heads < 1 || p.nsplit < 1) {
    return "q_tokens, heads and nsplit must be positive";
  }
  if (static_cast<std::int64_t>(p.q_tokens) * p.heads > 65535) {
    return "q_tokens x heads above 65535";
  }
  return "";
}

// 16-byte accesses to q and pool rows, 16-byte stores of output rows.
std::string bad_layout(const VerifyAttentionParams& p) {
  const struct {
    const char* name;
    std::int64_t stride;
    int least;
  } strides[] = {{"stride_q_batch", p.stride_q_batch, 0},
                 {"stride_q_token", p.stride_q_token, 0},
                 {"stride_q_head", p.stride_q_head, kRowDims},
                 {"stride_pool_slot", p.stride_pool_slot, kRowDims},
                 {"stride_out_batch", p.stride_out_batch, 0},
                 {"stride_out_token", p.stride_out_token, 0},
                 {"stride_out_head", p.stride_out_head, kLatentDims}};
  for (const auto& [name, stride, least] : strides) {
    if (stride % 8 != 0 || stride < least) {
      return std::string(name) + " is " + std::to_string(stride) +
             " elements; accepted: multiples of 8, at least " + std::to_string(least);
    }
  }
  if (misaligned(p.q, 16) || misaligned(p.pool, 16) || misaligned(p.out, 16)) {
    return "q, pool and out must be 16-byte aligned";
  }
  return misaligned(p.workspace, 256) ? "workspace must be 256-byte aligned" : "";
}

std::string missing_pointer(const VerifyAttentionParams& p) {
  const struct {
    const char* name;
    const void* pointer;
  } pointers[] = {{"q", p.q},
                  {"pool", p.pool},
                  {"kv_indptr", p.kv_indptr},
                  {"kv_indices", p.kv_indices},
                  {"out_cache_loc", p.out_cache_loc},
                  {"custom_mask", p.custom_mask},
                  {"mask_indptr", p.mask_indptr},
                  {"out", p.out}};
  for (const auto& [name, pointer] : pointers) {
    if (pointer == nullptr) {
      return std::string(name) + " is null";
    }
  }
  return "";
}

std::string first_problem(const Variant& variant, const VerifyAttentionParams& p,
                          const DeviceLimits& device) {
  if (device.compute_capability < 90) {
    return "compute capability " + std::to_string(device.compute_capability) + " is below 90";
  }
  for (const std::string& problem : {bad_sizes(p), bad_layout(p)}) {
    if (!problem.empty()) {
      return problem;
    }
  }
  return variant.unsupported(p, device);
}

}  // namespace

void check_cuda(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    cudaGetLastError();  // clears the error of a failed launch, so that the next call is not blamed
    throw KernelError(std::string(what) + ": " + cudaGetErrorName(status) + ", " +
                      cudaGetErrorString(status));
  }
}

DeviceLimits current_device_limits() {
  int device = 0;
  SHIFTPOINT_CUDA_CHECK(cudaGetDevice(&device));
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    SHIFTPOINT_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
    return value;
  };
  DeviceLimits limits;
  limits.sm_count = attribute(cudaDevAttrMultiProcessorCount);
  limits.compute_capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor) +
                              attribute(cudaDevAttrComputeCapabilityMinor);
  limits.shared_bytes_per_block =
      static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  return limits;
}

Support supported(std::string_view variant, const VerifyAttentionParams& params,
                  const DeviceLimits& device) {
  Support support;
  support.reason = first_problem(find_variant(variant), with_default_strides(params), device);
  support.ok = support.reason.empty();
  return support;
}

std::size_t workspace_bytes(std::string_view variant, const VerifyAttentionParams& params) {
  return find_variant(variant).workspace_bytes(with_default_strides(params));
}

int suggested_nsplit(std::string_view variant, const VerifyAttentionParams& params,
                     const DeviceLimits& device) {
  return find_variant(variant).suggested_nsplit(with_default_strides(params), device);
}

void prepare(std::string_view variant) {
  find_variant(variant).prepare();
}

void launch(std::string_view name, const VerifyAttentionParams& raw) {
  const Variant& variant = find_variant(name);
  const VerifyAttentionParams params = with_default_strides(raw);
  // Attribute queries are legal during a capture; cached, so that a launch stays cheap.
  static const DeviceLimits device = current_device_limits();
  for (const std::string& problem :
       {first_problem(variant, params, device), missing_pointer(params)}) {
    if (!problem.empty()) {
      throw KernelError(std::string(name) + ": " + problem);
    }
  }
  if (params.workspace_bytes < variant.workspace_bytes(params) ||
      (params.workspace == nullptr && variant.workspace_bytes(params) > 0)) {
    throw KernelError(std::string(name) + ": workspace has " +
                      std::to_string(params.workspace_bytes) +
                      " bytes; needed: " + std::to_string(variant.workspace_bytes(params)));
  }
  variant.launch(params);
}

std::vector<VariantInfo> verify_attention_variants() {
  std::vector<VariantInfo> infos;
  infos.reserve(std::size(kVariants));
  for (const Variant* variant : kVariants) {
    infos.push_back({variant->name, variant->help, variant->dynamic_shared_bytes});
  }
  return infos;
}

}  // namespace shiftpoint
