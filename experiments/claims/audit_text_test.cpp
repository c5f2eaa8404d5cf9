#include <nlohmann/json.hpp>

#include "experiments/claims/claims_test_support.h"

using namespace shiftpoint;
using namespace shiftpoint::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

std::vector<ClaimVerdict> committed() {
  std::istringstream stream(committed_claims());
  return audit_claims(stream, {});
}

}  // namespace

TEST_CASE("audit text: JSON holds every column, in the order of ids") {
  const auto verdicts = committed();
  const auto json = nlohmann::json::parse(to_json(verdicts));
  REQUIRE(json.size() == verdicts.size());
  std::string before;
  for (const auto& entry : json) {
    for (const char* key :
         {"id", "topic", "statement", "source", "verdict", "computed", "tolerance", "headline",
          "explanation", "needs", "check", "inputs", "detail"}) {
      CHECK(entry.contains(key));
    }
    CHECK(before < entry["id"].get<std::string>());
    before = entry["id"].get<std::string>();
  }
  CHECK(json[0]["id"] == "C01a");
  CHECK(json[0]["verdict"] == "needs");
  CHECK(json[0]["detail"] == "gpu:8x sm_120");
}

TEST_CASE("audit text: the table fits 100 columns and loses no word") {
  const auto verdicts = committed();
  const std::string table = to_table(verdicts);
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 100);
    CHECK((line.empty() || line.back() != ' '));
  }
  for (const ClaimVerdict& v : verdicts) CHECK_THAT(table, ContainsSubstring("\n" + v.id));
  CHECK_THAT(table, ContainsSubstring("single_request_contiguity"));
}

TEST_CASE("audit text: Markdown has one row a claim and escapes bars") {
  ClaimVerdict v;
  v.id = "C99";
  v.statement = "a | b";
  v.source = "article 001";
  v.verdict = Verdict::kOutOfScope;
  v.detail = "not ours";
  v.headline = "Half.";
  v.explanation = "1 of 2";
  const std::string text = to_markdown({v});
  CHECK_THAT(text, StartsWith("1 claims: 0 supported, 0 contradicted, 0 not-identified, 0 needs, 1 "
                              "out-of-scope\n\n- supported: "));
  for (const char* word :
       {"supported", "contradicted", "not-identified", "needs", "out-of-scope"}) {
    CHECK_THAT(text, ContainsSubstring(std::string("\n- ") + word + ": "));
  }
  CHECK_THAT(text,
             EndsWith("\n\n| id | claim | verdict | in one sentence | all numbers |\n"
                      "| --- | --- | --- | --- | --- |\n"
                      "| C99 | a \\| b (article 001) | out-of-scope (not ours) | Half. | 1 of 2 "
                      "|\n"));
}

TEST_CASE("audit text: a word longer than its column is cut, not lost") {
  ClaimVerdict v;
  v.id = "C99";
  v.statement = std::string(70, 'x');
  v.verdict = Verdict::kSupported;
  v.explanation = "y";
  const std::string table = to_table({v});
  CHECK_THAT(table,
             ContainsSubstring("supported                    " + std::string(64, 'x') + "\n"));
  CHECK_THAT(table, ContainsSubstring("  xxxxxx: y\n"));
}
