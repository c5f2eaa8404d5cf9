// Times of the parts of one layer on one rank, from weights and tokens. Everything that is the same
// for every step is computed once, at construction.
#pragma once

#include <cstdint>

#include "sim/core/hardware.h"
#include "sim/core/model.h"

namespace shiftpoint {

// Share of moe_floor_us that a rank without activated experts still spends: it runs the router and
// sorts tokens by expert like every other rank, and skips the two grouped products.
// assumed: 3 of the about 10 kernels of an expert block (gate, top-k, alignment).
inline constexpr double kRoutingShareOfMoeFloor = 0.3;

class LayerCost {
 public:
  // `slice`: share of an expert's weights that a rank with it reads.
  LayerCost(const ModelConfig& model, const HardwareConfig& hardware, double slice);

  // Attention projections with the dense feed-forward or the shared experts.
  double dense_layer_us(std::int64_t tokens) const;
  double moe_layer_dense_us(std::int64_t tokens) const;
  double head_us(std::int64_t tokens) const;

  double experts_us(std::int64_t activated_experts, std::int64_t pairs) const;

  // One all-reduce of `tokens` rows of the residual stream; 0 with one rank.
  double collective_us(std::int64_t tokens) const;

  // One forward pass of the drafter over `tokens` positions, its collectives included.
  double draft_us(std::int64_t tokens) const;

  double weight_bytes_per_rank(bool with_drafter) const;

 private:
  struct Products {
    double params = 0;  // of one rank
    double count = 0;
  };
  double products_us(const Products& products, std::int64_t tokens) const;

  ModelConfig model_;
  HardwareConfig hardware_;
  double slice_;
  Products dense_layer_;
  Products moe_layer_;
  Products head_;
  double expert_params_;
};

}  // namespace shiftpoint
