#include "kernels/bench/device_case.h"

#include <algorithm>

namespace shiftpoint {
namespace {

constexpr std::size_t kGuardBytes = 4096;

bool all_ones(const DeviceBuffer& buffer, std::size_t used) {
  const auto bytes = buffer.download<unsigned char>(buffer.bytes());
  return std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(used), bytes.end(),
                     [](unsigned char b) { return b == 0xff; });
}

template <class T>
DeviceBuffer with_room(const std::vector<T>& values, std::size_t room) {
  DeviceBuffer buffer(values.size() * sizeof(T) + room);
  buffer.poison();
  buffer.upload(values);
  return buffer;
}

}  // namespace

DeviceCase::DeviceCase(const VerifyCase& host)
    : base_(host.host_params()),
      q_(DeviceBuffer::of(host.q)),
      pool_(DeviceBuffer::of(host.pool)),
      kv_indptr_(DeviceBuffer::of(host.kv_indptr)),
      out_cache_loc_(host.out_cache_loc.size() * 8),
      mask_indptr_(DeviceBuffer::of(host.mask_indptr)) {
  const std::size_t room = 1 << 20;  // lists and masks of a longer context, see update()
  kv_indices_ = DeviceBuffer(host.kv_indices.size() * 8 + room);
  custom_mask_ = with_room(host.custom_mask, room);
  out_elements_ = static_cast<std::size_t>(base_.batch) * static_cast<std::size_t>(base_.q_tokens) *
                  static_cast<std::size_t>(base_.heads) * kLatentDims;
  lse_elements_ = out_elements_ / kLatentDims;
  out_ = DeviceBuffer(out_elements_ * 2 + kGuardBytes);
  lse_ = DeviceBuffer(lse_elements_ * 4 + kGuardBytes);
  update(host);
  base_.q = q_.data();
  base_.pool = pool_.data();
  base_.kv_indptr = kv_indptr_.as<std::int32_t>();
  base_.kv_indices = kv_indices_.data();
  base_.out_cache_loc = out_cache_loc_.data();
  base_.custom_mask = custom_mask_.as<std::uint8_t>();
  base_.mask_indptr = mask_indptr_.as<std::int64_t>();
  base_.out = out_.data();
  base_.lse = lse_.as<float>();
}

void DeviceCase::update(const VerifyCase& host) {
  kv_indptr_.upload(host.kv_indptr);
  mask_indptr_.upload(host.mask_indptr);
  kv_indices_.poison();
  custom_mask_.upload(host.custom_mask);
  if (host.spec.index_type == IndexType::kInt32) {
    kv_indices_.upload(host.kv_indices32);
    out_cache_loc_.upload(host.out_cache_loc32);
  } else {
    kv_indices_.upload(host.kv_indices);
    out_cache_loc_.upload(host.out_cache_loc);
  }
}

VerifyAttentionParams DeviceCase::params(std::string_view variant, int nsplit) {
  VerifyAttentionParams result = base_;
  result.nsplit = nsplit;
  result.workspace_bytes = workspace_bytes(variant, result);
  workspace_ = DeviceBuffer(result.workspace_bytes + kGuardBytes);
  result.workspace = workspace_.data();
  return result;
}

void DeviceCase::poison() {
  out_.poison();
  lse_.poison();
  workspace_.poison();
}

bool DeviceCase::guards_intact() const {
  return all_ones(out_, out_elements_ * 2) && all_ones(lse_, lse_elements_ * 4) &&
         all_ones(workspace_, workspace_.bytes() - kGuardBytes);
}

DeviceCase::Output DeviceCase::read_output() const {
  SHIFTPOINT_CUDA_CHECK(cudaDeviceSynchronize());
  return {out_.download<std::uint16_t>(out_elements_), lse_.download<float>(lse_elements_)};
}

DeviceCase::Output DeviceCase::run(std::string_view variant, int nsplit) {
  const VerifyAttentionParams with_workspace = params(variant, nsplit);
  poison();
  launch(variant, with_workspace);
  return read_output();
}

CompareResult verify_on_device(std::string_view variant, DeviceCase& device, int nsplit,
                               const ReferenceTokens& reference) {
  const DeviceCase::Output output = device.run(variant, nsplit);
  CompareResult result = compare_with_reference(reference, output.out, output.lse);
  if (!device.guards_intact()) {
    result.ok = false;
    result.detail = "wrote beyond the end of a buffer";
  }
  return result;
}

}  // namespace shiftpoint
