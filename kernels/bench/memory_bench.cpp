#include "kernels/bench/memory_bench.h"

#include <fmt/format.h>

#include <numeric>
#include <ostream>

#include "kernels/bench/device_buffer.h"
#include "kernels/bench/device_fill.h"
#include "kernels/bench/gather.h"
#include "kernels/bench/timing.h"
#include "kernels/relocate_kv.h"

namespace shiftpoint {
namespace {

constexpr std::size_t kPoolBytes = std::size_t{4} << 30;
constexpr std::size_t kReadBytes = std::size_t{1} << 30;

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

void shuffle(std::vector<int>& values) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[mix(i * 0x9e3779b97f4a7c15ULL) % i]);
  }
}

std::vector<int> order_of(const std::string& name, int slots) {
  std::vector<int> order(static_cast<std::size_t>(slots));
  std::iota(order.begin(), order.end(), 0);
  if (name == "stride8") {
    for (int i = 0; i < slots; ++i) {
      order[static_cast<std::size_t>(i)] = i % (slots / 8) * 8 + i / (slots / 8);
    }
  } else if (name == "runs16") {
    std::vector<int> runs(static_cast<std::size_t>(slots / 16));
    std::iota(runs.begin(), runs.end(), 0);
    shuffle(runs);
    for (int i = 0; i < slots; ++i) {
      order[static_cast<std::size_t>(i)] = runs[static_cast<std::size_t>(i / 16)] * 16 + i % 16;
    }
  } else if (name == "random") {
    shuffle(order);
  }
  return order;
}

void gather_rows(std::ostream& out, int row_bytes, const DeviceBuffer& pool,
                 const std::string& name, const std::vector<int>& order) {
  const int blocks = current_device_limits().sm_count * 8;
  const int per_block = static_cast<int>(kReadBytes / static_cast<std::size_t>(row_bytes)) / blocks;
  const std::vector<int> used(order.begin(),
                              order.begin() + static_cast<std::ptrdiff_t>(per_block) * blocks);
  const DeviceBuffer list = DeviceBuffer::of(used);
  const DeviceBuffer sink(4);
  GraphTimer timer([&](cudaStream_t stream) {
    launch_gather(row_bytes, blocks, pool.data(), list.as<int>(), per_block,
                  sink.as<std::uint32_t>(), stream);
  });
  const TimeSummary time = timer.measure(2, 11, 11, 0);
  const double bytes = static_cast<double>(per_block) * blocks * row_bytes;
  out << fmt::format("{},{},{:.2f},{:.2f},{:.2f},{:.0f}\n", row_bytes, name, time.median_us,
                     time.p10_us, time.p90_us, bytes / time.median_us / 1e3);
}

}  // namespace

void gather_profile(std::ostream& out, const std::vector<NamedOrder>& extra) {
  DeviceBuffer pool(kPoolBytes);
  fill_random_words(pool.data(), static_cast<std::int64_t>(kPoolBytes / 4), 9);
  load_gather();
  out << "row_bytes,order,median_us,p10_us,p90_us,gbps\n";
  for (const int row_bytes : kGatherRowBytes) {
    // Slots of the pool; a multiple of 128, for strides and runs.
    const auto slots =
        static_cast<int>(kPoolBytes / static_cast<std::size_t>(row_bytes) / 128 * 128);
    for (const char* name : {"identity", "stride8", "runs16", "random"}) {
      gather_rows(out, row_bytes, pool, name, order_of(name, slots));
    }
    for (const NamedOrder& named : extra) {
      std::vector<int> order(static_cast<std::size_t>(slots));
      for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = static_cast<int>(named.slots[i % named.slots.size()] % slots);
      }
      gather_rows(out, row_bytes, pool, named.name, order);
    }
  }
}

std::string relocation_report(double copy_gbps) {
  constexpr std::int64_t kMoves = 100000;
  constexpr std::int64_t kSlots = 3 * kMoves;
  constexpr int kSets = 5;  // distinct pools, so that every call finds its rows cold
  DeviceBuffer pool(static_cast<std::size_t>(kSets * kSlots) * kRowDims * 2);
  fill_random_words(pool.data(), static_cast<std::int64_t>(pool.bytes() / 4), 6);
  const std::vector<int> shuffled = order_of("random", kSlots);
  const std::vector<std::int64_t> from(shuffled.begin(), shuffled.begin() + kMoves);
  const std::vector<std::int64_t> to(shuffled.begin() + kMoves, shuffled.begin() + 2 * kMoves);
  DeviceBuffer device_from = DeviceBuffer::of(from), device_to = DeviceBuffer::of(to);
  RelocateKvParams params;
  params.moves = kMoves;
  params.slots = kSlots;
  params.from = device_from.as<std::int64_t>();
  params.to = device_to.as<std::int64_t>();
  std::string report;
  for (const bool disjoint : {true, false}) {
    params.disjoint = disjoint;
    params.workspace_bytes = relocate_workspace_bytes(params);
    DeviceBuffer workspace(params.workspace_bytes);
    params.workspace = workspace.data();
    params.pool = pool.data();
    params.stream = nullptr;
    relocate_kv(params);  // loads the module
    GraphTimer timer([&](cudaStream_t stream) {
      params.stream = stream;
      for (int set = 0; set < kSets; ++set) {
        params.pool = pool.as<unsigned char>() + set * kSlots * kRowDims * 2;
        relocate_kv(params);
      }
    });
    const double us = timer.measure(2, 11, 11, 0).median_us / kSets;
    const double gbps = 2.0 * kMoves * kRowDims * 2 / us / 1e3;
    report += fmt::format("relocate 100,000 rows, {}: {:.1f} us, {:.0f} GB/s, {:.1f} % of copy\n",
                          disjoint ? "disjoint" : "overlapping allowed", us, gbps,
                          copy_gbps > 0 ? 100 * gbps / copy_gbps : 0.0);
  }
  return report;
}

}  // namespace shiftpoint
