// Acceptance that changes with context: a table of mean acceptance lengths (drafters are trained on
// short contexts and degrade). Between entries the mean length is linear in log(context), outside
// it stays at the end's value. A step draws from the geometric model that has this mean.
#include <algorithm>

#include "sim/core/det_math.h"
#include "sim/core/error.h"
#include "sim/speculation/acceptance_models.h"
#include "sim/speculation/geometric.h"

namespace shiftpoint {
namespace {

class LengthByContext : public AcceptanceModel {
 public:
  explicit LengthByContext(const SpeculationConfig& config)
      : drafts_(config.draft_tokens - 1),
        inverse_(config.draft_tokens),
        lengths_(config.length_tokens) {
    for (const double context : config.length_context_tokens) {
      log_contexts_.push_back(det_log(context));
    }
  }

  std::int64_t accepted(std::uint64_t seed, std::int64_t request, std::int64_t verify_step,
                        std::int64_t context_tokens) const override {
    if (drafts_ == 0) return 0;
    const double alpha = inverse_.alpha(expected_length(context_tokens));
    return draw_accepted(seed, request, verify_step, drafts_,
                         [alpha](std::int64_t) { return alpha; });
  }

  // The base of the logarithm cancels: linear in log2(context) is linear in the natural one.
  double expected_length(std::int64_t context_tokens) const override {
    if (drafts_ == 0) return 1;  // nothing is drafted: the table does not apply
    if (context_tokens < 1) return lengths_.front();
    const double x = det_log(static_cast<double>(context_tokens));
    if (x <= log_contexts_.front()) return lengths_.front();
    if (x >= log_contexts_.back()) return lengths_.back();
    const auto above = std::upper_bound(log_contexts_.begin(), log_contexts_.end(), x);
    const auto i = static_cast<std::size_t>(above - log_contexts_.begin());
    const double weight = (x - log_contexts_[i - 1]) / (log_contexts_[i] - log_contexts_[i - 1]);
    return lengths_[i - 1] + weight * (lengths_[i] - lengths_[i - 1]);
  }

 private:
  std::int64_t drafts_;
  GeometricInverse inverse_;
  std::vector<double> log_contexts_;  // ascending
  std::vector<double> lengths_;
};

}  // namespace

std::unique_ptr<AcceptanceModel> make_length_by_context(const SpeculationConfig& config) {
  const std::vector<double>& contexts = config.length_context_tokens;
  const std::vector<double>& lengths = config.length_tokens;
  if (contexts.empty()) {
    throw_bad_input({}, "speculation.length_context_tokens", "found an empty list",
                    "one context or more");
  }
  if (lengths.size() != contexts.size()) {
    throw_bad_input({}, "speculation.length_tokens",
                    "found " + std::to_string(lengths.size()) + " lengths for " +
                        std::to_string(contexts.size()) + " contexts",
                    "as many as speculation.length_context_tokens has");
  }
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    if (!(contexts[i] >= 1) || (i > 0 && !(contexts[i] > contexts[i - 1]))) {
      throw_bad_input({}, "speculation.length_context_tokens",
                      "found " + std::to_string(contexts[i]) + " at entry " + std::to_string(i + 1),
                      "contexts of 1 or more, each larger than the one before");
    }
    // Without speculation the table may stay, so that a sweep can include draft_tokens = 1.
    const bool reachable =
        config.draft_tokens == 1 || lengths[i] <= static_cast<double>(config.draft_tokens);
    if (!(lengths[i] >= 1 && reachable)) {
      throw_bad_input(
          {}, "speculation.length_tokens",
          "found " + std::to_string(lengths[i]) + " at entry " + std::to_string(i + 1),
          "1 to speculation.draft_tokens (" + std::to_string(config.draft_tokens) + ")");
    }
  }
  return std::make_unique<LengthByContext>(config);
}

}  // namespace shiftpoint
