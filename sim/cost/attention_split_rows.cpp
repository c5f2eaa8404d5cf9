// The articles' kernels: grid (request, query, head, NSPLIT), one row a block, 8 warps, one token a
// warp and step, K kept in registers and used as V, scalar arithmetic, and a combine that walks
// the splits.
#include "sim/cost/attention_model.h"

namespace shiftpoint {
namespace {

constexpr std::int64_t kWarps = 8;      // = tokens of one step of a block
constexpr double kSchedulers = 4;       // cited: warp schedulers of an SM, sm_80 to sm_120
constexpr double kSharedBytes = 16384;  // measured: prototype of the design, 8 partial outputs
// fitted: resident blocks. 256 threads with at most 40 registers; shared memory would allow 5 on
// a 100-KB SM, which resident_blocks() applies.
constexpr std::int64_t kMostResident = 6;
// The index of the next token is loaded ahead; the row is not.
constexpr double kDependentLoadsPerStep = 1;
constexpr double kDependentLoadsOnce = 5;
constexpr std::int64_t kPartialBytesPerElement = 4;

}  // namespace

AttentionTime split_rows_time(const AttentionShape& shape, const HardwareConfig& hardware,
                              double row_bytes_per_load_instruction) {
  const KvRows rows = kv_rows(shape);
  const double row_bytes = kv_row_bytes(shape);
  const std::int64_t walks = shape.query_tokens * shape.heads;

  AttentionTime time;
  AttentionCounts& counts = time.counts;
  counts.kernels = 2;
  counts.resident_blocks = resident_blocks(kSharedBytes, kMostResident, hardware);
  counts.nsplit =
      resolve_nsplit(shape.nsplit, rows.requests * walks, counts.resident_blocks, hardware);
  counts.blocks = rows.requests * walks * counts.nsplit;
  const double kv_walked = static_cast<double>(walks) * static_cast<double>(rows.sum);
  counts.dram_bytes = static_cast<double>(rows.sum) * row_bytes;
  const double partial_bytes =
      2.0 * static_cast<double>(rows.requests * walks * counts.nsplit * (shape.latent_dims + 2) *
                                kPartialBytesPerElement);
  counts.l2_bytes = kv_walked * row_bytes + partial_bytes;
  counts.fma_flops = kv_walked * flops_per_row_and_token(shape);

  TileWork work;
  work.dependent_loads = kDependentLoadsPerStep;
  work.l2_bytes = static_cast<double>(kWarps) * row_bytes;
  work.fma_flops = static_cast<double>(kWarps) * flops_per_row_and_token(shape);
  work.cycles =
      static_cast<double>(kWarps) * row_bytes / row_bytes_per_load_instruction / kSchedulers;
  // Steps are short against a chunk: no rounding to whole steps.
  const double steps_per_row = 1.0 / static_cast<double>(kWarps * counts.nsplit);
  time.serial_us = makespan_us(
      counts.blocks, counts.resident_blocks,
      static_cast<double>(rows.sum) / static_cast<double>(rows.requests) * steps_per_row,
      static_cast<double>(rows.longest) * steps_per_row, serial_tile_time(work, hardware),
      hardware);
  time.floor_us = 2 * hardware.graph_node_gap_us + kDependentLoadsOnce * hardware.dram_latency_us +
                  serial_combine_us(counts.nsplit, hardware);
  return finish_attention_time(time, hardware);
}

}  // namespace shiftpoint
