// The models behind make_acceptance(), one file each, and the draw that they share.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/core/random.h"
#include "sim/speculation/acceptance.h"

namespace shiftpoint {

// Drafts accepted before the first failure. Position i (1-based) passes when its uniform draw is
// below conditional(i). The draw depends on (seed, request, verify step, position) only, so a model
// with higher probabilities accepts at least as much in every single step.
template <class Conditional>
std::int64_t draw_accepted(std::uint64_t seed, std::int64_t request, std::int64_t verify_step,
                           std::int64_t drafts, const Conditional& conditional) {
  RandomBlock block = {};
  for (std::int64_t i = 0; i < drafts; ++i) {
    if (i % 4 == 0) {  // a block serves four positions
      block = random_block(seed, Stream::kAcceptance, static_cast<std::uint32_t>(request),
                           static_cast<std::uint32_t>(verify_step),
                           static_cast<std::uint32_t>(i / 4), 0);
    }
    if (!(unit_interval(block[static_cast<std::size_t>(i % 4)]) < conditional(i + 1))) return i;
  }
  return drafts;
}

std::unique_ptr<AcceptanceModel> make_per_position(const SpeculationConfig& config);
std::unique_ptr<AcceptanceModel> make_length_by_context(const SpeculationConfig& config);

}  // namespace shiftpoint
