#include "sim/core/error.h"
#include "sim/moe/routing.h"

namespace shiftpoint {

// Defined in <name>_router.cpp and <name>_placement.cpp.
std::unique_ptr<Router> make_uniform_router(std::int64_t experts, std::int64_t experts_per_token);
std::unique_ptr<Placement> make_tp_sliced_placement(std::int64_t experts,
                                                    std::int64_t experts_per_token,
                                                    std::int64_t ranks);
std::unique_ptr<Placement> make_whole_expert_placement(std::int64_t experts,
                                                       std::int64_t experts_per_token,
                                                       std::int64_t ranks);

const std::vector<RouterKind>& router_kinds() {
  static const std::vector<RouterKind> kinds = {
      {"uniform", "every set of experts is equally likely, for each token alone",
       make_uniform_router},
  };
  return kinds;
}

const std::vector<PlacementKind>& placement_kinds() {
  static const std::vector<PlacementKind> kinds = {
      {"tp-sliced", "a slice of every expert on every rank", make_tp_sliced_placement},
      {"whole-expert", "experts/ranks whole experts on each rank, in order",
       make_whole_expert_placement},
  };
  return kinds;
}

std::string router_names() {
  return joined_names(router_kinds());
}

std::string placement_names() {
  return joined_names(placement_kinds());
}

namespace {

// Expert ids have 16 bits; the limit of k is the one of model.h.
void check_shape(std::int64_t experts, std::int64_t experts_per_token) {
  if (experts < 1 || experts > 65535) {
    throw_bad_input({}, "model.experts", "found " + std::to_string(experts), "1 to 65535");
  }
  if (experts_per_token < 1 || experts_per_token > 64 || experts_per_token > experts) {
    throw_bad_input({}, "model.experts_per_token",
                    "found " + std::to_string(experts_per_token) + " of " +
                        std::to_string(experts) + " experts",
                    "1 to 64, and no more than there are experts");
  }
}

}  // namespace

std::unique_ptr<Router> make_router(std::string_view name, std::int64_t experts,
                                    std::int64_t experts_per_token) {
  check_shape(experts, experts_per_token);
  for (const RouterKind& kind : router_kinds()) {
    if (name == kind.name) return kind.make(experts, experts_per_token);
  }
  throw_bad_input({}, "moe.routing", "found '" + std::string(name) + "'", router_names());
}

std::unique_ptr<Placement> make_placement(std::string_view name, std::int64_t experts,
                                          std::int64_t experts_per_token, std::int64_t ranks) {
  check_shape(experts, experts_per_token);
  if (ranks < 1) {
    throw_bad_input({}, "hardware.ranks", "found " + std::to_string(ranks), "1 or more");
  }
  for (const PlacementKind& kind : placement_kinds()) {
    if (name == kind.name) return kind.make(experts, experts_per_token, ranks);
  }
  throw_bad_input({}, "moe.placement", "found '" + std::string(name) + "'", placement_names());
}

}  // namespace shiftpoint
