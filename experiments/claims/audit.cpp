#include "experiments/claims/check.h"
#include "sim/core/error.h"

namespace shiftpoint {
namespace {

Finding run_check(const CheckContext& context, const std::string& name) {
  const Claim& claim = context.claim();
  try {
    return find_check(claim.check)->run(context);
  } catch (const UserError& error) {
    // A module below (a placement, say) knows no file and no line.
    const std::string message = error.what();
    if (message.rfind(name + ":", 0) == 0) throw;
    throw_bad_input({name, claim.line}, "parameters", message, "");
  }
}

}  // namespace

std::vector<ClaimVerdict> audit_claims(std::istream& claims_csv, const AuditInputs& inputs) {
  const std::vector<Claim> claims = read_claims(claims_csv, inputs.claims_name);
  std::vector<ClaimVerdict> verdicts;
  for (const Claim& claim : claims) {
    Finding finding = run_check({claims, inputs, claim}, inputs.claims_name);
    const bool has_detail =
        finding.verdict == Verdict::kNeeds || finding.verdict == Verdict::kOutOfScope;
    SIM_CHECK(has_detail == !finding.detail.empty(), "check " + claim.check + " of " + claim.id);
    SIM_CHECK(
        !finding.headline.empty() && !finding.explanation.empty() && !finding.tolerance.empty(),
        "check " + claim.check + " explains nothing");
    ClaimVerdict verdict{claim.id,
                         claim.topic,
                         claim.statement,
                         claim.source,
                         claim.check,
                         claim.needs,
                         finding.verdict,
                         std::move(finding.detail),
                         {},
                         {},
                         {},
                         {},
                         {}};
    verdict.computed = std::move(finding.computed);
    verdict.tolerance = std::move(finding.tolerance);
    verdict.headline = std::move(finding.headline);
    verdict.explanation = std::move(finding.explanation);
    verdict.inputs = std::move(finding.inputs);
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

}  // namespace shiftpoint
