// The three texts of an audit: JSON for programs, Markdown for the paper and the repository, and a
// table of at most 100 columns for a terminal.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "experiments/claims/claims.h"

namespace shiftpoint {
namespace {

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSupported:
      return "supported";
    case Verdict::kContradicted:
      return "contradicted";
    case Verdict::kNotIdentified:
      return "not-identified";
    case Verdict::kNeeds:
      return "needs";
    case Verdict::kOutOfScope:
      return "out-of-scope";
  }
  return "";
}

// What a verdict means to a reader who knows nothing else.
const char* verdict_meaning(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSupported:
      return "our evidence agrees with the claim";
    case Verdict::kContradicted:
      return "the claim cannot be true together with the numbers it is held against";
    case Verdict::kNotIdentified:
      return "those numbers allow the claim and its opposite";
    case Verdict::kNeeds:
      return "undecided until the named hardware, tool or experiment has given results";
    case Verdict::kOutOfScope:
      return "not a statement that this project can test";
  }
  return "";
}

constexpr Verdict kVerdicts[] = {Verdict::kSupported, Verdict::kContradicted,
                                 Verdict::kNotIdentified, Verdict::kNeeds, Verdict::kOutOfScope};

std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// Words of `text` on lines of at most `width`; a word that is longer is cut.
std::vector<std::string> wrap(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width)
      lines.emplace_back();
    // "experiment:long_name" breaks behind the colon rather than anywhere.
    const std::size_t colon = word.find(':');
    if (word.size() > width && colon != std::string::npos && colon + 1 < width) {
      lines.back() = word.substr(0, colon + 1);
      word = word.substr(colon + 1);
      lines.emplace_back();
    }
    while (word.size() > width) {
      lines.back() = word.substr(0, width);
      word = word.substr(width);
      lines.emplace_back();
    }
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

constexpr std::size_t kIdWidth = 5;
constexpr std::size_t kVerdictWidth = 27;
constexpr std::size_t kEvidenceWidth = 64;  // 5 + 2 + 27 + 2 + 64 = 100

void append_row(std::string& text, const std::string& id, const std::string& verdict,
                const std::string& evidence) {
  const std::vector<std::string> left = wrap(verdict, kVerdictWidth);
  const std::vector<std::string> right = wrap(evidence, kEvidenceWidth);
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    std::string line = fmt::format("{:<{}}  {:<{}}  {}", i == 0 ? id : "", kIdWidth,
                                   i < left.size() ? left[i] : "", kVerdictWidth,
                                   i < right.size() ? right[i] : "");
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
}

std::string counts_line(const std::vector<ClaimVerdict>& verdicts) {
  std::string line = fmt::format("{} claims:", verdicts.size());
  for (const Verdict kind : kVerdicts) {
    std::size_t count = 0;
    for (const ClaimVerdict& v : verdicts) count += v.verdict == kind ? 1 : 0;
    line +=
        fmt::format("{} {} {}", kind == Verdict::kSupported ? "" : ",", count, verdict_name(kind));
  }
  return line;
}

}  // namespace

std::string verdict_text(const ClaimVerdict& verdict) {
  std::string name = verdict_name(verdict.verdict);
  if (verdict.detail.empty()) return name;
  return verdict.verdict == Verdict::kNeeds ? name + " " + verdict.detail
                                            : name + " (" + verdict.detail + ")";
}

std::string to_json(const std::vector<ClaimVerdict>& verdicts) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const ClaimVerdict& v : verdicts) {
    nlohmann::ordered_json computed = nlohmann::ordered_json::array();
    for (const Quantity& q : v.computed) {
      computed.push_back({{"name", q.name}, {"low", q.low}, {"high", q.high}, {"unit", q.unit}});
    }
    all.push_back({{"id", v.id},
                   {"topic", v.topic},
                   {"statement", v.statement},
                   {"source", v.source},
                   {"verdict", verdict_name(v.verdict)},
                   {"detail", v.detail},
                   {"computed", computed},
                   {"tolerance", v.tolerance},
                   {"headline", v.headline},
                   {"explanation", v.explanation},
                   {"inputs", v.inputs},
                   {"needs", v.needs},
                   {"check", v.check}});
  }
  return all.dump(2) + "\n";
}

std::string to_markdown(const std::vector<ClaimVerdict>& verdicts) {
  std::string text = counts_line(verdicts) + "\n\n";
  for (const Verdict kind : kVerdicts) {
    text += fmt::format("- {}: {}\n", verdict_name(kind), verdict_meaning(kind));
  }
  text +=
      "\n| id | claim | verdict | in one sentence | all numbers |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const ClaimVerdict& v : verdicts) {
    text +=
        fmt::format("| {} | {} ({}) | {} | {} | {} |\n", v.id, cell(v.statement), cell(v.source),
                    cell(verdict_text(v)), cell(v.headline), cell(v.explanation));
  }
  return text;
}

std::string to_table(const std::vector<ClaimVerdict>& verdicts) {
  std::string text;
  append_row(text, "id", "verdict", "evidence");
  for (const ClaimVerdict& v : verdicts) {
    append_row(text, v.id, verdict_text(v), v.statement + ": " + v.explanation);
  }
  return text + "\n" + counts_line(verdicts) + "\n";
}

}  // namespace shiftpoint
