#include <sstream>

#include "experiments/claims/check.h"
#include "experiments/claims/csv_table.h"

namespace shiftpoint {

void CheckContext::fail(const std::string& field, const std::string& found,
                        const std::string& accepted) const {
  throw_bad_input({inputs_.claims_name, claim_.line}, field, found, accepted);
}

const Claim& CheckContext::other(const std::string& id, const std::string& field) const {
  for (const Claim& claim : claims_) {
    if (claim.id == id) return claim;
  }
  fail(field, "claim " + claim_.id + " asks for unknown claim '" + id + "'",
       "the id of a row of this table");
}

Interval CheckContext::value(const Claim& claim) const {
  if (!claim.value) {
    fail("parameters", "claim " + claim_.id + " asks for the value of " + claim.id,
         "a claim with a value");
  }
  return around(*claim.value, claim.half_width);
}

double CheckContext::context_tokens(const Claim& claim) const {
  if (!claim.context_tokens) {
    fail("context_tokens", "claim " + claim_.id + " asks for the context of " + claim.id,
         "a claim with context_tokens");
  }
  return static_cast<double>(*claim.context_tokens);
}

std::string CheckContext::text(const std::string& parameter) const {
  const auto found = claim_.parameters.find(parameter);
  if (found == claim_.parameters.end())
    fail("parameters", "'" + parameter + "' missing", parameter);
  return found->second;
}

double CheckContext::number(const std::string& parameter) const {
  const double number =
      parse_number(text(parameter), {inputs_.claims_name, claim_.line}, parameter);
  if (number <= 0) fail(parameter, "found " + text(parameter), "a number above 0");
  return number;
}

std::int64_t CheckContext::whole(const std::string& parameter, std::int64_t most) const {
  const double x = number(parameter);
  if (x < 1 || x > static_cast<double>(most) ||
      x != static_cast<double>(static_cast<std::int64_t>(x))) {
    fail(parameter, "found " + text(parameter), "a whole number from 1 to " + std::to_string(most));
  }
  return static_cast<std::int64_t>(x);
}

Interval CheckContext::acceptance_lengths() const {
  return {1, static_cast<double>(whole("draft_tokens", kMostTokens))};
}

double CheckContext::number_or(const std::string& parameter, double otherwise) const {
  return claim_.parameters.count(parameter) == 0 ? otherwise : number(parameter);
}

std::vector<std::string> CheckContext::list(const std::string& parameter) const {
  std::istringstream stream(text(parameter));
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

const double* CheckContext::metric(const std::string& experiment, const std::string& name) const {
  const auto results = inputs_.experiments.find(experiment);
  if (results == inputs_.experiments.end()) return nullptr;
  const auto value = results->second.find(name);
  return value == results->second.end() ? nullptr : &value->second;
}

}  // namespace shiftpoint
