// The claims audit: every claim of the source articles, one row of claims.csv, is put to a named
// check that computes a verdict from other claims' numbers, from closed forms of sim/moe and
// sim/cost, or from results of our own experiments. claims.csv has no verdict column: a verdict is
// never typed in. Nothing here writes files; the text writers return strings.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/claims/interval.h"

namespace shiftpoint {

// One row of claims.csv. `value` is the number as printed by the source; it stands for the interval
// value +- half_width, half a unit of its last printed digit unless parameter `half_width` says
// otherwise ("about 14", "185k").
struct Claim {
  std::string id;
  std::string topic;
  std::string statement;  // in our words
  std::optional<std::int64_t> context_tokens;
  std::optional<double> value;
  std::string printed;  // the number's text, "3.0"
  double half_width = 0;
  std::string unit;
  std::string source;  // "article 001", or "implied by ..." for a premise of the articles
  std::string check;   // a name of check_kinds()
  std::map<std::string, std::string> parameters;  // of the check
  std::string needs;  // what a full verdict takes: cpu, gpu:..., experiment:NAME
  std::int64_t line = 0;
};

enum class Verdict {
  kSupported,      // the evidence agrees with the statement within the stated tolerance
  kContradicted,   // it cannot be so, given the inputs named in `inputs`
  kNotIdentified,  // the numbers allow both the statement and its opposite
  kNeeds,          // undecided until `detail` (an experiment's results, hardware, a tool) is there
  kOutOfScope,     // not a statement that this project can test; `detail` says why
};

// A computed number; an interval where rounding or an unknown makes it one.
struct Quantity {
  std::string name;  // snake_case, units last
  double low = 0;
  double high = 0;
  std::string unit;
};

struct ClaimVerdict {
  std::string id, topic, statement, source, check, needs;
  Verdict verdict = Verdict::kNeeds;
  std::string detail;  // after "needs" and "out-of-scope"; empty otherwise
  std::vector<Quantity> computed;
  std::string tolerance;            // the rule of the verdict, with its threshold and the reason
  std::string headline;             // what decided, in plain words with numbers; see kHeadlineMost
  std::string explanation;          // all numbers behind it
  std::vector<std::string> inputs;  // claim ids, closed forms, experiments that were used
};

// A headline fits a line of a README table; a test holds the committed claims to it.
inline constexpr std::size_t kHeadlineMost = 120;

// From data/profiles/isa_probe.csv (kernels/isa_probe writes it): whether the assembler
// accepts a family of instructions for a target. `instruction` is one of wgmma, tma, tcgen05.
struct IsaProbe {
  std::string instruction;
  std::string target;  // sm_120, sm_120a, ...
  bool assembles = false;
};

// Results that checks may use beyond the claims; all may be absent.
struct AuditInputs {
  std::string claims_name = "claims.csv";  // in messages
  // experiment -> metric -> value. The metrics that a check reads are named in its `help`.
  std::map<std::string, std::map<std::string, double>> experiments;
  std::vector<IsaProbe> isa_probes;
};

// Readers of the two optional inputs. Both throw UserError with file, line and field.
std::vector<IsaProbe> read_isa_probes(std::istream& csv, const std::string& name);
// Adds rows (experiment,metric,value) to inputs.experiments.
void read_experiment_metrics(std::istream& csv, const std::string& name, AuditInputs& inputs);

// Throws UserError (file:line: 'field': found; accepted) for a malformed table, an unknown check,
// an unknown or missing parameter, or a claim without a check.
std::vector<Claim> read_claims(std::istream& csv, const std::string& name);

// In order of id.
std::vector<ClaimVerdict> audit_claims(std::istream& claims_csv, const AuditInputs& inputs);

std::string verdict_text(const ClaimVerdict& verdict);  // "supported", "needs experiment:kv_churn"
std::string to_json(const std::vector<ClaimVerdict>& verdicts);
// Opens with the counts and one line a verdict word.
std::string to_markdown(const std::vector<ClaimVerdict>& verdicts);
std::string to_table(const std::vector<ClaimVerdict>& verdicts);  // at most 100 columns

}  // namespace shiftpoint
