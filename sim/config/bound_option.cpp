#include "sim/config/bound_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "sim/core/error.h"

namespace shiftpoint {
namespace {

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  text = trim(text);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Shortest text that parses back to the same double.
std::string canonical(double value) {
  return fmt::format("{}", value);
}

std::string describe_range(const char* type, const Accepted& accepted) {
  if (std::isinf(accepted.min) && std::isinf(accepted.max)) return type;
  if (std::isinf(accepted.max)) return fmt::format("{} >= {}", type, accepted.min);
  return fmt::format("{}, {} .. {}", type, accepted.min, accepted.max);
}

bool in_range(double value, const Accepted& accepted) {
  return std::isfinite(value) && value >= accepted.min && value <= accepted.max;
}

std::string found(std::string_view text) {
  return "found " + quoted_excerpt(trim(text));
}

// One overload of bind_member a member type. All return by filling `option`.
void bind_member(BoundOption& option, std::int64_t& target, const Accepted& accepted) {
  option.accepted = describe_range("integer", accepted);
  option.get = [&target] { return std::to_string(target); };
  option.set = [&target, accepted](std::string_view text) -> std::string {
    const auto value = parse_number<std::int64_t>(text);
    if (!value || !in_range(static_cast<double>(*value), accepted)) return found(text);
    target = *value;
    return {};
  };
}

void bind_member(BoundOption& option, double& target, const Accepted& accepted) {
  option.accepted = describe_range("number", accepted);
  option.get = [&target] { return canonical(target); };
  option.set = [&target, accepted](std::string_view text) -> std::string {
    const auto value = parse_number<double>(text);
    if (!value || !in_range(*value, accepted)) return found(text);
    target = *value;
    return {};
  };
}

void bind_member(BoundOption& option, bool& target, const Accepted&) {
  option.accepted = "true or false";
  option.get = [&target] { return target ? "true" : "false"; };
  option.set = [&target](std::string_view text) -> std::string {
    const auto word = trim(text);
    if (word != "true" && word != "false") return found(text);
    target = word == "true";
    return {};
  };
}

void bind_member(BoundOption& option, std::string& target, const Accepted& accepted) {
  const std::string names = accepted.names != nullptr ? accepted.names() : std::string();
  option.accepted = names.empty() ? "text" : "one of " + names;
  option.get = [&target] { return target; };
  option.set = [&target, names](std::string_view text) -> std::string {
    const std::string word(trim(text));
    if (!names.empty() && ("|" + names + "|").find("|" + word + "|") == std::string::npos) {
      return found(text);
    }
    target = word;
    return {};
  };
}

void bind_member(BoundOption& option, std::vector<double>& target, const Accepted& accepted) {
  option.is_list = true;
  option.accepted = describe_range("numbers separated by commas, each a number", accepted);
  option.get = [&target] {
    std::string all;
    for (const double value : target) all += (all.empty() ? "" : ", ") + canonical(value);
    return all;
  };
  option.set = [&target, accepted](std::string_view text) -> std::string {
    std::vector<double> values;
    for (std::size_t start = 0; start <= text.size();) {
      const std::size_t comma = std::min(text.find(',', start), text.size());
      const auto value = parse_number<double>(text.substr(start, comma - start));
      if (!value || !in_range(*value, accepted)) return found(text);
      values.push_back(*value);
      start = comma + 1;
    }
    target = std::move(values);
    return {};
  };
}

template <class Config, std::size_t n>
void bind_table(std::vector<BoundOption>& all, const char* section, Config& config,
                const Option<Config> (&table)[n]) {
  for (const Option<Config>& row : table) {
    BoundOption option;
    option.key = std::string(section) + "." + row.name;
    option.unit = row.unit;
    option.help = row.help;
    std::visit([&](auto member) { bind_member(option, config.*member, row.accepted); }, row.member);
    all.push_back(std::move(option));
  }
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<BoundOption> bind_options(Scenario& scenario) {
  std::vector<BoundOption> all;
  Deployment& d = scenario.deployment;
  bind_table(all, "run", scenario.run, kRunOptions);
  bind_table(all, "output", scenario.output, kOutputOptions);
  bind_table(all, "model", d.model, kModelOptions);
  bind_table(all, "hardware", d.hardware, kHardwareOptions);
  bind_table(all, "workload", scenario.workload, kWorkloadOptions);
  bind_table(all, "serving", d.serving, kServingOptions);
  bind_table(all, "speculation", d.speculation, kSpeculationOptions);
  bind_table(all, "kvcache", d.kvcache, kKvCacheOptions);
  bind_table(all, "moe", d.moe, kMoeOptions);
  bind_table(all, "cost", d.cost, kCostOptions);
  return all;
}

std::string nearest_key(const std::string& key, const std::vector<BoundOption>& options) {
  std::string best;
  std::size_t best_distance = 1 + key.size() / 2;  // further away is no help
  for (const BoundOption& option : options) {
    // A key without its section is the commonest mistake.
    const std::string_view bare = std::string_view(option.key).substr(option.key.find('.') + 1);
    const std::size_t distance =
        std::min(edit_distance(key, option.key), edit_distance(key, bare) + 1);
    if (distance < best_distance) {
      best_distance = distance;
      best = option.key;
    }
  }
  return best;
}

}  // namespace shiftpoint
