#include "kernels/bench/workload.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "kernels/bench/device_fill.h"
#include "kernels/bench/gpu_state.h"
#include "kernels/reference/verify_case.h"

namespace shiftpoint {
namespace {

// Rotating sets cover at least this many bytes: eight times the 60 MB L2 of an H200, four times the
// 128 MB of an RTX PRO 6000.
constexpr double kColdBytes = 512e6;
constexpr int kMaxSets = 440;

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

std::vector<std::int64_t> random_order(std::int64_t slots) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(slots));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[mix(i * 0x9e3779b97f4a7c15ULL) % i]);
  }
  return order;
}

// Everything one set of a point needs, and the buffers behind it.
class Sets {
 public:
  Sets(const BenchPool& pool, const BenchPoint& point)
      : batch_(static_cast<int>(point.contexts.size())),
        context_tokens_(
            std::accumulate(point.contexts.begin(), point.contexts.end(), std::int64_t{0})),
        slots_per_set_(context_tokens_ + std::int64_t{batch_} * point.q_tokens) {
    const double set_bytes = static_cast<double>(context_tokens_) * kRowDims * 2;
    const auto wanted = static_cast<std::int64_t>(kColdBytes / set_bytes) + 1;
    count_ =
        static_cast<int>(std::min<std::int64_t>({wanted, kMaxSets, pool.slots() / slots_per_set_}));
    if (count_ < 1) {
      throw KernelError("the pool has " + std::to_string(pool.slots()) +
                        " slots; the point needs " + std::to_string(slots_per_set_));
    }
    fill_lists(point);
    fill_params(pool, point);
  }

  int count() const { return count_; }
  std::int64_t context_tokens() const { return context_tokens_; }
  int nsplit() const { return base_.nsplit; }
  void enqueue(const std::string& variant, cudaStream_t stream) const {
    for (int set = 0; set < count_; ++set) {
      VerifyAttentionParams params = base_;
      const std::int64_t first = set * slots_per_set_;
      params.kv_indices = order_ + first;
      params.out_cache_loc = order_ + first + context_tokens_;
      params.q = q_.as<std::uint16_t>() + set * q_elements_;
      params.out = out_.as<std::uint16_t>() + set * q_elements_ / kRowDims * kLatentDims;
      params.stream = stream;
      launch(variant, params);
    }
  }

 private:
  void fill_lists(const BenchPoint& point) {
    VerifyCase lists;
    lists.spec.prefix_tokens = {*std::max_element(point.contexts.begin(), point.contexts.end())};
    lists.spec.q_tokens = point.q_tokens;
    lists.spec.order = SlotOrder::kContiguous;
    std::vector<std::int32_t> indptr(1, 0);
    std::vector<std::int64_t> mask_indptr;
    std::vector<std::uint8_t> mask;
    for (const std::int64_t context : point.contexts) {
      indptr.push_back(indptr.back() + static_cast<std::int32_t>(context));
      // Equal contexts share a mask: only its last columns are ever read.
      if (mask_indptr.empty() || context != lists.spec.prefix_tokens.front() || mask.empty()) {
        lists.spec.prefix_tokens = {context};
        shiftpoint::fill_lists(lists, 0, context + point.q_tokens);
        mask_indptr.push_back(static_cast<std::int64_t>(mask.size()));
        mask.insert(mask.end(), lists.custom_mask.begin(), lists.custom_mask.end());
      } else {
        mask_indptr.push_back(mask_indptr.back());
      }
    }
    indptr_ = DeviceBuffer::of(indptr);
    mask_indptr_ = DeviceBuffer::of(mask_indptr);
    mask_ = DeviceBuffer::of(mask);
  }

  void fill_params(const BenchPool& pool, const BenchPoint& point) {
    base_.batch = batch_;
    base_.q_tokens = point.q_tokens;
    base_.heads = point.heads;
    base_.softmax_scale = 0.072168784F;  // 1 / sqrt(192)
    base_.max_context_tokens = *std::max_element(point.contexts.begin(), point.contexts.end());
    q_elements_ = std::int64_t{batch_} * point.q_tokens * point.heads * kRowDims;
    q_ = DeviceBuffer(static_cast<std::size_t>(q_elements_ * count_ * 2));
    fill_normal_bf16(q_.data(), q_elements_ * count_, 77);
    out_ =
        DeviceBuffer(static_cast<std::size_t>(q_elements_ / kRowDims * kLatentDims * count_ * 2));
    base_.pool = pool.pool();
    base_.kv_indptr = indptr_.as<std::int32_t>();
    base_.custom_mask = mask_.as<std::uint8_t>();
    base_.mask_indptr = mask_indptr_.as<std::int64_t>();
    order_ = pool.order(point.layout);
    base_.nsplit = point.nsplit > 0
                       ? point.nsplit
                       : suggested_nsplit(point.variant, base_, current_device_limits());
    base_.workspace_bytes = workspace_bytes(point.variant, base_);
    workspace_ = DeviceBuffer(base_.workspace_bytes);
    base_.workspace = workspace_.data();
  }

  int batch_;
  std::int64_t context_tokens_, slots_per_set_, q_elements_ = 0;
  int count_ = 0;
  const std::int64_t* order_ = nullptr;
  VerifyAttentionParams base_;
  DeviceBuffer indptr_, mask_, mask_indptr_, q_, out_, workspace_;
};

}  // namespace

BenchPool::BenchPool(std::int64_t slots)
    : slots_(slots), pool_(static_cast<std::size_t>(slots) * kRowDims * 2) {
  fill_normal_bf16(pool_.data(), slots * kRowDims, 1);
  std::vector<std::int64_t> identity(static_cast<std::size_t>(slots));
  std::iota(identity.begin(), identity.end(), 0);
  add_layout("contiguous", identity);
  add_layout("random", random_order(slots));
}

void BenchPool::add_layout(const std::string& name, const std::vector<std::int64_t>& order) {
  orders_.emplace_back(name, DeviceBuffer::of(order));
}

const std::int64_t* BenchPool::order(const std::string& name) const {
  for (const auto& [known, buffer] : orders_) {
    if (known == name) {
      return buffer.as<std::int64_t>();
    }
  }
  throw KernelError("slot order '" + name + "' is unknown");
}

BenchRow time_point(const BenchPool& pool, const BenchPoint& point, double budget_ms) {
  prepare(point.variant);
  const Sets sets(pool, point);
  GraphTimer timer([&](cudaStream_t stream) { sets.enqueue(point.variant, stream); });
  BenchRow row;
  row.point = point;
  row.nsplit = sets.nsplit();
  row.sets = sets.count();
  row.time = timer.measure(2, 5, 100, budget_ms);
  timer.launch();  // the clocks of a busy card
  const GpuState state = read_gpu_state();
  SHIFTPOINT_CUDA_CHECK(cudaStreamSynchronize(timer.stream()));
  row.sm_clock_mhz = state.sm_clock_mhz;
  row.memory_clock_mhz = state.memory_clock_mhz;
  row.throttle_reasons = state.throttle_reasons;
  for (double* us : {&row.time.median_us, &row.time.p10_us, &row.time.p90_us}) {
    *us /= sets.count();
  }
  const auto tokens = static_cast<double>(sets.context_tokens());
  const double rows = static_cast<double>(point.q_tokens) * point.heads;
  row.kv_bytes = tokens * kRowDims * 2;
  row.flops = 2 * rows * tokens * (kRowDims + kLatentDims);
  return row;
}

}  // namespace shiftpoint
