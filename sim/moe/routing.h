// Which experts tokens select, and what that makes of the ranks. A router draws, for one layer, the
// experts_per_token distinct experts of each token; a placement says where experts lie; the two
// together fill one LayerLoad a layer. Draws are keyed by (seed, request, position in its output,
// node, layer).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/expert_load.h"
#include "sim/core/option_table.h"

namespace shiftpoint {

struct MoeConfig {
  std::string routing = "uniform";
  std::string placement = "tp-sliced";
  std::int64_t exact_tokens_max = 1024;
};

std::string router_names();
std::string placement_names();

inline constexpr Option<MoeConfig> kMoeOptions[] = {
    {"routing", "", "how tokens select experts", &MoeConfig::routing, one_of(router_names)},
    {"placement", "", "a slice of every expert on every rank, or whole experts on one rank",
     &MoeConfig::placement, one_of(placement_names)},
    {"exact_tokens_max", "", "steps with more tokens use expected loads instead of draws",
     &MoeConfig::exact_tokens_max, range(0, 1e6)},
};

// Identity of a token for the draws.
struct RoutedToken {
  std::uint32_t request = 0;
  std::uint32_t step = 0;  // verify step of the request, or position of a prompt token
  std::uint32_t node = 0;  // node of the draft tree; below 65536
};

class Router {
 public:
  virtual ~Router() = default;

  // Appends experts_per_token distinct expert ids (0 .. experts-1) a token to `out`, token-major.
  // A token's ids depend on (seed, layer, token) only, not on the tokens beside it. 0 <= layer <
  // 65536.
  virtual void route(std::uint64_t seed, std::int64_t layer, std::span<const RoutedToken> tokens,
                     std::vector<std::uint16_t>& out) const = 0;
};

class Placement {
 public:
  virtual ~Placement() = default;

  // Fills the rank fields (and totals) of a layer's load from the token-major expert ids.
  virtual void fill(std::span<const std::uint16_t> experts_of_tokens, LayerLoad& load) const = 0;

  // The load that `tokens` tokens have on average (uniform routing), rounded to whole experts and
  // pairs, and equal on all ranks to within one: for steps with many tokens. What it leaves out is
  // the imbalance of pairs, about 1 + 1.4 / sqrt(tokens * k / 8) on 8 ranks: 1.04 at 1024 tokens, k
  // = 8.
  virtual void fill_expected(std::int64_t tokens, LayerLoad& load) const = 0;

  // Share of an expert's weights that a rank holding it reads: 1/ranks for slices, 1 for whole
  // experts.
  virtual double slice() const = 0;
};

struct RouterKind {
  const char* name;
  const char* help;
  std::unique_ptr<Router> (*make)(std::int64_t experts, std::int64_t experts_per_token);
};
struct PlacementKind {
  const char* name;
  const char* help;
  std::unique_ptr<Placement> (*make)(std::int64_t experts, std::int64_t experts_per_token,
                                     std::int64_t ranks);
};

// The registries: one line each (registry.cpp).
const std::vector<RouterKind>& router_kinds();
const std::vector<PlacementKind>& placement_kinds();

// Throw UserError naming the known ones; placements check divisibility with the numbers in the
// message.
std::unique_ptr<Router> make_router(std::string_view name, std::int64_t experts,
                                    std::int64_t experts_per_token);
std::unique_ptr<Placement> make_placement(std::string_view name, std::int64_t experts,
                                          std::int64_t experts_per_token, std::int64_t ranks);

// Closed forms for uniform routing of T tokens, k of E experts each, over R ranks (E divisible by
// R). Exact up to rounding (relative error below 1e-12).
double expected_activated_experts(std::int64_t experts, std::int64_t k, std::int64_t tokens);
double idle_rank_probability(std::int64_t experts, std::int64_t k, std::int64_t ranks,
                             std::int64_t tokens);
// E[max over ranks of activated experts], exact (Markov chain on the number of activated experts,
// then the occupancy of ranks given that number).
double expected_max_rank_experts(std::int64_t experts, std::int64_t k, std::int64_t ranks,
                                 std::int64_t tokens);

}  // namespace shiftpoint
