// Claims that only results can decide.
#include "experiments/claims/claims_test_support.h"
#include "sim/core/error.h"

using namespace shiftpoint;
using namespace shiftpoint::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("recorded: each of these claims waits for its results and is then decided") {
  const std::string good = committed_claims();
  using Results = std::map<std::string, std::map<std::string, double>>;
  const auto churn = [](double unsorted, double sorted, double random_gbps) -> Results {
    return {
        {"kv_churn", {{"mean_run_tokens_unsorted", unsorted}, {"mean_run_tokens_sorted", sorted}}},
        {"gather_profile", {{"gbps_identity_1152", 100}, {"gbps_random_1152", random_gbps}}}};
  };
  const auto contiguity = [](double run) -> Results {
    return {{"single_request_contiguity",
             {{"generated_mean_run_tokens", run}, {"acceptance_length", 3}}}};
  };
  const auto relocation = [](double random_gbps, double share) -> Results {
    return {{"gather_profile", {{"gbps_identity_1152", 100}, {"gbps_random_1152", random_gbps}}},
            {"tier1_return", {{"attention_share", share}}}};
  };
  const auto verified = [](double wrong) -> Results {
    return {{"kernel_verification", {{"tokens", 1000}, {"mismatched_tokens", wrong}}}};
  };
  const char* both = "experiment:kv_churn gpu:gather-profile";
  const char* single = "experiment:single_request_contiguity";
  const struct {
    const char *id, *detail;
    Results results;
    Verdict verdict;
  } cases[] = {
      // Excess 0.25 of a random row at the start of each run: (1 + 0.25/2) / (1 + 0.25/40) = 1.118;
      // from runs of 10, 1.025 / 1.00625 = 1.0186.
      {"C17b", both, churn(2, 40, 80), Verdict::kSupported},
      {"C17b", both, churn(10, 40, 80), Verdict::kNotIdentified},
      // Runs 1.5x longer; or a random gather only 100/98 = 1.02 slower.
      {"C17b", both, churn(2, 3, 80), Verdict::kContradicted},
      {"C17b", both, churn(2, 40, 98), Verdict::kContradicted},
      {"C18", single, contiguity(3.1), Verdict::kContradicted},
      {"C18", single, contiguity(30), Verdict::kNotIdentified},
      {"C18", single, contiguity(300), Verdict::kSupported},
      // At most 1 - 80/100 = 20 % of attention: 2 % or 10 % of a step.
      {"C19", "gpu:gather-profile", relocation(80, 0.1), Verdict::kSupported},
      {"C19", "gpu:gather-profile", relocation(80, 0.5), Verdict::kContradicted},
      {"C21", "gpu:any", verified(0), Verdict::kSupported},
      {"C21", "gpu:any", verified(1), Verdict::kContradicted},
  };
  for (const auto& c : cases) {
    CAPTURE(c.id, static_cast<int>(c.verdict));
    AuditInputs inputs;
    CHECK(audit(good, inputs).at(c.id).verdict == Verdict::kNeeds);
    CHECK(audit(good, inputs).at(c.id).detail == c.detail);
    inputs.experiments = c.results;
    CHECK(audit(good, inputs).at(c.id).verdict == c.verdict);
    // One metric short, whichever it is, is still undecided.
    for (const auto& [experiment, metrics] : c.results) {
      for (const auto& [metric, value] : metrics) {
        CAPTURE(metric);
        inputs.experiments = c.results;
        inputs.experiments[experiment].erase(metric);
        CHECK(audit(good, inputs).at(c.id).verdict == Verdict::kNeeds);
      }
    }
  }
  // A row of 576 * 2 B is nine lines of 128 B.
  CHECK(computed(audit(good).at("C19"), "lines_per_row").low == 9);
  CHECK(audit(good).at("C17a").verdict == Verdict::kOutOfScope);
}

TEST_CASE("recorded: only a measured gather judges the order of slots") {
  const std::string good = committed_claims();
  AuditInputs inputs;
  // Simulated attention times and gains decide nothing, and the missing half is named.
  inputs.experiments["kv_churn"] = {{"mean_run_tokens_unsorted", 2},
                                    {"mean_run_tokens_sorted", 40},
                                    {"attention_us_unsorted", 110},
                                    {"attention_us_sorted", 100}};
  inputs.experiments["tier1_return"] = {{"step_gain_fraction", 0}, {"attention_share", 0.5}};
  CHECK(audit(good, inputs).at("C17b").detail == "gpu:gather-profile");
  CHECK(audit(good, inputs).at("C19").detail == "gpu:gather-profile");
  inputs.experiments.clear();
  // 3 % of attention is below 5 % of any step; a random gather that is faster saves nothing.
  auto& gather = inputs.experiments["gather_profile"];
  for (const double random_gbps : {97.0, 103.0}) {
    gather = {{"gbps_identity_1152", 100}, {"gbps_random_1152", random_gbps}};
    CHECK(audit(good, inputs).at("C19").verdict == Verdict::kSupported);
  }
  CHECK(computed(audit(good, inputs).at("C19"), "saved_of_attention_at_most").high == 0);
  CHECK(audit(good, inputs).at("C17b").detail == "experiment:kv_churn");
  gather["gbps_random_1152"] = 90;
  CHECK(audit(good, inputs).at("C19").detail == "experiment:tier1_return");
}

namespace {

const char* const kProbeHeader = "feature,sm_90,sm_90a,sm_100a,sm_120,sm_120a,assembler,message\n";

}  // namespace

TEST_CASE("isa: decided by the recorded probe alone") {
  const std::string good = committed_claims();
  const auto probes = [](const std::string& text) {
    std::istringstream csv(kProbeHeader + text);
    AuditInputs inputs;
    inputs.isa_probes = read_isa_probes(csv, "isa_probe.csv");
    return inputs;
  };
  CHECK(audit(good).at("C20").verdict == Verdict::kNeeds);
  const std::string others =
      "wgmma,no,yes,no,no,no,ptxas,\ntcgen05 (tensor memory),no,no,yes,no,no,ptxas,\n";
  CHECK(audit(good, probes(others)).at("C20").verdict == Verdict::kNeeds);
  // Bulk copies without a tensor map are another family.
  const std::string bulk = "cp.async.bulk (1-D bulk copy),yes,yes,yes,yes,yes,ptxas,\n";
  CHECK(audit(good, probes(others + bulk)).at("C20").verdict == Verdict::kNeeds);
  const std::string none = "cp.async.bulk.tensor (TMA tile load),yes,yes,yes,no,no,ptxas,\n";
  CHECK(audit(good, probes(others + none)).at("C20").verdict == Verdict::kSupported);
  const std::string some = "cp.async.bulk.tensor (TMA tile load),yes,yes,yes,no,slow,ptxas,\n";
  const auto v = audit(good, probes(others + some));
  CHECK(v.at("C20").verdict == Verdict::kContradicted);
  CHECK_THAT(v.at("C20").explanation,
             ContainsSubstring("tma assembles") && ContainsSubstring("wgmma does not"));
}

TEST_CASE("recorded: malformed results are refused with their place") {
  AuditInputs inputs;
  const auto message = [&](const std::string& text, bool isa) -> std::string {
    std::istringstream csv(text);
    try {
      if (isa) {
        read_isa_probes(csv, "p.csv");
      } else {
        read_experiment_metrics(csv, "m.csv", inputs);
      }
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message(kProbeHeader + std::string("wgmma,no,yes,no,1,no,ptxas,\n"), true) ==
        "p.csv:2: 'sm_120': found '1'; accepted: yes|slow|no");
  CHECK_THAT(message("feature,sm_90\nwgmma,no\n", true),
             ContainsSubstring("p.csv:1: 'assembler': column missing"));
  CHECK_THAT(message("experiment,metric,value\nkv_churn,x,1\nkv_churn,x,2\n", false),
             ContainsSubstring("m.csv:3: 'metric': 'x' given twice"));
  CHECK_THAT(message("experiment,metric,value\nkv_churn,,1\n", false),
             ContainsSubstring("m.csv:2: 'metric': found nothing"));
  CHECK_THAT(message("experiment,metric,value\nkv_churn,y,fast\n", false),
             ContainsSubstring("m.csv:2: 'value': found 'fast'"));
  CHECK(inputs.experiments["kv_churn"]["x"] == 1);
}
