#include "kernels/bench/cases.h"

#include <numeric>

namespace shiftpoint {
namespace {

CorrectnessCase make(const char* name, std::vector<std::int64_t> prefixes,
                     std::vector<int> nsplits) {
  CorrectnessCase result;
  result.spec.name = name;
  result.spec.prefix_tokens = std::move(prefixes);
  result.nsplits = std::move(nsplits);
  return result;
}

void add_lengths(std::vector<CorrectnessCase>& cases) {
  std::vector<std::int64_t> all(64);
  std::iota(all.begin(), all.end(), 1);  // around every tile edge
  cases.push_back(make("lengths 1 to 64", all, {1, 3, 16}));
  cases.push_back(make("empty, short, padded", {0, 1, -1, 15, 16, 17, 0, -1}, {1, 4, 66}));
  cases.push_back(make("lone padding", {-1}, {1, 132}));
  cases.push_back(make("zero among long", {700, 0, 531, -1, 1000}, {1, 5, 33}));
  cases.push_back(make("edges of splits", {2032, 2039, 2040, 2047, 2048, 2055}, {4, 16, 128}));
  cases.push_back(make("more splits than tokens", {3, 40}, {256}));
}

void add_masks(std::vector<CorrectnessCase>& cases) {
  const struct {
    const char* name;
    MaskKind kind;
  } kinds[] = {{"mask chain", MaskKind::kChain},
               {"mask full", MaskKind::kFull},
               {"mask identity", MaskKind::kIdentity},
               {"mask random", MaskKind::kRandom},
               {"mask empty", MaskKind::kNone}};
  for (const auto& [name, kind] : kinds) {
    CorrectnessCase mask = make(name, {0, 7, 333}, {1, 2, 8});
    mask.spec.mask = kind;
    mask.spec.seed = 11;
    cases.push_back(mask);
  }
  // Draft tokens spread over several tiles of every variant.
  CorrectnessCase wide = make("32 draft tokens", {0, 5, 250}, {1, 4, 64});
  wide.spec.q_tokens = 32;
  wide.spec.mask = MaskKind::kRandom;
  cases.push_back(wide);
}

void add_values(std::vector<CorrectnessCase>& cases) {
  for (const float scale : {40.0F, 4000.0F}) {  // logits in the hundreds and beyond 10^4
    CorrectnessCase large = make("large logits", {0, 100, 1000}, {1, 7, 64});
    large.spec.q_scale = scale;
    cases.push_back(large);
  }
  CorrectnessCase flat = make("zero queries", {1000}, {1, 16});
  flat.spec.q_scale = 0;  // the mean of the visible rows
  cases.push_back(flat);
}

void add_shapes(std::vector<CorrectnessCase>& cases) {
  for (const auto& [tokens, heads] : {std::pair{1, 8}, {4, 8}, {9, 1}, {9, 64}, {5, 16}}) {
    CorrectnessCase shape = make("other shapes", {77, 0, 402}, {1, 6});
    shape.spec.q_tokens = tokens;
    shape.spec.heads = heads;
    cases.push_back(shape);
  }
  CorrectnessCase narrow = make("int32 lists, stride 640", {90, 1200}, {1, 12});
  narrow.spec.index_type = IndexType::kInt32;
  narrow.spec.stride_pool_slot = 640;
  cases.push_back(narrow);
  CorrectnessCase interleaved = make("stride of interleaved layers", {130}, {4});
  interleaved.spec.stride_pool_slot = std::int64_t{kRowDims} * 5;
  cases.push_back(interleaved);
  CorrectnessCase skewed = make("unequal lengths", {4641, 45118, 1730, 1696}, {33});
  skewed.max_tokens = 4;
  cases.push_back(skewed);
}

}  // namespace

std::vector<CorrectnessCase> correctness_cases() {
  std::vector<CorrectnessCase> cases;
  add_lengths(cases);
  add_masks(cases);
  add_values(cases);
  add_shapes(cases);
  return cases;
}

}  // namespace shiftpoint
