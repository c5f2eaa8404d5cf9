// How many drafts a verify step accepts. Words: a verify step passes `draft_tokens` nodes, the root
// included; K = draft_tokens - 1 drafts follow it; the step emits accepted + 1 tokens (the
// acceptance length, bonus included: 1 when every draft fails). Draws are keyed by (seed, request,
// verify step), so two policies see the same luck.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/option_table.h"

namespace shiftpoint {

struct SpeculationConfig {
  std::int64_t draft_tokens = 9;
  std::string acceptance = "per-position";
  std::vector<double> conditional = {0.75};
  std::vector<double> length_context_tokens = {1024};
  std::vector<double> length_tokens = {3.0};
};

std::string acceptance_names();  // the registry of acceptance.cpp

inline constexpr Option<SpeculationConfig> kSpeculationOptions[] = {
    {"draft_tokens", "", "nodes of a verify step, root included; 1: no speculation",
     &SpeculationConfig::draft_tokens, range(1, 1024)},
    {"acceptance", "", "how acceptance is described", &SpeculationConfig::acceptance,
     one_of(acceptance_names)},
    {"conditional", "",
     "P(draft i accepted | all before it were), position 1 first; the last repeats",
     &SpeculationConfig::conditional, range(0, 1)},
    {"length_context_tokens", "", "length-by-context: contexts of the table, ascending",
     &SpeculationConfig::length_context_tokens, at_least(1)},
    {"length_tokens", "", "length-by-context: mean acceptance length at each context",
     &SpeculationConfig::length_tokens, at_least(1)},
};

class AcceptanceModel {
 public:
  virtual ~AcceptanceModel() = default;

  // Accepted drafts of one verify step, 0 .. draft_tokens - 1.
  virtual std::int64_t accepted(std::uint64_t seed, std::int64_t request, std::int64_t verify_step,
                                std::int64_t context_tokens) const = 0;

  // Mean acceptance length (bonus included) at a context.
  virtual double expected_length(std::int64_t context_tokens) const = 0;
};

// Throws UserError when lists do not fit (empty, different lengths, contexts not ascending, a
// length above draft_tokens).
std::unique_ptr<AcceptanceModel> make_acceptance(const SpeculationConfig& config);

}  // namespace shiftpoint
