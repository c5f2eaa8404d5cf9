#include <numeric>

#include "kernels/gpu_tests/gpu_test.h"
#include "kernels/relocate_kv.h"

namespace shiftpoint {
namespace {

constexpr std::int64_t kSlots = 1000;
constexpr std::size_t kRowWords = 1152 / 4;

std::vector<std::uint32_t> numbered_pool() {
  std::vector<std::uint32_t> pool(kSlots * kRowWords);
  for (std::size_t i = 0; i < pool.size(); ++i) {
    pool[i] = static_cast<std::uint32_t>(i / kRowWords * 1000 + i % kRowWords);
  }
  return pool;
}

// Pool rows after the moves, computed by definition: all sources are read before any write.
std::vector<std::uint32_t> moved(const std::vector<std::uint32_t>& pool,
                                 const std::vector<std::int64_t>& from,
                                 const std::vector<std::int64_t>& to) {
  std::vector<std::uint32_t> result = pool;
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::copy_n(pool.begin() + from[i] * static_cast<std::int64_t>(kRowWords), kRowWords,
                result.begin() + to[i] * static_cast<std::int64_t>(kRowWords));
  }
  return result;
}

void check_moves(const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to,
                 bool disjoint) {
  const auto pool = numbered_pool();
  DeviceBuffer device_pool = DeviceBuffer::of(pool);
  DeviceBuffer device_from = DeviceBuffer::of(from), device_to = DeviceBuffer::of(to);
  std::vector<std::int32_t> list(kSlots + 2);
  std::iota(list.begin(), list.end(), 0);
  list[kSlots] = 2147480000;  // an unused entry
  list[kSlots + 1] = -1;      // padding
  DeviceBuffer device_list = DeviceBuffer::of(list);
  RelocateKvParams params;
  params.moves = static_cast<std::int64_t>(from.size());
  params.pool = device_pool.data();
  params.slots = kSlots;
  params.from = device_from.as<std::int64_t>();
  params.to = device_to.as<std::int64_t>();
  params.list = device_list.data();
  params.list_length = static_cast<std::int64_t>(list.size());
  params.index_type = IndexType::kInt32;
  params.disjoint = disjoint;
  params.workspace_bytes = relocate_workspace_bytes(params);
  DeviceBuffer workspace(params.workspace_bytes);
  workspace.poison();
  params.workspace = workspace.data();
  relocate_kv(params);
  SHIFTPOINT_CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(device_pool.download<std::uint32_t>(pool.size()) == moved(pool, from, to));
  for (std::size_t i = 0; i < from.size(); ++i) {
    list[static_cast<std::size_t>(from[i])] = static_cast<std::int32_t>(to[i]);
  }
  CHECK(device_list.download<std::int32_t>(list.size()) == list);
}

}  // namespace

TEST_CASE("rows move and lists follow, for disjoint, chained and cyclic moves") {
  SHIFTPOINT_NEEDS_GPU();
  check_moves({10, 20, 30}, {500, 501, 502}, true);
  check_moves({10, 20, 30}, {500, 501, 502}, false);
  check_moves({5, 6, 7}, {6, 7, 8}, false);  // a chain
  check_moves({1, 2, 3}, {2, 3, 1}, false);  // a cycle
  std::vector<std::int64_t> from(kSlots), to(kSlots);
  std::iota(from.begin(), from.end(), 0);
  for (std::int64_t i = 0; i < kSlots; ++i) {
    to[static_cast<std::size_t>(i)] = (i * 37 + 11) % kSlots;  // a permutation: 37 and 1000 coprime
  }
  check_moves(from, to, false);
}

TEST_CASE("relocation refuses rows that it cannot move") {
  SHIFTPOINT_NEEDS_GPU();
  RelocateKvParams params;
  params.row_bytes = 1150;
  CHECK_THROWS_AS(relocate_kv(params), KernelError);
  params.row_bytes = 1152;
  params.stride_slot_bytes = 1136;
  CHECK_THROWS_AS(relocate_kv(params), KernelError);
}

}  // namespace shiftpoint
