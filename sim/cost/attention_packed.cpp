// All rows of a rank packed against each KV tile: mma.sync with rows as the narrow side (padded to
// 8), asynchronous loads several tiles ahead, KV read once, bf16 partials, a combine that reads the
// splits side by side.
#include <algorithm>

#include "sim/cost/attention_model.h"

namespace shiftpoint {
namespace {

constexpr std::int64_t kGroupRows = 72;  // accumulators of more rows do not fit the registers
constexpr std::int64_t kRowPadding = 8;  // narrow side of m16n8k16
constexpr std::int64_t kTileTokens = 16;
constexpr std::int64_t kMinChunkTokens = 32;  // cited: recommended schedule of the prototype
// measured: softmax and score exchange, 0.35 us of a tile of 72 rows at 1.9 GHz (prototype's
// ablation of parts).
constexpr double kCyclesPerRow = 9.2;
// fitted: barriers and exposed shared-memory loads of a tile.
constexpr double kCyclesPerTile = 680;
// Length, bounds, index, row; length and partials in the combine.
constexpr double kDependentLoadsOnce = 6;
// fitted: pipeline fill, Q, and the combine's arithmetic.
constexpr double kCyclesOnce = 1700;
constexpr std::int64_t kPartialBytesPerElement = 2;

}  // namespace

AttentionTime packed_time(const AttentionShape& shape, const HardwareConfig& hardware) {
  const KvRows rows = kv_rows(shape);
  const double row_bytes = kv_row_bytes(shape);
  const std::int64_t query_rows = shape.query_tokens * shape.heads;
  const std::int64_t groups = ceil_div(query_rows, kGroupRows);
  const std::int64_t padded_rows =
      ceil_div(ceil_div(query_rows, groups), kRowPadding) * kRowPadding;

  AttentionTime time;
  AttentionCounts& counts = time.counts;
  counts.kernels = 2;
  counts.resident_blocks = 1;  // registers: 8 warps with 255 each
  counts.nsplit =
      resolve_nsplit(shape.nsplit, rows.requests * groups, counts.resident_blocks, hardware);
  counts.blocks = rows.requests * groups * counts.nsplit;
  // Splits that would get less than the least chunk return at once; the grid does not shrink.
  const auto active_splits = [&](std::int64_t length) {
    return std::clamp<std::int64_t>(ceil_div(length, kMinChunkTokens), 1, counts.nsplit);
  };
  const auto tiles_of = [&](std::int64_t length) {
    return ceil_div(ceil_div(length, active_splits(length)), kTileTokens);
  };
  std::int64_t tiles = 0;
  std::int64_t splits = 0;
  for (const std::int64_t context : shape.context_tokens) {
    const std::int64_t length = context + shape.query_tokens;
    tiles += active_splits(length) * tiles_of(length);
    splits += active_splits(length);
  }
  const double tile_flops =
      static_cast<double>(padded_rows * kTileTokens) * flops_per_row_and_token(shape);
  counts.dram_bytes = static_cast<double>(rows.sum) * row_bytes;
  const double partial_bytes =
      2.0 *
      static_cast<double>(splits * query_rows *
                          (shape.latent_dims * kPartialBytesPerElement + std::int64_t{2} * 4));
  counts.l2_bytes = static_cast<double>(groups * rows.sum) * row_bytes + partial_bytes;
  counts.mma_flops = static_cast<double>(groups * tiles) * tile_flops;

  TileWork work;
  work.l2_bytes = static_cast<double>(kTileTokens) * row_bytes;
  work.mma_flops = tile_flops;
  work.cycles = kCyclesPerTile + kCyclesPerRow * static_cast<double>(padded_rows);
  const double mean_tiles =
      static_cast<double>(tiles) / static_cast<double>(rows.requests * counts.nsplit);
  time.serial_us = makespan_us(counts.blocks, counts.resident_blocks, mean_tiles,
                               static_cast<double>(tiles_of(rows.longest)),
                               pipelined_tile_time(work, hardware), hardware);
  time.floor_us = 2 * hardware.graph_node_gap_us + kDependentLoadsOnce * hardware.dram_latency_us +
                  kCyclesOnce / (hardware.sm_clock_ghz * 1e3);
  return finish_attention_time(time, hardware);
}

}  // namespace shiftpoint
