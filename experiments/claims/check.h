// What a check is and what it may ask. A check is one function; registry.cpp lists them all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/claims/claims.h"

namespace shiftpoint {

// The claims and results of one audit, with failures that name the row that asked.
class CheckContext {
 public:
  CheckContext(const std::vector<Claim>& claims, const AuditInputs& inputs, const Claim& claim)
      : claims_(claims), inputs_(inputs), claim_(claim) {}

  const Claim& claim() const { return claim_; }
  const std::vector<Claim>& claims() const { return claims_; }
  const AuditInputs& inputs() const { return inputs_; }

  // The claim with this id; `field` is the parameter that named it. UserError when unknown.
  const Claim& other(const std::string& id, const std::string& field = "parameters") const;
  // The claim's printed number with its rounding. UserError when it has none.
  Interval value(const Claim& claim) const;
  Interval value() const { return value(claim_); }
  double context_tokens(const Claim& claim) const;

  std::string text(const std::string& parameter) const;  // UserError when absent
  double number(const std::string& parameter) const;     // above 0
  // 1 to `most`. Closed forms take time and memory in experts and tokens, so a slip of the pen
  // must not ask for 1e9 of them.
  std::int64_t whole(const std::string& parameter, std::int64_t most) const;
  // Acceptance lengths that a verify step of parameter `draft_tokens` nodes can have: at least the
  // bonus token, at most every node.
  Interval acceptance_lengths() const;
  double number_or(const std::string& parameter, double otherwise) const;
  std::vector<std::string> list(const std::string& parameter) const;  // separated by spaces

  // A metric of an experiment, or nullptr.
  const double* metric(const std::string& experiment, const std::string& name) const;

  // Throws UserError with the place of the claim.
  [[noreturn]] void fail(const std::string& field, const std::string& found,
                         const std::string& accepted) const;

 private:
  const std::vector<Claim>& claims_;
  const AuditInputs& inputs_;
  const Claim& claim_;
};

// What a check returns; audit.cpp adds the columns of the claim.
struct Finding {
  Verdict verdict = Verdict::kNeeds;
  std::string detail;
  std::vector<Quantity> computed;
  std::string tolerance;
  std::string headline;
  std::string explanation;
  std::vector<std::string> inputs;

  void add(const char* name, const Interval& x, const char* unit) {
    computed.push_back({name, x.low, x.high, unit});
  }
  void add(const char* name, double x, const char* unit) { add(name, exactly(x), unit); }
};

struct CheckKind {
  const char* name;
  const char* help;
  const char* unit;                 // of the claim's value; "" where a claim has none
  const char* parameters;           // required, separated by spaces
  const char* optional_parameters;  // besides half_width, which every claim with a value may have
  Finding (*run)(const CheckContext& context);
};

// The registry: one line a check (registry.cpp).
const std::vector<CheckKind>& check_kinds();
const CheckKind* find_check(std::string_view name);  // nullptr if unknown

// Largest parameters: beyond every published deployment, and the closed forms, whose work grows as
// experts^3 and tokens * experts * experts a token, still take about a second.
inline constexpr std::int64_t kMostTokens = 1024;
inline constexpr std::int64_t kMostExperts = 1024;
inline constexpr std::int64_t kMostRanks = 1024;
inline constexpr std::int64_t kMostHeads = 4096;
inline constexpr std::int64_t kMostSplits = 4096;

// What a printed number stands for, as a tolerance text.
inline constexpr const char* kRoundingRule =
    "agrees when the interval computed from the rounded inputs meets the rounding interval of the "
    "claim (half a unit of the last printed digit)";

}  // namespace shiftpoint
