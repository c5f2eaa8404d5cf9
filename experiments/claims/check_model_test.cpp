// Experts and the bottleneck shift.
#include "experiments/claims/claims_test_support.h"

using namespace shiftpoint;
using namespace shiftpoint::test;
using Catch::Matchers::Contains;

TEST_CASE("moe: 48 whole experts on a rank are not tensor parallelism") {
  const std::string good = committed_claims();
  const auto v = audit(good);
  CHECK(v.at("C14a").verdict == Verdict::kContradicted);
  CHECK(computed(v.at("C14a"), "activations").low == 72);
  // 384 (1 - (1 - 8/384)^9) = 66.2827; sliced: a part of all 384 experts.
  CHECK(computed(v.at("C14a"), "expected_activated_experts").low == Approx(66.2827).margin(1e-4));
  CHECK(computed(v.at("C14a"), "experts_on_a_rank").low == 384);
  // The same words are true of whole-expert placement, and of no other count of activations.
  const std::string whole = with(good, "placement=tp-sliced;experts_a_rank=48",
                                 "placement=whole-expert;experts_a_rank=48");
  CHECK(audit(whole).at("C14a").verdict == Verdict::kSupported);
  CHECK(computed(audit(whole).at("C14a"), "experts_on_a_rank").low == 48);
  CHECK(audit(with_value(whole, "C14a", "72", "64")).at("C14a").verdict == Verdict::kContradicted);
}

TEST_CASE("moe: an idle rank is likely with one token and not with nine") {
  const std::string good = committed_claims();
  const auto v = audit(good);
  CHECK(v.at("C14b").verdict == Verdict::kContradicted);
  // [C(336,8) / C(384,8)]^9 = 6.07e-5 and, to the first power, 0.3400.
  CHECK(computed(v.at("C14b"), "idle_rank_probability").low == Approx(6.07e-5).epsilon(0.002));
  CHECK(computed(v.at("C14b"), "idle_rank_probability_one_token").low == Approx(0.34).margin(5e-5));
  const std::string row = "tokens=9;placement=whole-expert;supported_from_ranks";
  CHECK(audit(with(good, row, "tokens=1;placement=whole-expert;supported_from_ranks"))
            .at("C14b")
            .verdict == Verdict::kSupported);
  // 8 * 0.34^5 = 0.036: between the two thresholds.
  CHECK(audit(with(good, row, "tokens=5;placement=whole-expert;supported_from_ranks"))
            .at("C14b")
            .verdict == Verdict::kNotIdentified);
  // Slices are never idle, even with one token.
  CHECK(audit(with(good, row, "tokens=1;placement=tp-sliced;supported_from_ranks"))
            .at("C14b")
            .verdict == Verdict::kContradicted);
}

TEST_CASE("moe: the levers need simulated rates; the bytes are closed forms") {
  const std::string good = committed_claims();
  const auto without = audit(good);
  CHECK(without.at("C16").verdict == Verdict::kNeeds);
  CHECK(without.at("C16").detail == "experiment:moe_levers");
  // 66.2827 / 8 / 9 = 0.9206 experts a token, slowest rank with whole experts 12.1455 / 9 = 1.3495.
  CHECK(computed(without.at("C16"), "experts_read_per_token_sliced").low ==
        Approx(0.9206).margin(1e-4));
  CHECK(computed(without.at("C16"), "experts_read_per_token_whole").low ==
        Approx(1.3495).margin(1e-4));
  AuditInputs inputs;
  auto& metrics = inputs.experiments["moe_levers"];
  metrics = {{"tokens_per_s_sliced_batch_1", 100},
             {"tokens_per_s_sliced_batched", 400},
             {"tokens_per_s_whole_batch_1", 120}};
  CHECK(audit(good, inputs).at("C16").verdict == Verdict::kSupported);
  metrics["tokens_per_s_whole_batch_1"] = 90;
  CHECK(audit(good, inputs).at("C16").verdict == Verdict::kNotIdentified);
  metrics["tokens_per_s_sliced_batched"] = 104;
  CHECK(audit(good, inputs).at("C16").verdict == Verdict::kContradicted);
}

TEST_CASE("shift: possible at 4k only") {
  const std::string good = committed_claims();
  const auto v = audit(good);
  CHECK(v.at("C15").verdict == Verdict::kNotIdentified);
  CHECK(v.at("C15a").verdict == Verdict::kNotIdentified);
  CHECK(v.at("C15b").verdict == Verdict::kContradicted);
  CHECK(v.at("C15c").verdict == Verdict::kContradicted);
  // Wait: (12.1455 - 66.2827/8) experts * 24.772608 MB * 60 layers / 1530 GB/s = 3.7499 ms; of
  // 1/29.15 s 10.93 %, of 1/9.25 s 3.469 %: both below 1/8.
  CHECK(computed(v.at("C15a"), "expert_wait_share_at_most").low == Approx(0.4371).margin(2e-4));
  CHECK(computed(v.at("C15b"), "expert_wait_share_at_most").low == Approx(0.1093).margin(1e-4));
  CHECK(computed(v.at("C15c"), "expert_wait_share_at_most").low == Approx(0.03469).margin(1e-4));
  CHECK(computed(v.at("C15b"), "share_constant_acceptance").high == Approx(29.15 / 116.45));
  CHECK(computed(v.at("C15c"), "needed_acceptance_ratio").low ==
        Approx(116.45 * 69632 / (9.25 * 131072)));
  CHECK_THAT(v.at("C15c").explanation, Contains("contradicted at every acceptance length"));
}

TEST_CASE("shift: the two grounds of a contradiction, and none") {
  const std::string good = committed_claims();
  // 60 tok/s at 16k: wait 22 % of the step, and 60/116.5 = 51.5 % possible at constant acceptance.
  CHECK(audit(with_value(good, "C02b", "29.1", "60")).at("C15b").verdict ==
        Verdict::kNotIdentified);
  // 45 tok/s: wait 16.9 %, 45/116.5 = 38.6 %: contradicted at constant acceptance only.
  const auto v = audit(with_value(good, "C02b", "29.1", "45"));
  CHECK(v.at("C15b").verdict == Verdict::kContradicted);
  CHECK_THAT(v.at("C15b").explanation, Contains("contradicted at constant acceptance"));
}

TEST_CASE("shift: a forced share asks for the attribution, which then decides") {
  // Two contexts at 100 and 950 tok/s: L <= 9 and >= 1 leave at most 9 * 100.5 / 949.5 = 0.953 of
  // the first step at the longer context, so attention cannot grow: empty for b >= 0. At 100 and
  // 850 tok/s the step grows at most 9 * 100.5 / 849.5 = 1.065 times over 16 times the context:
  // share at 64k >= 1 - (16/15) (1 - 1/1.065) = 0.935.
  const std::string rows =
      "id,topic,statement,context_tokens,value,unit,source,check,parameters,needs\n"
      "R1a,t,s,4096,100,tok/s,x,throughput-within-bandwidth,draft_tokens=9,gpu\n"
      "R1b,t,s,65536,850,tok/s,x,throughput-within-bandwidth,draft_tokens=9,gpu\n"
      "S1,t,s,65536,,,x,shift-at-context,throughputs=R1;draft_tokens=9,cpu\n"
      "S2,t,s,,,,x,shift-overall,throughputs=R1;draft_tokens=9,cpu\n"
      "S3,t,s,4096,,,x,shift-at-context,throughputs=R1;draft_tokens=9,cpu\n";
  const auto v = audit(rows);
  CHECK(v.at("S1").verdict == Verdict::kNeeds);
  CHECK(v.at("S1").detail == "experiment:bottleneck_shift");
  CHECK(computed(v.at("S1"), "share_any_acceptance_curve").low ==
        Approx(1 - 16.0 / 15 * (1 - 849.5 / 904.5)).epsilon(1e-6));
  CHECK(v.at("S2").verdict == Verdict::kNeeds);
  AuditInputs inputs;
  auto& metrics = inputs.experiments["bottleneck_shift"];
  metrics = {{"expert_wait_share_65536", 0.4}, {"largest_share_65536", 0.4}};
  CHECK(audit(rows, inputs).at("S1").verdict == Verdict::kSupported);
  CHECK(audit(rows, inputs).at("S3").verdict == Verdict::kNeeds);  // the other context's is missing
  metrics["largest_share_65536"] = 0.5;
  CHECK(audit(rows, inputs).at("S1").verdict == Verdict::kContradicted);
  // A context without a throughput is refused.
  CHECK_THAT(message_of(with(rows, "S3,t,s,4096", "S3,t,s,8192")),
             Contains("claims.csv:6: 'context_tokens': no throughput of R1 at 8192 tokens"));
}

TEST_CASE("shift: contradicted as a whole only when so at every context") {
  const std::string good = committed_claims();
  // 25 tok/s at 4k: wait 9.4 %; below 1/8 there too.
  CHECK(audit(with_value(good, "C02a", "116.5", "25")).at("C15").verdict == Verdict::kContradicted);
}

TEST_CASE("shift: constant acceptance is rejected by the published rates") {
  const std::string good = committed_claims();
  const auto v = audit(good);
  CHECK(v.at("D01").verdict == Verdict::kContradicted);
  // Baseline 4k-16k: (4/38.5 - 1/6.85) / 3 = -14.03 ms at most.
  CHECK(computed(v.at("D01"), "chord_intercept_ms_per_accepted", 0).high ==
        Approx(1e3 * (4 / 38.5 - 1 / 6.85) / 3));
  // Rates that a = 20 ms, b = 1 us and acceptance length 2 would give (82.7, 55.0, 23.4) are not.
  std::string linear = with_value(good, "C02a", "116.5", "82.99");
  linear = with_value(linear, "C02b", "29.1", "54.97");
  linear = with_value(linear, "C02c", "9.2", "23.38");
  linear = with(linear, "constant-acceptance,throughputs=C01 C02",
                "constant-acceptance,throughputs=C02");
  CHECK(audit(linear).at("D01").verdict == Verdict::kNotIdentified);
}

TEST_CASE("shift: ratios of kernels") {
  const std::string good = committed_claims();
  const auto v = audit(good);
  CHECK(v.at("D02a").verdict == Verdict::kNotIdentified);
  // C01, 4k and 64k: Q = [(9.15/1.55 - 1) / (116.55/38.5 - 1), (9.25/1.45 - 1) / (116.45/39.5 -
  // 1)].
  const double low = (9.15 / 1.55 - 1) / (116.55 / 38.5 - 1);
  CHECK(computed(v.at("D02a"), "share_from_ratio", 1).low ==
        Approx(16 * (low - 1) / (16 * (low - 1) + 16 - low)));
  // With the baseline alone and the ratios 3, 5 and 6 of a = b * 6144 everywhere, it is above half.
  std::string clean = with(good, "C02;others=C01 C04 C05,cpu\nD02b", "C02;others=C01,cpu\nD02b");
  // x = 6144, beta = 5.5556: rho = 2.8222, 4.3131, 5.1651.
  clean = with_value(clean, "C01a", "39", "41.280");
  clean = with_value(clean, "C01b", "6.8", "6.7469");
  clean = with_value(clean, "C01c", "1.5", "1.78119");
  CHECK(audit(clean).at("D02a").verdict == Verdict::kSupported);
}
