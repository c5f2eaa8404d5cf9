// Owns device memory. Header only; needs the CUDA runtime.
#pragma once

#include <cuda_runtime.h>

#include <utility>
#include <vector>

#include "kernels/verify_attention/variant.h"

namespace shiftpoint {

class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t bytes) : bytes_(bytes) {
    SHIFTPOINT_CUDA_CHECK(cudaMalloc(&data_, bytes == 0 ? 1 : bytes));
  }
  template <class T>
  static DeviceBuffer of(const std::vector<T>& values) {
    DeviceBuffer buffer(values.size() * sizeof(T));
    buffer.upload(values);
    return buffer;
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() { cudaFree(data_); }  // a destructor must not throw; the error stays sticky

  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::size_t bytes() const { return bytes_; }

  // 0xff bytes: NaN as bf16 and as f32, -1 as an index.
  void poison() { SHIFTPOINT_CUDA_CHECK(cudaMemset(data_, 0xff, bytes_)); }
  template <class T>
  void upload(const std::vector<T>& values) {
    SHIFTPOINT_CUDA_CHECK(
        cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  template <class T>
  std::vector<T> download(std::size_t count) const {
    std::vector<T> values(count);
    SHIFTPOINT_CUDA_CHECK(
        cudaMemcpy(values.data(), data_, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace shiftpoint
