#include "sim/cost/attention_model.h"

#include <algorithm>

namespace shiftpoint {
namespace {

constexpr double kReservedSharedBytesPerBlock = 1024;  // cited: CUDA programming guide, cc >= 8.0

double sm_l2_bytes_per_us(const HardwareConfig& hardware) {
  return hardware.l2_gbps * 1e3 / static_cast<double>(hardware.sms);
}

double sm_compute_us(const TileWork& work, const HardwareConfig& hardware) {
  const double sms = static_cast<double>(hardware.sms);
  return work.mma_flops * sms / (hardware.mma_tflops * 1e6) +
         work.fma_flops * sms / (hardware.fma_tflops * 1e6) +
         work.cycles / (hardware.sm_clock_ghz * 1e3);
}

}  // namespace

KvRows kv_rows(const AttentionShape& shape) {
  KvRows rows;
  rows.requests = static_cast<std::int64_t>(shape.context_tokens.size());
  for (const std::int64_t context : shape.context_tokens) {
    const std::int64_t length = context + shape.query_tokens;
    rows.sum += length;
    rows.longest = std::max(rows.longest, length);
  }
  return rows;
}

double kv_row_bytes(const AttentionShape& shape) {
  return static_cast<double>(shape.latent_dims + shape.rope_dims) * shape.bytes_per_element;
}

double flops_per_row_and_token(const AttentionShape& shape) {
  return 2.0 * static_cast<double>(2 * shape.latent_dims + shape.rope_dims);
}

TileTime serial_tile_time(const TileWork& work, const HardwareConfig& hardware) {
  TileTime tile;
  tile.busy_us = work.l2_bytes / sm_l2_bytes_per_us(hardware) + sm_compute_us(work, hardware);
  tile.chain_us = work.dependent_loads * hardware.dram_latency_us + tile.busy_us;
  return tile;
}

TileTime pipelined_tile_time(const TileWork& work, const HardwareConfig& hardware) {
  TileTime tile;
  tile.busy_us =
      std::max(work.l2_bytes / sm_l2_bytes_per_us(hardware), sm_compute_us(work, hardware));
  tile.chain_us = tile.busy_us;
  return tile;
}

std::int64_t resident_blocks(double shared_bytes_per_block, std::int64_t most,
                             const HardwareConfig& hardware) {
  const double sm_bytes =
      static_cast<double>(hardware.shared_memory_per_block_bytes) + kReservedSharedBytesPerBlock;
  const double fits = sm_bytes / (shared_bytes_per_block + kReservedSharedBytesPerBlock);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(fits), 1, most);
}

std::int64_t resolve_nsplit(std::int64_t nsplit, std::int64_t blocks_per_split,
                            std::int64_t resident, const HardwareConfig& hardware) {
  if (nsplit > 0) return nsplit;
  return std::max<std::int64_t>(1, hardware.sms * resident / blocks_per_split);
}

double makespan_us(std::int64_t blocks, std::int64_t resident, double mean_tiles, double most_tiles,
                   const TileTime& tile, const HardwareConfig& hardware) {
  const std::int64_t blocks_of_sm = ceil_div(blocks, hardware.sms);
  const std::int64_t together = std::min(blocks_of_sm, resident);
  const std::int64_t rounds = blocks_of_sm / together;
  const std::int64_t rest = blocks_of_sm % together;
  double us_per_tile = static_cast<double>(rounds) *
                       std::max(tile.chain_us, static_cast<double>(together) * tile.busy_us);
  if (rest > 0) {
    us_per_tile += std::max(tile.chain_us, static_cast<double>(rest) * tile.busy_us);
  }
  return std::max(us_per_tile * mean_tiles, tile.chain_us * most_tiles);
}

double serial_combine_us(std::int64_t nsplit, const HardwareConfig& hardware) {
  return static_cast<double>(nsplit) * kSerialCombineCyclesPerSplit / (hardware.sm_clock_ghz * 1e3);
}

AttentionTime finish_attention_time(AttentionTime time, const HardwareConfig& hardware) {
  time.dram_us = time.counts.dram_bytes / (hardware.dram_read_gbps * 1e3);
  time.l2_us = time.counts.l2_bytes / (hardware.l2_gbps * 1e3);
  time.compute_us = time.counts.mma_flops / (hardware.mma_tflops * 1e6) +
                    time.counts.fma_flops / (hardware.fma_tflops * 1e6);
  time.counts.waves = static_cast<double>(time.counts.blocks) /
                      static_cast<double>(hardware.sms * time.counts.resident_blocks);
  time.us = time.floor_us + std::max({time.dram_us, time.l2_us, time.compute_us, time.serial_us});
  return time;
}

}  // namespace shiftpoint
