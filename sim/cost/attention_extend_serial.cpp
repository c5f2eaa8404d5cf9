// The shape of the Triton target-verify baseline: one block a (request, head, 32 query rows), no
// split, index -> K -> scores -> V -> values one after another, no combine.
#include "sim/cost/attention_model.h"

namespace shiftpoint {
namespace {

// cited: sm_120 tile of the public kernel, 32 rows x 32 tokens (reference: sglang
// extend_attention).
constexpr std::int64_t kTileRows = 32;
constexpr std::int64_t kTileTokens = 32;
constexpr double kScoreBytes = 4096;  // probabilities of one tile, beside Q and K
// Index, then K; V was just read as K and comes from the cache.
constexpr double kDependentLoadsPerTile = 2;
// fitted: softmax, barriers, address arithmetic and register spills of one 32-token tile.
constexpr double kCyclesPerTile = 4350;
// Length, index bounds, Q, output: once a block.
constexpr double kDependentLoadsOnce = 4;

}  // namespace

AttentionTime extend_serial_time(const AttentionShape& shape, const HardwareConfig& hardware) {
  const KvRows rows = kv_rows(shape);
  const double row_bytes = kv_row_bytes(shape);
  const double value_bytes = static_cast<double>(shape.latent_dims) * shape.bytes_per_element;
  const std::int64_t row_tiles = ceil_div(shape.query_tokens, kTileRows);
  const auto tiles_of = [](std::int64_t prefix) {
    return ceil_div(prefix, kTileTokens) + 1;  // the draft slots are a tile of their own
  };
  std::int64_t tiles = 0;
  for (const std::int64_t context : shape.context_tokens) tiles += tiles_of(context);

  AttentionTime time;
  AttentionCounts& counts = time.counts;
  counts.kernels = 1;
  counts.nsplit = 1;
  counts.blocks = rows.requests * shape.heads * row_tiles;
  const double query_bytes =
      static_cast<double>(kTileRows * (shape.latent_dims + shape.rope_dims)) * 2;
  counts.resident_blocks =
      resident_blocks(query_bytes + static_cast<double>(kTileTokens) * row_bytes + kScoreBytes,
                      kMostBlocksPerSm, hardware);
  const double tile_flops =
      static_cast<double>(kTileRows * kTileTokens) * flops_per_row_and_token(shape);
  const double walks = static_cast<double>(shape.heads * row_tiles);
  counts.dram_bytes = static_cast<double>(rows.sum) * row_bytes;
  counts.l2_bytes = walks * static_cast<double>(rows.sum) * (row_bytes + value_bytes);
  counts.mma_flops = walks * static_cast<double>(tiles) * tile_flops;

  TileWork work;
  work.dependent_loads = kDependentLoadsPerTile;
  work.l2_bytes = static_cast<double>(kTileTokens) * (row_bytes + value_bytes);
  work.mma_flops = tile_flops;
  work.cycles = kCyclesPerTile;
  time.serial_us = makespan_us(counts.blocks, counts.resident_blocks,
                               static_cast<double>(tiles) / static_cast<double>(rows.requests),
                               static_cast<double>(tiles_of(rows.longest - shape.query_tokens)),
                               serial_tile_time(work, hardware), hardware);
  time.floor_us = hardware.graph_node_gap_us + kDependentLoadsOnce * hardware.dram_latency_us;
  return finish_attention_time(time, hardware);
}

}  // namespace shiftpoint
