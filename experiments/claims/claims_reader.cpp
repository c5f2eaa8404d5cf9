// claims.csv -> Claim rows, and the two optional inputs.
#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

#include "experiments/claims/check.h"
#include "experiments/claims/csv_table.h"

namespace shiftpoint {
namespace {

const std::vector<std::string> kColumns = {"id",         "topic", "statement", "context_tokens",
                                           "value",      "unit",  "source",    "check",
                                           "parameters", "needs"};

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

// Half a unit of the last printed digit: "39" 0.5, "6.8" 0.05.
double printed_half_width(const std::string& number) {
  const std::size_t point = number.find('.');
  double half = 0.5;
  if (point != std::string::npos) {
    for (std::size_t i = point + 1; i < number.size(); ++i) half /= 10;
  }
  return half;
}

std::map<std::string, std::string> parse_parameters(const std::string& text,
                                                    const InputPlace& place) {
  std::map<std::string, std::string> parameters;
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, ';');) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == item.size()) {
      throw_bad_input(place, "parameters", "found '" + item + "'", "key=value;key=value");
    }
    if (!parameters.emplace(item.substr(0, equals), item.substr(equals + 1)).second) {
      throw_bad_input(place, "parameters", "'" + item.substr(0, equals) + "' given twice",
                      "each key once");
    }
  }
  return parameters;
}

std::string known_checks() {
  std::string all;
  for (const CheckKind& kind : check_kinds())
    all += (all.empty() ? "" : "|") + std::string(kind.name);
  return all;
}

void check_against_registry(const Claim& claim, const InputPlace& place) {
  if (claim.check.empty()) {
    throw_bad_input(place, "check", "claim " + claim.id + " has no evidence", known_checks());
  }
  const CheckKind* kind = find_check(claim.check);
  if (kind == nullptr) {
    throw_bad_input(place, "check", "unknown check '" + claim.check + "'", known_checks());
  }
  const bool any_unit = std::string_view(kind->unit) == "*";
  if ((any_unit ? claim.unit.empty() : claim.unit != kind->unit) ||
      claim.value.has_value() != (*kind->unit != '\0')) {
    throw_bad_input(
        place, "unit",
        "found unit '" + claim.unit + (claim.value ? "' and a value" : "' and no value"),
        *kind->unit == '\0' ? "no value and no unit with check " + claim.check
                            : "a value in '" + std::string(any_unit ? "any unit" : kind->unit) +
                                  "' with check " + claim.check);
  }
  const std::vector<std::string> required = words(kind->parameters);
  std::vector<std::string> accepted = required;
  for (const std::string& name : words(kind->optional_parameters)) accepted.push_back(name);
  if (claim.value) accepted.push_back("half_width");
  std::string all;
  for (const std::string& name : accepted) all += (all.empty() ? "" : "|") + name;
  if (all.empty()) all = "none";
  for (const auto& [name, text] : claim.parameters) {
    if (std::find(accepted.begin(), accepted.end(), name) == accepted.end()) {
      throw_bad_input(place, "parameters", "unknown '" + name + "' for check " + claim.check, all);
    }
  }
  for (const std::string& name : required) {
    if (claim.parameters.count(name) == 0) {
      throw_bad_input(place, "parameters", "'" + name + "' missing for check " + claim.check, all);
    }
  }
}

Claim parse_claim(const CsvRow& row, const std::string& name) {
  const InputPlace place{name, row.line};
  const auto field = [&](const char* column) { return row.fields.at(column); };
  Claim claim;
  claim.line = row.line;
  for (const char* column : {"id", "topic", "statement", "source", "needs"}) {
    if (field(column).empty()) throw_bad_input(place, column, "found nothing", "a text");
  }
  claim.id = field("id");
  claim.topic = field("topic");
  claim.statement = field("statement");
  claim.unit = field("unit");
  claim.source = field("source");
  claim.check = field("check");
  claim.needs = field("needs");
  claim.parameters = parse_parameters(field("parameters"), place);
  if (const std::string text = field("context_tokens"); !text.empty()) {
    const double tokens = parse_number(text, place, "context_tokens");
    if (tokens < 1 || tokens > 1e9 ||
        tokens != static_cast<double>(static_cast<std::int64_t>(tokens))) {
      throw_bad_input(place, "context_tokens", "found " + text, "a whole number from 1 to 1e9");
    }
    claim.context_tokens = static_cast<std::int64_t>(tokens);
  }
  if (const std::string text = field("value"); !text.empty()) {
    claim.value = parse_number(text, place, "value");
    claim.printed = text;
    claim.half_width = printed_half_width(text);
    if (claim.parameters.count("half_width") != 0) {
      claim.half_width = parse_number(claim.parameters["half_width"], place, "half_width");
    }
    if (claim.half_width < 0 || *claim.value - claim.half_width <= 0) {
      throw_bad_input(place, "value", "found " + text, "a number above its own rounding, so > 0");
    }
  }
  check_against_registry(claim, place);
  return claim;
}

}  // namespace

std::vector<Claim> read_claims(std::istream& csv, const std::string& name) {
  std::vector<Claim> claims;
  std::set<std::string> ids;
  for (const CsvRow& row : read_csv(csv, name, kColumns)) {
    claims.push_back(parse_claim(row, name));
    if (!ids.insert(claims.back().id).second) {
      throw_bad_input({name, row.line}, "id", "'" + claims.back().id + "' given twice",
                      "each id once");
    }
  }
  std::sort(claims.begin(), claims.end(),
            [](const Claim& a, const Claim& b) { return a.id < b.id; });
  return claims;
}

namespace {

// Families that claims name, by the start of the recorded feature's name.
struct IsaFamily {
  const char* feature_starts;
  const char* instruction;
};
constexpr IsaFamily kIsaFamilies[] = {
    {"wgmma", "wgmma"}, {"cp.async.bulk.tensor", "tma"}, {"tcgen05", "tcgen05"}};
constexpr const char* kIsaTargets[] = {"sm_90", "sm_90a", "sm_100a", "sm_120", "sm_120a"};

}  // namespace

std::vector<IsaProbe> read_isa_probes(std::istream& csv, const std::string& name) {
  std::vector<std::string> columns = {"feature", "assembler", "message"};
  columns.insert(columns.end(), std::begin(kIsaTargets), std::end(kIsaTargets));
  std::vector<IsaProbe> probes;
  for (const CsvRow& row : read_csv(csv, name, columns)) {
    for (const IsaFamily& family : kIsaFamilies) {
      if (!row.fields.at("feature").starts_with(family.feature_starts)) continue;
      for (const char* target : kIsaTargets) {
        const std::string& answer = row.fields.at(target);
        if (answer != "yes" && answer != "slow" && answer != "no") {
          throw_bad_input({name, row.line}, target, "found '" + answer + "'", "yes|slow|no");
        }
        probes.push_back({family.instruction, target, answer != "no"});
      }
    }
  }
  return probes;
}

void read_experiment_metrics(std::istream& csv, const std::string& name, AuditInputs& inputs) {
  for (const CsvRow& row : read_csv(csv, name, {"experiment", "metric", "value"})) {
    const InputPlace place{name, row.line};
    for (const char* column : {"experiment", "metric"}) {
      if (row.fields.at(column).empty()) {
        throw_bad_input(place, column, "found nothing", "a name");
      }
    }
    const double value = parse_number(row.fields.at("value"), place, "value");
    auto& metrics = inputs.experiments[row.fields.at("experiment")];
    if (!metrics.emplace(row.fields.at("metric"), value).second) {
      throw_bad_input(place, "metric", "'" + row.fields.at("metric") + "' given twice",
                      "each metric of an experiment once");
    }
  }
}

}  // namespace shiftpoint
