#include "kernels/bench/profile_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ostream>

#include "kernels/bench/gpu_state.h"
#include "shiftpoint_revision.h"

namespace shiftpoint {
namespace {

// Unequal contexts are joined by '+'; the mean stands in the context column.
std::int64_t mean_context(const BenchPoint& point) {
  return std::accumulate(point.contexts.begin(), point.contexts.end(), std::int64_t{0}) /
         static_cast<std::int64_t>(point.contexts.size());
}

std::string context_list(const BenchPoint& point) {
  const bool equal = std::all_of(point.contexts.begin(), point.contexts.end(),
                                 [&](std::int64_t c) { return c == point.contexts.front(); });
  if (equal) {
    return std::to_string(point.contexts.front());
  }
  return fmt::format("{}", fmt::join(point.contexts, "+"));
}

}  // namespace

void write_profile_header(std::ostream& out) {
  out << "variant,rows,heads,q_tokens,batch,context_tokens,contexts,layout,nsplit,median_us,p10_us,"
         "p90_us,samples,sets,kv_bytes,flops,sm_clock_mhz,memory_clock_mhz,throttle_reasons\n";
}

void write_profile_row(std::ostream& out, const BenchRow& row) {
  const BenchPoint& point = row.point;
  out << fmt::format(
      "{},{},{},{},{},{},{},{},{},{:.3f},{:.3f},{:.3f},{},{},{:.0f},{:.0f},{},{},0x{:x}\n",
      point.variant, point.q_tokens * point.heads, point.heads, point.q_tokens,
      point.contexts.size(), mean_context(point), context_list(point), point.layout, row.nsplit,
      row.time.median_us, row.time.p10_us, row.time.p90_us, row.time.samples, row.sets,
      row.kv_bytes, row.flops, row.sm_clock_mhz, row.memory_clock_mhz, row.throttle_reasons);
}

std::string profile_manifest(const Ceilings& ceilings, const std::string& command_line) {
  const GpuIdentity gpu = read_gpu_identity();
  nlohmann::ordered_json manifest;
  manifest["gpu"] = gpu.name;
  manifest["driver"] = gpu.driver;
  manifest["cuda_runtime"] = gpu.cuda_runtime;
  manifest["cuda_driver"] = gpu.cuda_driver;
  manifest["revision"] = SHIFTPOINT_REVISION;
  manifest["dirty"] = SHIFTPOINT_DIRTY;
  manifest["compiler"] = SHIFTPOINT_CUDA_COMPILER;
  manifest["flags"] = SHIFTPOINT_CUDA_FLAGS;
  manifest["command_line"] = command_line;
  manifest["ceilings"] = {{"read_gbps", ceilings.read_gbps},
                          {"copy_gbps", ceilings.copy_gbps},
                          {"mma_sync_tflops", ceilings.mma_tflops},
                          {"empty_kernel_us", ceilings.empty_kernel_us}};
  manifest["method"] =
      "CUDA events around replays of a graph that holds one call a disjoint KV set, sets together "
      "at least 512 MB or 440 calls; two warm-up replays; median, p10, p90 of the replays divided "
      "by the number of sets; split and combine kernels together; tree mask, page size 1, int64 "
      "lists; kv_bytes = contexts x 1152; flops = 2 rows contexts (576 + 512); clocks and throttle "
      "reasons read once during a replay";
  return manifest.dump(2) + "\n";
}

std::string describe_row(const BenchRow& row, const Ceilings& ceilings) {
  const double gbps = row.kv_bytes / row.time.median_us / 1e3;
  const double tflops = row.flops / row.time.median_us / 1e6;
  const auto share = [](double value, double ceiling) {
    return ceiling > 0 ? 100 * value / ceiling : 0.0;
  };
  return fmt::format(
      "{:<14} b{:<3} {:>7} h{:<2} {:<10} nsplit {:>3} {:>10.2f} us [{:.2f}-{:.2f}] {:>7.0f} GB/s "
      "{:>4.1f}% {:>6.1f} TF {:>4.1f}% {} MHz 0x{:x}",
      row.point.variant, row.point.contexts.size(), context_list(row.point), row.point.heads,
      row.point.layout, row.nsplit, row.time.median_us, row.time.p10_us, row.time.p90_us, gbps,
      share(gbps, ceilings.read_gbps), tflops, share(tflops, ceilings.mma_tflops), row.sm_clock_mhz,
      row.throttle_reasons);
}

}  // namespace shiftpoint
