// Time of one layer's verify attention on one rank, combine included, for each of the five
// variants. The analytic form counts what the kernel does: bytes from DRAM and L2, tensor-core or
// scalar operations, blocks against SMs and occupancy, and a latency floor; the largest of the
// throughput terms plus the floor is the time. Constants stand, with their source, in the file of
// their variant. The launch gaps of the attention kernels themselves are part of the time, as in
// every measurement by graph replay.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/core/hardware.h"
#include "sim/cost/step_time.h"

namespace shiftpoint {

struct AttentionShape {
  std::span<const std::int64_t> context_tokens;  // prefix of every request
  std::int64_t query_tokens = 9;
  std::int64_t heads = 8;  // of this rank
  std::int64_t latent_dims = 512;
  std::int64_t rope_dims = 64;
  double bytes_per_element = 2;
  std::int64_t nsplit = 64;  // 0: as many as fill the card once
};

// The counts behind a time, for explanation, tests and lessons.
struct AttentionCounts {
  double dram_bytes = 0;
  double l2_bytes = 0;
  double mma_flops = 0;  // issued, padding included
  double fma_flops = 0;
  std::int64_t blocks = 0;
  double waves = 0;                  // blocks / (SMs * resident blocks)
  std::int64_t resident_blocks = 1;  // of one SM at the same time
  std::int64_t nsplit = 1;           // as launched
  std::int64_t kernels = 1;          // combine included
};

struct AttentionTime {
  double us = 0;
  TimingSource source = TimingSource::kModel;
  bool outside_table = false;
  AttentionCounts counts;
  double dram_us = 0, l2_us = 0, compute_us = 0, serial_us = 0, floor_us = 0;
};

struct AttentionVariant {
  const char* name;
  const char* help;
  AttentionTime (*time)(const AttentionShape& shape, const HardwareConfig& hardware);
};

// The registry: one line a variant (attention_registry.cpp).
const std::vector<AttentionVariant>& attention_variants();
const AttentionVariant& find_attention_variant(std::string_view name);  // throws UserError

}  // namespace shiftpoint
