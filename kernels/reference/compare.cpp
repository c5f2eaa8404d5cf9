#include "kernels/reference/compare.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "kernels/reference/bfloat16.h"

namespace shiftpoint {
namespace {

struct Sums {
  double error = 0, reference = 0;
};

std::string place(int request, int token, int head) {
  return "request " + std::to_string(request) + ", query token " + std::to_string(token) +
         ", head " + std::to_string(head);
}

void note(CompareResult& result, const std::string& text) {
  if (result.detail.empty()) {
    result.detail = text;
  }
}

void compare_row(const ReferenceRow& expected, const std::uint16_t* got, const std::string& where,
                 const CompareLimits& limits, Sums& sums, CompareResult& result) {
  double dot = 0, norm_got = 0, norm_expected = 0;
  for (std::size_t d = 0; d < kLatentDims; ++d) {
    const auto value = static_cast<double>(float_from_bf16(got[d]));
    if (!std::isfinite(value)) {
      note(result, where + ": dimension " + std::to_string(d) + " is not finite");
      return;
    }
    const double want = expected.out[d];
    sums.error += (value - want) * (value - want);
    dot += value * want;
    norm_got += value * value;
    norm_expected += want * want;
  }
  sums.reference += norm_expected;
  if (norm_expected == 0) {
    if (norm_got != 0) {
      note(result, where + ": a row that sees nothing must be zero");
    }
    return;
  }
  const double distance = 1 - dot / std::sqrt(norm_got * norm_expected);
  result.worst_cosine_distance = std::max(result.worst_cosine_distance, distance);
  if (!(distance <= limits.row_cosine_distance)) {
    note(result, where + ": cosine distance " + std::to_string(distance));
  }
}

void compare_lse(const ReferenceRow& row, double got, const std::string& where,
                 const CompareLimits& limits, CompareResult& result) {
  const double expected = row.lse;
  if (std::isinf(expected) || std::isinf(got)) {
    if (expected != got) {
      note(result,
           where + ": LSE " + std::to_string(got) + ", expected " + std::to_string(expected));
    }
    return;
  }
  const double error = std::abs(got - expected);
  result.worst_lse_error = std::max(result.worst_lse_error, error);
  if (!(error <= limits.lse_absolute + limits.lse_per_magnitude * row.score_magnitude)) {
    note(result, where + ": LSE " + std::to_string(got) + ", expected " + std::to_string(expected));
  }
}

}  // namespace

ReferenceTokens compute_reference(const VerifyAttentionParams& host, int max_tokens) {
  ReferenceTokens reference;
  reference.q_tokens = host.q_tokens;
  const int all = host.batch * host.q_tokens;
  const int count = std::min(all, max_tokens);
  for (int i = 0; i < count; ++i) {
    const auto token = static_cast<int>(static_cast<std::int64_t>(i) * all / count);
    reference.tokens.push_back({token / host.q_tokens, token % host.q_tokens, {}});
  }
  std::atomic<int> next = 0;
  const auto work = [&] {
    for (int i = next++; i < count; i = next++) {
      auto& token = reference.tokens[static_cast<std::size_t>(i)];
      token.heads = reference_token(host, token.request, token.q_token);
    }
  };
  std::vector<std::thread> workers;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) {
    workers.emplace_back(work);
  }
  work();
  for (std::thread& worker : workers) {
    worker.join();
  }
  return reference;
}

CompareResult compare_with_reference(const ReferenceTokens& reference,
                                     const std::vector<std::uint16_t>& out,
                                     const std::vector<float>& lse, const CompareLimits& limits) {
  CompareResult result;
  Sums sums;
  for (const auto& token : reference.tokens) {
    const std::size_t heads = token.heads.size();
    for (std::size_t head = 0; head < heads; ++head) {
      const std::size_t index =
          static_cast<std::size_t>(token.request * reference.q_tokens + token.q_token) * heads +
          head;
      const std::string where = place(token.request, token.q_token, static_cast<int>(head));
      const ReferenceRow& expected = token.heads[head];
      compare_row(expected, out.data() + index * kLatentDims, where, limits, sums, result);
      if (!lse.empty()) {
        compare_lse(expected, static_cast<double>(lse[index]), where, limits, result);
      }
      ++result.rows;
    }
  }
  result.relative_l2 = sums.reference > 0 ? std::sqrt(sums.error / sums.reference) : 0;
  if (!(result.relative_l2 <= limits.relative_l2)) {
    note(result, "relative L2 error " + std::to_string(result.relative_l2));
  }
  result.ok = result.detail.empty();
  return result;
}

}  // namespace shiftpoint
