// bfloat16 as its bit pattern on the host: conversion by truncation of the exponent-compatible
// float, rounding to nearest even.
#pragma once

#include <bit>
#include <cstdint>

namespace shiftpoint {

inline float float_from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

inline std::uint16_t bf16_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) {
    return 0x7fc0;  // rounding could carry a NaN's payload into infinity
  }
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

}  // namespace shiftpoint
