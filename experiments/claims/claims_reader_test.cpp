#include <set>

#include "experiments/claims/check.h"
#include "experiments/claims/claims_test_support.h"
#include "sim/core/error.h"

using namespace shiftpoint;
using namespace shiftpoint::test;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string kHeader =
    "id,topic,statement,context_tokens,value,unit,source,check,parameters,needs\n";

std::vector<Claim> read(const std::string& text) {
  std::istringstream stream(text);
  return read_claims(stream, "claims.csv");
}

}  // namespace

TEST_CASE("claims: a printed number carries its rounding") {
  // Half a unit of the last digit; half_width replaces it.
  const auto claims = read(kHeader +
                           "A,t,s,4096,39,tok/s,x,throughput-within-bandwidth,draft_tokens=9,gpu\n"
                           "B,t,s,4096,6.8,tok/s,x,throughput-within-bandwidth,draft_tokens=9,gpu\n"
                           "C,t,s,,130,s,x,measured-on-target,half_width=5,gpu\n");
  REQUIRE(claims[0].half_width == Approx(0.5));
  REQUIRE(claims[1].half_width == Approx(0.05));
  REQUIRE(claims[2].half_width == 5);
  REQUIRE(claims[1].context_tokens == 4096);
  REQUIRE_FALSE(claims[2].context_tokens.has_value());
}

TEST_CASE("claims: rows come out in the order of their ids, quotes are read") {
  const auto claims = read(kHeader +
                           "B,t,\"one, \"\"two\"\"\",,2,s,x,measured-on-target,,gpu\r\n\n"
                           "A,t,s,,1,s,x,measured-on-target,,gpu\n");
  REQUIRE(claims.size() == 2);
  REQUIRE(claims[0].id == "A");
  REQUIRE(claims[1].statement == "one, \"two\"");
  REQUIRE(claims[1].line == 2);
  REQUIRE(claims[0].line == 4);  // the blank line counts
}

TEST_CASE("claims: a malformed table is refused with file, line, field and what is accepted") {
  const struct {
    std::string text;
    std::vector<std::string> parts;
  } cases[] = {
      {"", {"claims.csv:1: ", "no header", "accepted: id,topic"}},
      {"id,topic\n", {"claims.csv:1: 'statement': column missing"}},
      {with(kHeader, "needs", "verdict"), {"claims.csv:1: 'verdict': unknown column", "needs"}},
      {with(kHeader, "needs", "id"), {"claims.csv:1: 'id': column given twice"}},
      {kHeader + "A,t\n", {"claims.csv:2: found 2 fields; accepted: 10"}},
      {kHeader + "A,\"t\n", {"claims.csv:2: ", "quote"}},
      {kHeader + "A,t,s,,1,s,,measured-on-target,,gpu\n",
       {"claims.csv:2: 'source': found nothing"}},
      {kHeader + "A,t,s,,1,s,x,,,gpu\n",
       {"claims.csv:2: 'check': claim A has no evidence", "accepted: speedup|"}},
      {kHeader + "A,t,s,,1,s,x,speed-up,,gpu\n",
       {"claims.csv:2: 'check': unknown check 'speed-up'", "accepted: speedup|"}},
      {kHeader + "A,t,s,,1,s,x,measured-on-target,,\n", {"claims.csv:2: 'needs': found nothing"}},
      {kHeader + "A,t,s,,1x,s,x,measured-on-target,,gpu\n",
       {"claims.csv:2: 'value': found '1x'; accepted: a decimal number"}},
      {kHeader + "A,t,s,,nan,s,x,measured-on-target,,gpu\n",
       {"claims.csv:2: 'value': found 'nan'"}},
      {kHeader + "A,t,s,,0,s,x,measured-on-target,,gpu\n", {"claims.csv:2: 'value'", "> 0"}},
      {kHeader + "A,t,s,,-3,s,x,measured-on-target,,gpu\n", {"claims.csv:2: 'value'", "> 0"}},
      {kHeader + "A,t,s,1.5,1,s,x,measured-on-target,,gpu\n",
       {"claims.csv:2: 'context_tokens': found 1.5; accepted: a whole number"}},
      {kHeader + "A,t,s,,1,s,x,measured-on-target,half_width,gpu\n",
       {"claims.csv:2: 'parameters': found 'half_width'; accepted: key=value"}},
      {kHeader + "A,t,s,,1,s,x,measured-on-target,half_width=.1;half_width=.1,gpu\n",
       {"claims.csv:2: 'parameters': 'half_width' given twice"}},
      {kHeader + "A,t,s,,1,s,x,measured-on-target,width=1,gpu\n",
       {"claims.csv:2: 'parameters': unknown 'width'", "accepted: half_width"}},
      {kHeader + "A,t,s,,1,x,x,speedup,numerator=B,gpu\n",
       {"claims.csv:2: 'parameters': 'denominator' missing", "numerator|denominator|half_width"}},
      {kHeader + "A,t,s,,1,s,x,speedup,numerator=B;denominator=C,gpu\n",
       {"claims.csv:2: 'unit': found unit 's' and a value", "a value in 'x'"}},
      {kHeader + "A,t,s,,,x,x,speedup,numerator=B;denominator=C,gpu\n",
       {"claims.csv:2: 'unit': found unit 'x' and no value"}},
      {kHeader + "A,t,s,,1,s,x,measured-on-target,,gpu\nA,t,s,,1,s,x,measured-on-target,,gpu\n",
       {"claims.csv:3: 'id': 'A' given twice; accepted: each id once"}},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    const std::string message = message_of(c.text);
    for (const std::string& part : c.parts) CHECK_THAT(message, ContainsSubstring(part));
  }
}

TEST_CASE("claims: a check that asks for what is not there names the row that asked") {
  const std::string good = committed_claims();
  CHECK_THAT(
      message_of(with(good, "numerator=C02a;denominator=C01a", "numerator=C99;denominator=C01a")),
      ContainsSubstring("claims.csv:8: 'parameters': claim C03a asks for unknown claim 'C99'"));
  CHECK_THAT(
      message_of(with(good, "numerator=C02a;denominator=C01a", "numerator=C02a;denominator=C20")),
      ContainsSubstring("claims.csv:8: ") && ContainsSubstring("C20"));
  CHECK_THAT(
      message_of(with(good, "numerator=C02a;denominator=C01a", "numerator=C02a;denominator=C01b")),
      ContainsSubstring("different contexts"));
  CHECK_THAT(
      message_of(with(good, "fast=C05;slow=C01;which=least", "fast=C77;slow=C01;which=least")),
      ContainsSubstring("asks for the throughputs of 'C77'"));
  CHECK_THAT(message_of(with(good, "which=least", "which=smallest")),
             ContainsSubstring("'which': found 'smallest'; accepted: least|greatest"));
  CHECK_THAT(message_of(with(good, "heads=64", "heads=0")), ContainsSubstring("'heads': found 0"));
  CHECK_THAT(message_of(with(good, "query_tokens=9;heads=64", "query_tokens=9.5;heads=64")),
             ContainsSubstring("'query_tokens': found 9.5; accepted: a whole number"));
  // From a module that knows no file: 384 experts are not divisible by 7 ranks.
  CHECK_THAT(message_of(with(good, "ranks=8;tokens=9;placement=whole-expert;distinct",
                             "ranks=7;tokens=9;placement=whole-expert;distinct")),
             ContainsSubstring("claims.csv:42: 'parameters': ") && ContainsSubstring("384") &&
                 ContainsSubstring("7"));
}

TEST_CASE("claims: a slip of the pen does not ask for a computation without end") {
  const std::string good = committed_claims();
  CHECK_THAT(
      message_of(with(good, "experts=384;experts_per_token=8;tokens=9",
                      "experts=1000000000;experts_per_token=8;tokens=9")),
      ContainsSubstring("'experts': found 1000000000; accepted: a whole number from 1 to 1024"));
  // C15a, the shift at 4096 tokens: the closed form of the wait runs over the tokens of a step.
  CHECK_THAT(
      message_of(with(good,
                      "is the bottleneck,4096,,,article 000,shift-at-context,"
                      "throughputs=C02;draft_tokens=9",
                      "is the bottleneck,4096,,,article 000,shift-at-context,"
                      "throughputs=C02;draft_tokens=1e9")),
      ContainsSubstring("'draft_tokens': found 1e9; accepted: a whole number from 1 to 1024"));
  // The vertices of an identified set are pairs of about n^2 lines for n throughputs.
  std::string many = kHeader;
  for (int i = 0; i < 17; ++i) {
    many += std::string("R") + static_cast<char>('a' + i) + ",t,s," + std::to_string(1000 + i) +
            ",50,tok/s,x,throughput-within-bandwidth,draft_tokens=9,gpu\n";
  }
  many += "S,t,s,,,,x,shift-overall,throughputs=R;draft_tokens=9,cpu\n";
  CHECK_THAT(message_of(many),
             ContainsSubstring("claims.csv:19: ") && ContainsSubstring("more than 16 throughputs"));
  // The same context twice, and a throughput whose rounding reaches 0.
  const std::string twice =
      kHeader +
      "Ra,t,s,4096,50,tok/s,x,throughput-within-bandwidth,draft_tokens=9,gpu\n"
      "Rb,t,s,4096,40,tok/s,x,throughput-within-bandwidth,draft_tokens=9,gpu\n"
      "H,t,s,,1.8,ms,x,host-negligible,throughputs=R;draft_tokens=9;threshold_percent=5,cpu\n"
      "S,t,s,,,,x,constant-acceptance,throughputs=R;draft_tokens=9;host=H,cpu\n";
  CHECK_THAT(message_of(twice),
             ContainsSubstring("'context_tokens': Rb has the context of another claim"));
  CHECK_THAT(message_of(with_value(good, "C01c", "1.5", "0")),
             ContainsSubstring("'value': found 0; accepted: a number above its own rounding"));
}

TEST_CASE("claims: every claim of the articles is there, with a known check and a verdict") {
  // The 21 claims of the articles; suffixes split a claim by context or part.
  std::set<std::string> ids;
  const auto verdicts = audit(committed_claims());
  for (const auto& [id, verdict] : verdicts) {
    CAPTURE(id);
    ids.insert(id.substr(0, 3));
    CHECK(find_check(verdict.check) != nullptr);
    CHECK_FALSE(verdict.explanation.empty());
    CHECK_FALSE(verdict.tolerance.empty());
    // One plain sentence that fits a line.
    CHECK(verdict.headline.size() <= kHeadlineMost);
    CHECK((!verdict.headline.empty() && verdict.headline.back() == '.'));
    // What counts as decided rests on something, and what is not says what is missing.
    const bool decided =
        verdict.verdict != Verdict::kNeeds && verdict.verdict != Verdict::kOutOfScope;
    CHECK(decided == verdict.detail.empty());
    if (decided) {
      CHECK(verdict.headline.find_first_of("0123456789") != std::string::npos);
      CHECK_FALSE(verdict.inputs.empty());
      CHECK_FALSE(verdict.computed.empty());
    }
  }
  for (int n = 1; n <= 21; ++n) {
    const std::string id = (n < 10 ? "C0" : "C") + std::to_string(n);
    CAPTURE(id);
    CHECK(ids.count(id) == 1);
  }
}

TEST_CASE("claims: the registry has no unused check and no name twice") {
  std::set<std::string> names, used;
  for (const CheckKind& kind : check_kinds()) CHECK(names.insert(kind.name).second);
  for (const auto& [id, verdict] : audit(committed_claims())) used.insert(verdict.check);
  CHECK(names == used);
}

TEST_CASE("claims: the published numbers are those of the transcription beside the checkout") {
  if (shared_dir().empty()) SHIFTPOINT_SKIP("no shared folder beside the checkout");
  std::ifstream file(shared_dir() / "claims" / "claims.csv");
  std::map<std::string, Claim> ours;
  for (const Claim& claim : read(committed_claims())) ours[claim.id] = claim;
  std::string line;
  std::getline(file, line);
  int compared = 0;
  while (std::getline(file, line)) {
    // id,topic,statement,context_tokens,value,unit,...; statements may be quoted.
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
    CAPTURE(fields[0]);
    const auto found = ours.find(fields[0]);
    REQUIRE(found != ours.end());
    if (fields[4].empty()) continue;
    REQUIRE(found->second.value.has_value());
    CHECK(*found->second.value == std::stod(fields[4]));
    CHECK(found->second.unit == fields[5]);
    if (!fields[3].empty()) CHECK(found->second.context_tokens == std::stoll(fields[3]));
    ++compared;
  }
  CHECK(compared >= 35);
}
