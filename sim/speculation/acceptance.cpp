#include "sim/speculation/acceptance.h"

#include "sim/core/error.h"
#include "sim/speculation/acceptance_models.h"

namespace shiftpoint {
namespace {

struct AcceptanceEntry {
  const char* name;
  std::unique_ptr<AcceptanceModel> (*make)(const SpeculationConfig&);
};

// The registry: one line a model.
constexpr AcceptanceEntry kModels[] = {
    {"per-position", make_per_position},
    {"length-by-context", make_length_by_context},
};

}  // namespace

std::string acceptance_names() {
  return joined_names(kModels);
}

std::unique_ptr<AcceptanceModel> make_acceptance(const SpeculationConfig& config) {
  if (config.draft_tokens < 1) {
    throw_bad_input({}, "speculation.draft_tokens", "found " + std::to_string(config.draft_tokens),
                    "1 or more");
  }
  for (const AcceptanceEntry& entry : kModels) {
    if (config.acceptance == entry.name) return entry.make(config);
  }
  throw_bad_input({}, "speculation.acceptance", "found '" + config.acceptance + "'",
                  acceptance_names());
}

}  // namespace shiftpoint
