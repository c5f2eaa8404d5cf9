// What routing makes of one layer's tokens: the one structure that moe/ fills and cost/ prices.
#pragma once

#include <cstdint>
#include <vector>

namespace shiftpoint {

struct LayerLoad {
  std::int64_t tokens = 0;
  std::int64_t pairs = 0;              // token-expert pairs: tokens * experts_per_token
  std::int64_t activated_experts = 0;  // distinct experts that the tokens select
  // By rank. Under tp-sliced placement every rank lists all activated experts and all pairs, and
  // reads 1/ranks of each expert; under whole-expert placement a rank lists those that it holds.
  std::vector<std::int32_t> rank_activated_experts;
  std::vector<std::int64_t> rank_pairs;
};

}  // namespace shiftpoint
