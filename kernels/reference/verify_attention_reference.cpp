#include "kernels/reference/verify_attention_reference.h"

#include <Eigen/Core>
#include <cmath>
#include <limits>

#include "kernels/reference/bfloat16.h"

namespace shiftpoint {
namespace {

std::int64_t read_index(const void* list, IndexType type, std::int64_t position) {
  return type == IndexType::kInt32 ? static_cast<const std::int32_t*>(list)[position]
                                   : static_cast<const std::int64_t*>(list)[position];
}

Eigen::VectorXd row_as_double(const void* base, std::int64_t first_element) {
  const auto* bits = static_cast<const std::uint16_t*>(base) + first_element;
  Eigen::VectorXd row(kRowDims);
  for (int d = 0; d < kRowDims; ++d) {
    row[d] = static_cast<double>(float_from_bf16(bits[d]));
  }
  return row;
}

// Rows per gathered block: bounds the memory of a long context.
constexpr std::int64_t kBlockTokens = 1024;

// Online softmax over blocks: the state that merging two parts needs.
struct HeadState {
  Eigen::VectorXd query;
  double max = -std::numeric_limits<double>::infinity();
  double sum = 0;
  double magnitude = 0;
  Eigen::VectorXd weighted = Eigen::VectorXd::Zero(kLatentDims);
};

void accumulate(HeadState& state, const Eigen::MatrixXd& block, double scale) {
  const Eigen::VectorXd scores = scale * (block * state.query);
  const double new_max = std::max(state.max, scores.maxCoeff());
  const double keep = std::exp(state.max - new_max);  // exp(-inf) = 0 for the first block
  const Eigen::VectorXd weights = (scores.array() - new_max).exp();
  state.sum = state.sum * keep + weights.sum();
  state.weighted = state.weighted * keep + block.leftCols(kLatentDims).transpose() * weights;
  state.max = new_max;
  state.magnitude = std::max(
      state.magnitude, std::abs(scale) * (block.cwiseAbs() * state.query.cwiseAbs()).maxCoeff());
}

ReferenceRow finish(const HeadState& state) {
  ReferenceRow row;
  row.out.assign(kLatentDims, 0.0);
  row.lse = -std::numeric_limits<double>::infinity();
  row.score_magnitude = state.magnitude;
  if (state.sum > 0 || std::isnan(state.sum)) {
    for (int d = 0; d < kLatentDims; ++d) {
      row.out[static_cast<std::size_t>(d)] = state.weighted[d] / state.sum;
    }
    row.lse = state.max + std::log(state.sum);
  }
  return row;
}

std::vector<ReferenceRow> rows_of(const VerifyAttentionParams& raw, int request, int q_token,
                                  int first_head, int heads) {
  const VerifyAttentionParams host = with_default_strides(raw);
  const std::vector<std::int64_t> slots = visible_slots(host, request, q_token);
  std::vector<HeadState> states(static_cast<std::size_t>(heads));
  for (int h = 0; h < heads; ++h) {
    states[static_cast<std::size_t>(h)].query =
        row_as_double(host.q, request * host.stride_q_batch + q_token * host.stride_q_token +
                                  (first_head + h) * host.stride_q_head);
  }
  const auto count = static_cast<std::int64_t>(slots.size());
  for (std::int64_t begin = 0; begin < count; begin += kBlockTokens) {
    const std::int64_t rows = std::min(kBlockTokens, count - begin);
    Eigen::MatrixXd block(rows, kRowDims);
    for (std::int64_t i = 0; i < rows; ++i) {
      block.row(i) = row_as_double(
          host.pool, slots[static_cast<std::size_t>(begin + i)] * host.stride_pool_slot);
    }
    for (HeadState& state : states) {
      accumulate(state, block, static_cast<double>(host.softmax_scale));
    }
  }
  std::vector<ReferenceRow> rows;
  rows.reserve(states.size());
  for (const HeadState& state : states) {
    rows.push_back(finish(state));
  }
  return rows;
}

}  // namespace

std::vector<std::int64_t> visible_slots(const VerifyAttentionParams& host, int request,
                                        int q_token) {
  std::vector<std::int64_t> slots;
  const std::int64_t first_draft = static_cast<std::int64_t>(request) * host.q_tokens;
  if (read_index(host.out_cache_loc, host.index_type, first_draft) < 0) {
    return slots;
  }
  const std::int64_t begin = host.kv_indptr[request];
  const std::int64_t prefix = host.kv_indptr[request + 1] - begin;
  for (std::int64_t i = 0; i < prefix; ++i) {
    slots.push_back(read_index(host.kv_indices, host.index_type, begin + i));
  }
  const std::uint8_t* row =
      host.custom_mask + host.mask_indptr[request] + q_token * (prefix + host.q_tokens) + prefix;
  for (int j = 0; j < host.q_tokens; ++j) {
    if (row[j] != 0) {
      slots.push_back(read_index(host.out_cache_loc, host.index_type, first_draft + j));
    }
  }
  return slots;
}

std::vector<ReferenceRow> reference_token(const VerifyAttentionParams& host, int request,
                                          int q_token) {
  return rows_of(host, request, q_token, 0, host.heads);
}

ReferenceRow reference_row(const VerifyAttentionParams& host, int request, int q_token, int head) {
  return rows_of(host, request, q_token, head, 1).front();
}

}  // namespace shiftpoint
