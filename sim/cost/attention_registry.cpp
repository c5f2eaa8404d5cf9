#include "sim/core/error.h"
#include "sim/cost/attention_model.h"
#include "sim/cost/attention_time.h"

namespace shiftpoint {

const std::vector<AttentionVariant>& attention_variants() {
  static const std::vector<AttentionVariant> variants = {
      {"extend-serial", "one block a (request, head), no split, K then V", extend_serial_time},
      {"flatten-split", "(request, query) rows, heads packed to 16, split", flatten_split_time},
      {"split-scalar", "one row a block, split, element loads", split_scalar_time},
      {"split-vector", "one row a block, split, 128-bit loads", split_vector_time},
      {"packed", "all rows of a rank against each KV tile, KV read once", packed_time},
  };
  return variants;
}

const AttentionVariant& find_attention_variant(std::string_view name) {
  for (const AttentionVariant& variant : attention_variants()) {
    if (name == variant.name) return variant;
  }
  throw_bad_input({}, "cost.attention", std::string(name), attention_variant_names());
}

std::string attention_variant_names() {
  return joined_names(attention_variants());
}

}  // namespace shiftpoint
