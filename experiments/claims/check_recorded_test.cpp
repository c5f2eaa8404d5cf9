// Claims that only results can decide.
#include "experiments/claims/claims_test_support.h"
#include "sim/core/error.h"

using namespace shiftpoint;
using namespace shiftpoint::test;
using Catch::Matchers::Contains;

TEST_CASE("recorded: each of these claims waits for its results and is then decided") {
  const std::string good = committed_claims();
  const struct {
    const char *id, *experiment, *detail;
    std::map<std::string, double> metrics;
    Verdict verdict;
  } cases[] = {
      {"C17b",
       "kv_churn",
       "experiment:kv_churn",
       {{"mean_run_tokens_unsorted", 2},
        {"mean_run_tokens_sorted", 40},
        {"attention_us_unsorted", 110},
        {"attention_us_sorted", 100}},
       Verdict::kSupported},
      {"C17b",
       "kv_churn",
       "experiment:kv_churn",
       {{"mean_run_tokens_unsorted", 2},
        {"mean_run_tokens_sorted", 40},
        {"attention_us_unsorted", 101},
        {"attention_us_sorted", 100}},
       Verdict::kNotIdentified},
      {"C17b",
       "kv_churn",
       "experiment:kv_churn",
       {{"mean_run_tokens_unsorted", 2},
        {"mean_run_tokens_sorted", 3},
        {"attention_us_unsorted", 101},
        {"attention_us_sorted", 100}},
       Verdict::kContradicted},
      {"C18",
       "single_request_contiguity",
       "experiment:single_request_contiguity",
       {{"generated_mean_run_tokens", 3.1}, {"acceptance_length", 3}},
       Verdict::kContradicted},
      {"C18",
       "single_request_contiguity",
       "experiment:single_request_contiguity",
       {{"generated_mean_run_tokens", 30}, {"acceptance_length", 3}},
       Verdict::kNotIdentified},
      {"C18",
       "single_request_contiguity",
       "experiment:single_request_contiguity",
       {{"generated_mean_run_tokens", 300}, {"acceptance_length", 3}},
       Verdict::kSupported},
      {"C19",
       "tier1_return",
       "experiment:tier1_return",
       {{"step_gain_fraction", 0.01}},
       Verdict::kSupported},
      {"C19",
       "tier1_return",
       "experiment:tier1_return",
       {{"step_gain_fraction", 0.2}},
       Verdict::kContradicted},
      {"C21",
       "kernel_verification",
       "gpu:any",
       {{"tokens", 1000}, {"mismatched_tokens", 0}},
       Verdict::kSupported},
      {"C21",
       "kernel_verification",
       "gpu:any",
       {{"tokens", 1000}, {"mismatched_tokens", 1}},
       Verdict::kContradicted},
  };
  for (const auto& c : cases) {
    CAPTURE(c.id, static_cast<int>(c.verdict));
    AuditInputs inputs;
    CHECK(audit(good, inputs).at(c.id).verdict == Verdict::kNeeds);
    CHECK(audit(good, inputs).at(c.id).detail == c.detail);
    inputs.experiments[c.experiment] = c.metrics;
    CHECK(audit(good, inputs).at(c.id).verdict == c.verdict);
    // One metric short is still undecided.
    inputs.experiments[c.experiment].erase(inputs.experiments[c.experiment].begin());
    CHECK(audit(good, inputs).at(c.id).verdict == Verdict::kNeeds);
  }
  // A row of 576 * 2 B is nine lines of 128 B.
  CHECK(computed(audit(good).at("C19"), "lines_per_row").low == 9);
  CHECK(audit(good).at("C17a").verdict == Verdict::kOutOfScope);
}

TEST_CASE("isa: decided by the recorded probe alone") {
  const std::string good = committed_claims();
  const auto probes = [](const std::string& text) {
    std::istringstream csv("instruction,target,assembles\n" + text);
    AuditInputs inputs;
    inputs.isa_probes = read_isa_probes(csv, "isa_probe.csv");
    return inputs;
  };
  CHECK(audit(good).at("C20").verdict == Verdict::kNeeds);
  const std::string others = "wgmma,sm_120,no\ntcgen05,sm_120,no\n";
  CHECK(audit(good, probes(others)).at("C20").verdict == Verdict::kNeeds);
  CHECK(audit(good, probes(others + "tma,sm_90a,yes\n")).at("C20").verdict == Verdict::kNeeds);
  CHECK(audit(good, probes(others + "tma,sm_120,no\n")).at("C20").verdict == Verdict::kSupported);
  const auto v = audit(good, probes(others + "tma,sm_120,no\ntma,sm_120a,yes\n"));
  CHECK(v.at("C20").verdict == Verdict::kContradicted);
  CHECK_THAT(v.at("C20").explanation, Contains("tma assembles") && Contains("wgmma does not"));
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
  CHECK(message("instruction,target,assembles\nmma,sm_120,yes\n", true) ==
        "p.csv:2: 'instruction': found 'mma'; accepted: wgmma|tma|tcgen05");
  CHECK(message("instruction,target,assembles\ntma,sm_120,1\n", true) ==
        "p.csv:2: 'assembles': found '1'; accepted: yes|no");
  CHECK_THAT(message("experiment,metric,value\nkv_churn,x,1\nkv_churn,x,2\n", false),
             Contains("m.csv:3: 'metric': 'x' given twice"));
  CHECK_THAT(message("experiment,metric,value\nkv_churn,,1\n", false),
             Contains("m.csv:2: 'metric': found nothing"));
  CHECK_THAT(message("experiment,metric,value\nkv_churn,y,fast\n", false),
             Contains("m.csv:2: 'value': found 'fast'"));
  CHECK(inputs.experiments["kv_churn"]["x"] == 1);
}
