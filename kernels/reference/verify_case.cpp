#include "kernels/reference/verify_case.h"

#include <algorithm>
#include <numeric>

#include "kernels/reference/bfloat16.h"

namespace shiftpoint {
namespace {

constexpr std::uint16_t kNan = 0x7fff;
constexpr std::int64_t kPoisonIndex = 2147480000;  // far outside every pool

std::uint64_t mix(std::uint64_t value) {  // splitmix64's output function
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

// Sum of four 16-bit uniforms, centred and scaled to variance 1: normal enough, and exact on every
// machine. Var = 4 (2^32 - 1) / 12, so the divisor is 65536 / sqrt(3).
float normal_from(std::uint64_t seed, std::uint64_t counter) {
  const std::uint64_t bits = mix(seed * 0x9e3779b97f4a7c15ULL + counter);
  std::int64_t sum = -2 * std::int64_t{65535};
  for (int part = 0; part < 4; ++part) {
    sum += static_cast<std::int64_t>((bits >> (16 * part)) & 0xffffU);
  }
  return static_cast<float>(static_cast<double>(sum) / 37837.227);
}

bool visible(MaskKind kind, const std::vector<int>& parents, std::uint64_t seed, int row, int col) {
  switch (kind) {
    case MaskKind::kFull:
      return true;
    case MaskKind::kNone:
      return false;
    case MaskKind::kIdentity:
      return row == col;
    case MaskKind::kChain:
      return col <= row;
    case MaskKind::kRandom:  // not triangular on purpose
      return (mix(seed ^ static_cast<std::uint64_t>(row * 64 + col)) & 1U) != 0;
    case MaskKind::kTree:
      break;
  }
  for (int node = row; node >= 0; node = parents[static_cast<std::size_t>(node)]) {
    if (node == col) {
      return true;
    }
  }
  return false;
}

void fill_mask(VerifyCase& target) {
  const VerifyCaseSpec& spec = target.spec;
  const std::vector<int> parents = draft_parents(spec.q_tokens);
  target.custom_mask.clear();
  target.mask_indptr.clear();
  for (std::size_t b = 0; b < spec.prefix_tokens.size(); ++b) {
    target.mask_indptr.push_back(static_cast<std::int64_t>(target.custom_mask.size()));
    const std::int64_t prefix = std::max<std::int64_t>(0, spec.prefix_tokens[b]);
    for (int row = 0; row < spec.q_tokens; ++row) {
      // Prefix columns are visible by contract; zeros prove that nobody reads them.
      target.custom_mask.insert(target.custom_mask.end(), static_cast<std::size_t>(prefix), 0);
      for (int col = 0; col < spec.q_tokens; ++col) {
        target.custom_mask.push_back(visible(spec.mask, parents, spec.seed + b, row, col) ? 1 : 0);
      }
    }
  }
}

std::int64_t live_tokens(const VerifyCaseSpec& spec) {
  std::int64_t total = 0;
  for (const std::int64_t prefix : spec.prefix_tokens) {
    total += prefix < 0 ? 0 : prefix + spec.q_tokens;
  }
  return total;
}

}  // namespace

std::vector<int> draft_parents(int q_tokens) {
  if (q_tokens == 9) {
    return {-1, 0, 0, 0, 1, 1, 2, 4, 4};
  }
  std::vector<int> parents(static_cast<std::size_t>(q_tokens));
  for (int i = 0; i < q_tokens; ++i) {
    parents[static_cast<std::size_t>(i)] = i == 0 ? -1 : (i - 1) / 2;
  }
  return parents;
}

void fill_lists(VerifyCase& target, std::int64_t first_slot, std::int64_t slots) {
  const VerifyCaseSpec& spec = target.spec;
  std::vector<std::int64_t> order(static_cast<std::size_t>(slots));
  std::iota(order.begin(), order.end(), first_slot);
  if (spec.order == SlotOrder::kRandom) {
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[mix(spec.seed * 31 + i) % i]);
    }
  }
  std::size_t next = 0;
  target.kv_indptr.assign(1, 0);
  target.kv_indices.clear();
  target.out_cache_loc.clear();
  for (const std::int64_t prefix : spec.prefix_tokens) {
    for (std::int64_t i = 0; i < prefix; ++i) {
      target.kv_indices.push_back(order[next++]);
    }
    target.kv_indptr.push_back(static_cast<std::int32_t>(target.kv_indices.size()));
    for (int j = 0; j < spec.q_tokens; ++j) {
      target.out_cache_loc.push_back(prefix < 0 ? -1 : order[next++]);
    }
  }
  target.kv_indices.insert(target.kv_indices.end(), 64, kPoisonIndex);
  if (spec.index_type == IndexType::kInt32) {
    target.kv_indices32.assign(target.kv_indices.begin(), target.kv_indices.end());
    target.out_cache_loc32.assign(target.out_cache_loc.begin(), target.out_cache_loc.end());
  }
  fill_mask(target);
}

VerifyCase build_verify_case(const VerifyCaseSpec& spec) {
  VerifyCase result;
  result.spec = spec;
  result.slots = live_tokens(spec) + spec.spare_slots;
  fill_lists(result, 0, result.slots);
  result.pool.assign(static_cast<std::size_t>(result.slots * spec.stride_pool_slot), kNan);
  const auto fill_row = [&](std::int64_t slot) {
    for (std::int64_t d = 0; d < kRowDims; ++d) {
      result.pool[static_cast<std::size_t>(slot * spec.stride_pool_slot + d)] =
          bf16_from_float(normal_from(spec.seed, static_cast<std::uint64_t>(slot * kRowDims + d)));
    }
  };
  for (std::int32_t i = 0; i < result.kv_indptr.back(); ++i) {
    fill_row(result.kv_indices[static_cast<std::size_t>(i)]);
  }
  for (const std::int64_t slot : result.out_cache_loc) {
    if (slot >= 0) {
      fill_row(slot);
    }
  }
  const std::size_t q_elements = spec.prefix_tokens.size() *
                                 static_cast<std::size_t>(spec.q_tokens) *
                                 static_cast<std::size_t>(spec.heads) * kRowDims;
  for (std::size_t i = 0; i < q_elements; ++i) {
    result.q.push_back(bf16_from_float(spec.q_scale * normal_from(~spec.seed, i)));
  }
  return result;
}

VerifyAttentionParams VerifyCase::host_params() const {
  VerifyAttentionParams params;
  params.batch = static_cast<int>(spec.prefix_tokens.size());
  params.q_tokens = spec.q_tokens;
  params.heads = spec.heads;
  params.nsplit = spec.nsplit;
  params.softmax_scale = 0.072168784F;  // 1 / sqrt(192): head size 128 + 64 before absorption
  params.index_type = spec.index_type;
  params.q = q.data();
  params.pool = pool.data();
  params.kv_indptr = kv_indptr.data();
  const bool narrow = spec.index_type == IndexType::kInt32;
  params.kv_indices = narrow ? static_cast<const void*>(kv_indices32.data()) : kv_indices.data();
  params.out_cache_loc =
      narrow ? static_cast<const void*>(out_cache_loc32.data()) : out_cache_loc.data();
  params.custom_mask = custom_mask.data();
  params.mask_indptr = mask_indptr.data();
  params.stride_pool_slot = spec.stride_pool_slot;
  return with_default_strides(params);
}

}  // namespace shiftpoint
