// Acceptance by position in the draft, whatever the context: a list of conditional probabilities,
// whose last entry repeats. Mean length 1 + sum over i of prod over j <= i of conditional_j.
#include <algorithm>

#include "sim/core/error.h"
#include "sim/speculation/acceptance_models.h"

namespace shiftpoint {
namespace {

class PerPosition : public AcceptanceModel {
 public:
  explicit PerPosition(const SpeculationConfig& config)
      : drafts_(config.draft_tokens - 1), conditional_(config.conditional) {
    double reach = 1;  // P(all drafts up to here accepted)
    for (std::int64_t i = 1; i <= drafts_; ++i) {
      reach *= at(i);
      expected_length_ += reach;
    }
  }

  std::int64_t accepted(std::uint64_t seed, std::int64_t request, std::int64_t verify_step,
                        std::int64_t) const override {
    return draw_accepted(seed, request, verify_step, drafts_,
                         [this](std::int64_t position) { return at(position); });
  }

  double expected_length(std::int64_t) const override { return expected_length_; }

 private:
  double at(std::int64_t position) const {
    const std::size_t last = conditional_.size() - 1;
    return conditional_[std::min(static_cast<std::size_t>(position - 1), last)];
  }

  std::int64_t drafts_;
  std::vector<double> conditional_;
  double expected_length_ = 1;  // the bonus token
};

}  // namespace

std::unique_ptr<AcceptanceModel> make_per_position(const SpeculationConfig& config) {
  constexpr const char* kAccepted = "one probability from 0 to 1 or more, position 1 first";
  if (config.conditional.empty()) {
    throw_bad_input({}, "speculation.conditional", "found an empty list", kAccepted);
  }
  for (const double p : config.conditional) {
    if (p >= 0 && p <= 1) continue;
    throw_bad_input({}, "speculation.conditional", "found " + std::to_string(p), kAccepted);
  }
  return std::make_unique<PerPosition>(config);
}

}  // namespace shiftpoint
