// A host case on the device, run and compared with the oracle. Output, LSE and workspace are filled
// with NaN before each launch and followed by guard bytes that must survive.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/bench/device_buffer.h"
#include "kernels/reference/compare.h"
#include "kernels/reference/verify_case.h"

namespace shiftpoint {

class DeviceCase {
 public:
  explicit DeviceCase(const VerifyCase& host);

  // Device parameters with the workspace that `variant` needs for `nsplit` splits.
  VerifyAttentionParams params(std::string_view variant, int nsplit);

  struct Output {
    std::vector<std::uint16_t> out;
    std::vector<float> lse;
    bool operator==(const Output&) const = default;
  };
  Output run(std::string_view variant, int nsplit);
  Output read_output() const;
  void poison();
  bool guards_intact() const;

  // New lists, masks and lengths in the same buffers, as a graph replay sees them. Sizes must fit.
  void update(const VerifyCase& host);

 private:
  VerifyAttentionParams base_;
  std::size_t out_elements_ = 0, lse_elements_ = 0;
  DeviceBuffer q_, pool_, kv_indptr_, kv_indices_, out_cache_loc_, custom_mask_, mask_indptr_, out_,
      lse_, workspace_;
};

// One poisoned run of `variant` against the oracle's rows, guards included.
CompareResult verify_on_device(std::string_view variant, DeviceCase& device, int nsplit,
                               const ReferenceTokens& reference);

}  // namespace shiftpoint
