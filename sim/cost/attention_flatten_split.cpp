// The strong Triton-style baseline: every (request, query) is a row of its own, heads packed to 16,
// V is the transposed K tile, KV split, one stage, and a second kernel that walks the splits.
#include "sim/cost/attention_model.h"

namespace shiftpoint {
namespace {

// cited: public grouped decode kernel, 16 heads x 32 tokens, one stage.
constexpr std::int64_t kTileHeads = 16;
constexpr std::int64_t kTileTokens = 32;
// measured: 64,512 B a block on the H200 with a bf16 cache, minus Q and K tiles (public profile).
constexpr double kScratchBytes = 9216;
constexpr double kDependentLoadsPerTile = 2;  // index, then row
// fitted: softmax, transposition, barriers and waits of one 32-token tile.
constexpr double kCyclesPerTile = 1900;
// Length, bounds, Q, partials; then length and partials in the combine.
constexpr double kDependentLoadsOnce = 6;
constexpr std::int64_t kPartialBytesPerElement = 4;

}  // namespace

AttentionTime flatten_split_time(const AttentionShape& shape, const HardwareConfig& hardware) {
  const KvRows rows = kv_rows(shape);
  const double row_bytes = kv_row_bytes(shape);
  const std::int64_t walks = shape.query_tokens * ceil_div(shape.heads, kTileHeads);
  const double query_bytes =
      static_cast<double>(kTileHeads * (shape.latent_dims + shape.rope_dims)) * 2;

  AttentionTime time;
  AttentionCounts& counts = time.counts;
  counts.kernels = 2;
  counts.resident_blocks =
      resident_blocks(query_bytes + static_cast<double>(kTileTokens) * row_bytes + kScratchBytes,
                      kMostBlocksPerSm, hardware);
  counts.nsplit =
      resolve_nsplit(shape.nsplit, rows.requests * walks, counts.resident_blocks, hardware);
  counts.blocks = rows.requests * walks * counts.nsplit;
  const auto tiles_of = [&](std::int64_t length) {
    return ceil_div(ceil_div(length, counts.nsplit), kTileTokens);
  };
  std::int64_t tiles = 0;  // of one (query, head group, split), summed over requests
  for (const std::int64_t context : shape.context_tokens) {
    tiles += tiles_of(context + shape.query_tokens);
  }
  const double tile_flops =
      static_cast<double>(kTileHeads * kTileTokens) * flops_per_row_and_token(shape);
  counts.dram_bytes = static_cast<double>(rows.sum) * row_bytes;
  // Partials and their (maximum, sum) are written once and read once.
  const double partial_bytes =
      2.0 * static_cast<double>(rows.requests * shape.query_tokens * shape.heads * counts.nsplit *
                                (shape.latent_dims + 2) * kPartialBytesPerElement);
  counts.l2_bytes =
      static_cast<double>(walks) * static_cast<double>(rows.sum) * row_bytes + partial_bytes;
  counts.mma_flops = static_cast<double>(walks * counts.nsplit * tiles) * tile_flops;

  TileWork work;
  work.dependent_loads = kDependentLoadsPerTile;
  work.l2_bytes = static_cast<double>(kTileTokens) * row_bytes;
  work.mma_flops = tile_flops;
  work.cycles = kCyclesPerTile;
  time.serial_us = makespan_us(counts.blocks, counts.resident_blocks,
                               static_cast<double>(tiles) / static_cast<double>(rows.requests),
                               static_cast<double>(tiles_of(rows.longest)),
                               serial_tile_time(work, hardware), hardware);
  time.floor_us = 2 * hardware.graph_node_gap_us + kDependentLoadsOnce * hardware.dram_latency_us +
                  serial_combine_us(counts.nsplit, hardware);
  return finish_attention_time(time, hardware);
}

}  // namespace shiftpoint
