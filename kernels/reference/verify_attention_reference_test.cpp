#include "kernels/reference/verify_attention_reference.h"

#include <cmath>
#include <limits>

#include "kernels/reference/bfloat16.h"
#include "kernels/reference/compare.h"
#include "kernels/reference/verify_case.h"
#include "sim/test_support/catch.h"

namespace shiftpoint {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// A case whose rows are all zero except the elements that a test sets.
struct HandCase {
  VerifyCase inputs;
  explicit HandCase(VerifyCaseSpec spec) {
    spec.order = SlotOrder::kContiguous;
    inputs = build_verify_case(spec);
    for (auto& bits : inputs.q) {
      bits = 0;
    }
    for (std::int64_t slot = 0; slot < inputs.slots - spec.spare_slots; ++slot) {
      for (int d = 0; d < kRowDims; ++d) {
        set_pool(slot, d, 0.0F);
      }
    }
  }
  void set_pool(std::int64_t slot, int dim, float value) {
    inputs.pool[static_cast<std::size_t>(slot * inputs.spec.stride_pool_slot + dim)] =
        bf16_from_float(value);
  }
  void set_q(int row, int dim, float value) {
    inputs.q[static_cast<std::size_t>(row * kRowDims + dim)] = bf16_from_float(value);
  }
  VerifyAttentionParams params(float scale) const {
    VerifyAttentionParams result = inputs.host_params();
    result.softmax_scale = scale;
    return result;
  }
};

VerifyCaseSpec one_request(std::int64_t prefix, int q_tokens, int heads, MaskKind mask) {
  VerifyCaseSpec spec;
  spec.prefix_tokens = {prefix};
  spec.q_tokens = q_tokens;
  spec.heads = heads;
  spec.mask = mask;
  return spec;
}

}  // namespace

TEST_CASE("bf16 rounds to nearest even") {
  // 1 + 2^-8 lies half-way between 1 (even) and 1 + 2^-7; 1 + 3 x 2^-8 between 1 + 2^-7 and the
  // even 1 + 2^-6.
  CHECK(float_from_bf16(bf16_from_float(1.00390625F)) == 1.0F);
  CHECK(float_from_bf16(bf16_from_float(1.01171875F)) == 1.015625F);
  CHECK(std::isnan(float_from_bf16(bf16_from_float(std::nanf("")))));
}

TEST_CASE("zero queries average the visible values") {
  // Slots 0..2 prefix, 3..4 draft. Value dimension 0 of slot s is s + 1.
  HandCase hand(one_request(3, 2, 1, MaskKind::kChain));
  for (int slot = 0; slot < 5; ++slot) {
    hand.set_pool(slot, 0, static_cast<float>(slot + 1));
  }
  const auto params = hand.params(1.0F);
  // Token 0 sees slots 0..3: (1+2+3+4)/4; token 1 all five: 15/5. LSE = log(count).
  CHECK(reference_row(params, 0, 0, 0).out[0] == Approx(2.5));
  CHECK(reference_row(params, 0, 0, 0).lse == Approx(std::log(4.0)));
  CHECK(reference_row(params, 0, 1, 0).out[0] == Approx(3.0));
  CHECK(reference_row(params, 0, 1, 0).lse == Approx(std::log(5.0)));
}

TEST_CASE("two scores give a logistic weight, and rope counts in the score only") {
  // One prefix slot and one draft slot. q . k is 2 x 3 = 6 on rope dimension 575 for the prefix and
  // 0 for the draft; scale 0.5 gives scores 3 and 0, so the prefix weighs e^3 / (e^3 + 1).
  HandCase hand(one_request(1, 1, 1, MaskKind::kFull));
  hand.set_q(0, 575, 2.0F);
  hand.set_pool(0, 575, 3.0F);
  hand.set_pool(0, 511, 1.0F);
  const ReferenceRow row = reference_row(hand.params(0.5F), 0, 0, 0);
  CHECK(row.out[511] == Approx(std::exp(3.0) / (std::exp(3.0) + 1)));
  CHECK(row.out[0] == 0.0);
  CHECK(row.lse == Approx(std::log(std::exp(3.0) + 1)));
}

TEST_CASE("a row that sees nothing is zero with LSE -inf, and padding is never read") {
  VerifyCaseSpec spec = one_request(0, 2, 1, MaskKind::kNone);
  spec.prefix_tokens = {0, -1};
  const VerifyCase inputs = build_verify_case(spec);
  for (const int request : {0, 1}) {
    const ReferenceRow row = reference_row(inputs.host_params(), request, 1, 0);
    CHECK(row.lse == -kInf);
    for (const double value : row.out) {
      CHECK(value == 0.0);
    }
  }
}

TEST_CASE("the mask is not assumed triangular") {
  // Identity mask, no prefix: every token returns its own value whatever the scores.
  HandCase hand(one_request(0, 3, 1, MaskKind::kIdentity));
  for (int slot = 0; slot < 3; ++slot) {
    hand.set_pool(slot, 7, static_cast<float>(10 + slot));
    hand.set_q(slot, 3, 5.0F);
    CHECK(visible_slots(hand.params(1.0F), 0, slot) == std::vector<std::int64_t>{slot});
    CHECK(reference_row(hand.params(1.0F), 0, slot, 0).out[7] == 10 + slot);
  }
}

TEST_CASE("the tree mask shows a token its ancestors only") {
  // Parents -,0,0,0,1,1,2,4,4: token 8 descends from 4, 1 and 0.
  const VerifyCase inputs = build_verify_case(one_request(0, 9, 1, MaskKind::kTree));
  const auto params = inputs.host_params();
  const auto& draft = inputs.out_cache_loc;
  CHECK(visible_slots(params, 0, 8) ==
        std::vector<std::int64_t>{draft[0], draft[1], draft[4], draft[8]});
  CHECK(visible_slots(params, 0, 3) == std::vector<std::int64_t>{draft[0], draft[3]});
}

TEST_CASE("contexts longer than a block agree with the one-pass formula") {
  // 2,500 equal rows: the weights are equal, so the value is the row's own and LSE = s + log(n).
  HandCase hand(one_request(2500, 1, 1, MaskKind::kFull));
  hand.set_q(0, 0, 1.0F);
  for (int slot = 0; slot < 2501; ++slot) {
    hand.set_pool(slot, 0, -40.0F);
  }
  const ReferenceRow row = reference_row(hand.params(1.0F), 0, 0, 0);
  CHECK(row.out[0] == Approx(-40.0));
  CHECK(row.lse == Approx(-40.0 + std::log(2501.0)));
}

TEST_CASE("int32 and int64 lists and padded strides read the same rows") {
  VerifyCaseSpec spec = one_request(37, 9, 2, MaskKind::kRandom);
  const VerifyCase wide = build_verify_case(spec);
  spec.index_type = IndexType::kInt32;
  spec.stride_pool_slot = 640;
  const VerifyCase narrow = build_verify_case(spec);
  const ReferenceRow a = reference_row(wide.host_params(), 0, 4, 1);
  const ReferenceRow b = reference_row(narrow.host_params(), 0, 4, 1);
  CHECK(a.lse == b.lse);
  CHECK(a.out == b.out);
}

TEST_CASE("the comparison rejects what it must") {
  const VerifyCase inputs = build_verify_case(one_request(20, 2, 2, MaskKind::kTree));
  const auto params = inputs.host_params();
  std::vector<std::uint16_t> out;
  std::vector<float> lse;
  for (int token = 0; token < 2; ++token) {
    for (const ReferenceRow& row : reference_token(params, 0, token)) {
      for (const double value : row.out) {
        out.push_back(bf16_from_float(static_cast<float>(value)));
      }
      lse.push_back(static_cast<float>(row.lse));
    }
  }
  const ReferenceTokens reference = compute_reference(params, 99);
  CHECK(compare_with_reference(reference, out, lse).ok);
  CHECK(compute_reference(params, 1).tokens.size() == 1);
  auto broken = out;
  broken[5] = 0x7fff;  // NaN
  CHECK_FALSE(compare_with_reference(reference, broken, lse).ok);
  broken = out;
  std::swap_ranges(broken.begin(), broken.begin() + kLatentDims, broken.begin() + kLatentDims);
  CHECK_FALSE(compare_with_reference(reference, broken, lse).ok);
  auto wrong_lse = lse;
  wrong_lse[1] += 0.01F;
  CHECK_FALSE(compare_with_reference(reference, out, wrong_lse).ok);
}

}  // namespace shiftpoint
