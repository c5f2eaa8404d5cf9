// What the analytic variants share: a block walks its KV in tiles; a tile has a chain (the time of
// one block that has the SM to itself) and a busy part (what co-resident blocks cannot share).
// Blocks that share an SM hide only each other's load latencies.
#pragma once

#include <cstdint>

#include "sim/cost/attention_time.h"

namespace shiftpoint {

// Constants of kernels, not of a card, are fitted to data/published/h200_attention_us.csv
// (data/published/fit_attention.py repeats the fit) and carried to other cards through clock, SM
// count, latency and bandwidths only.

// fitted: one step of a combine that walks the splits one after another. Both flatten-split and
// the articles' kernels show it: their intercepts grow by 0.3-0.5 us a split on the H200.
inline constexpr double kSerialCombineCyclesPerSplit = 550;

// cited: CUDA occupancy table, resident blocks of an SM on compute capability 12.0 (32 on 9.0).
inline constexpr std::int64_t kMostBlocksPerSm = 24;

// Requests, their KV rows of this layer (prefix and draft slots), and the longest of them.
struct KvRows {
  std::int64_t requests = 0;
  std::int64_t sum = 0;
  std::int64_t longest = 0;
};
KvRows kv_rows(const AttentionShape& shape);

double kv_row_bytes(const AttentionShape& shape);
double flops_per_row_and_token(const AttentionShape& shape);  // scores and values

// One step of a block over its KV.
struct TileWork {
  double dependent_loads = 0;  // latencies that nothing inside the block hides
  double l2_bytes = 0;
  double mma_flops = 0;
  double fma_flops = 0;
  double cycles = 0;  // issue, softmax and barriers
};
struct TileTime {
  double chain_us = 0;
  double busy_us = 0;
};
// A block without asynchronous loads: everything one after another.
TileTime serial_tile_time(const TileWork& work, const HardwareConfig& hardware);
// A block whose loads are tiles ahead: the slower of reading and computing, latency hidden.
TileTime pipelined_tile_time(const TileWork& work, const HardwareConfig& hardware);

// Blocks of one SM at the same time. The SM has one reserved KB beside what a block may take.
std::int64_t resident_blocks(double shared_bytes_per_block, std::int64_t most,
                             const HardwareConfig& hardware);

// `nsplit` as asked, or, for 0, as many splits as fill the card once.
std::int64_t resolve_nsplit(std::int64_t nsplit, std::int64_t blocks_per_split,
                            std::int64_t resident, const HardwareConfig& hardware);

// Time until the last SM is done: whole rounds of resident blocks, then the partial last round.
// `mean_tiles` and `most_tiles` are over blocks. Not below the chain of the longest block;
// where requests differ in length, blocks are otherwise taken as equal (an approximation).
double makespan_us(std::int64_t blocks, std::int64_t resident, double mean_tiles, double most_tiles,
                   const TileTime& tile, const HardwareConfig& hardware);

double serial_combine_us(std::int64_t nsplit, const HardwareConfig& hardware);

// Adds the whole-card bounds to serial_us, floor_us and counts, and the total.
AttentionTime finish_attention_time(AttentionTime time, const HardwareConfig& hardware);

// One function a variant, each in its own file; the registry is the only caller.
AttentionTime extend_serial_time(const AttentionShape& shape, const HardwareConfig& hardware);
AttentionTime flatten_split_time(const AttentionShape& shape, const HardwareConfig& hardware);
AttentionTime split_scalar_time(const AttentionShape& shape, const HardwareConfig& hardware);
AttentionTime split_vector_time(const AttentionShape& shape, const HardwareConfig& hardware);
AttentionTime packed_time(const AttentionShape& shape, const HardwareConfig& hardware);

// The articles' two kernels differ only in the load instructions of one row.
AttentionTime split_rows_time(const AttentionShape& shape, const HardwareConfig& hardware,
                              double row_bytes_per_load_instruction);

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace shiftpoint
