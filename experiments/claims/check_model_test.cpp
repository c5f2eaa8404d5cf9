// Experts and the bottleneck shift.
#include "experiments/claims/claims_test_support.h"

using namespace shiftpoint;
using namespace shiftpoint::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("moe: 72 activations, whatever the placement") {
  const std::string good = committed_claims();
  const auto v = audit(good);
  CHECK(v.at("C14a").verdict == Verdict::kSupported);
  CHECK(computed(v.at("C14a"), "activations").low == 72);  // 9 * 8
  // 384 (1 - (1 - 8/384)^9) = 66.2827.
  CHECK(computed(v.at("C14a"), "expected_activated_experts").low == Approx(66.2827).margin(1e-4));
  CHECK(audit(with_value(good, "C14a", "72", "64")).at("C14a").verdict == Verdict::kContradicted);
}

TEST_CASE("moe: 48 whole experts on a rank are not tensor parallelism") {
  const std::string good = committed_claims();
  const auto v = audit(good);
  CHECK(v.at("C14c").verdict == Verdict::kContradicted);
  CHECK(computed(v.at("C14c"), "experts_on_a_rank").low == 384);  // a slice of each
  CHECK_THAT(
      v.at("C14c").explanation,
      ContainsSubstring("tensor parallelism and 48 whole experts a rank exclude each other"));
  // True of whole-expert placement, 384 / 8; and of slices a rank holds 384.
  const std::string whole =
      with(good, "ranks=8;placement=tp-sliced", "ranks=8;placement=whole-expert");
  CHECK(audit(whole).at("C14c").verdict == Verdict::kSupported);
  CHECK(computed(audit(whole).at("C14c"), "experts_on_a_rank").low == 48);
  CHECK(audit(with_value(whole, "C14c", "48", "96")).at("C14c").verdict == Verdict::kContradicted);
  CHECK(audit(with_value(good, "C14c", "48", "384")).at("C14c").verdict == Verdict::kSupported);
}

TEST_CASE("moe: idle ranks over every number of effective independent tokens") {
  const std::string good = committed_claims();
  const ClaimVerdict v = audit(good).at("C14b");
  CHECK(v.verdict == Verdict::kNotIdentified);
  // [C(336,8) / C(384,8)]^9 = 6.07e-5 and, to the first power, 0.3400; times 8 ranks; 60 layers.
  const Interval idle = computed(v, "idle_ranks_a_layer");
  CHECK(idle.low == Approx(8 * 6.07e-5).epsilon(0.002));
  CHECK(idle.high == Approx(8 * 0.34).margin(4e-4));
  CHECK(computed(v, "idle_ranks_a_step_uniform").low == Approx(0.0291).margin(1e-4));
  // 8 * 0.34^t = 0.01 at t = ln 800 / -ln 0.34 = 6.6846 / 1.0788 = 6.196.
  CHECK(computed(v, "independent_tokens_at_threshold").low == Approx(6.196).margin(2e-3));
  // 1 - 0.61 * 66.2827 / 384 = 0.894707 = (376/384)^t at t = 0.111259 / 0.0210534 = 5.2846;
  // 8 * 0.34^5.2846 = 8 * e^-5.7011 = 0.02674.
  CHECK(computed(v, "equivalent_tokens_measured_locality").low == Approx(5.2846).margin(1e-3));
  CHECK(computed(v, "idle_ranks_a_layer_measured_locality").low == Approx(0.02674).margin(2e-5));
  CHECK_THAT(v.explanation,
             ContainsSubstring("0.0005 idle ranks a layer (0.029 a step over 60 layers)") &&
                 ContainsSubstring("below 6.2 independent tokens it exceeds 0.01") &&
                 ContainsSubstring("under tp-sliced exactly 0"));
}

TEST_CASE("moe: what flips the verdict on idle ranks") {
  const std::string good = committed_claims();
  const auto changed = [&](const std::string& k, const std::string& tokens,
                           const std::string& placement) {
    const std::string row = ";ranks=8;tokens=" + tokens + ";placement=" + placement + ";distinct";
    return audit(with(good, "=8;ranks=8;tokens=9;placement=whole-expert;distinct", "=" + k + row))
        .at("C14b");
  };
  // One token: 2.72 idle ranks. Five: 8 * 0.34^5 = 0.036 at least, between the thresholds.
  CHECK(changed("8", "1", "whole-expert").verdict == Verdict::kSupported);
  CHECK(changed("8", "5", "whole-expert").verdict == Verdict::kNotIdentified);
  // 64 experts a token: at most 8 (336/384)^64 = 8 * 1.94e-4 = 0.0016 even if all route alike.
  CHECK(changed("64", "9", "whole-expert").verdict == Verdict::kContradicted);
  // Slices are never idle, even with one token.
  CHECK(changed("8", "1", "tp-sliced").verdict == Verdict::kContradicted);
  CHECK(computed(changed("8", "1", "tp-sliced"), "idle_ranks_a_layer").high == 0);
  // As many distinct experts as uniform routing: nine tokens count as nine.
  const auto all = audit(with(good, "distinct_of_uniform=0.61", "distinct_of_uniform=1"));
  CHECK(computed(all.at("C14b"), "equivalent_tokens_measured_locality").low == Approx(9));
  CHECK_THAT(message_of(with(good, "distinct_of_uniform=0.61", "distinct_of_uniform=1.5")),
             ContainsSubstring("'distinct_of_uniform': found above 1"));
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
  // Attention: 1000/9.25 - 9000/116.45 = 108.1081 - 77.2864 = 30.8217 ms over 61.44 thousand tokens
  // is 0.501656 ms a thousand: 2.0548, 8.2191, 32.8765 ms.
  CHECK(computed(v.at("C15a"), "attention_at_least_ms").low == Approx(2.0548).margin(1e-3));
  CHECK(computed(v.at("C15b"), "attention_at_least_ms").low == Approx(8.2191).margin(1e-3));
  CHECK(computed(v.at("C15c"), "attention_at_least_ms").low == Approx(32.8765).margin(1e-3));
  CHECK(computed(v.at("C15c"), "attention_at_least_any_shape_ms").low ==
        Approx(30.8217).margin(1e-3));
  // Wait: (12.1455 - 66.2827/8) experts * 24.772608 MB * 60 layers = 5737.6 MB, at 1530 GB/s
  // 3.750 ms; it takes 8.2191 ms at 698 GB/s, 32.8765 at 174.5, 2.0548 at 2792.
  CHECK(computed(v.at("C15b"), "expert_wait_ms_whole_expert").high == Approx(3.750).margin(1e-3));
  CHECK(computed(v.at("C15a"), "weight_rate_of_flip").low == Approx(2792.3).margin(1));
  CHECK(computed(v.at("C15b"), "weight_rate_of_flip").low == Approx(698.07).margin(0.2));
  CHECK(computed(v.at("C15c"), "weight_rate_of_flip").low == Approx(174.52).margin(0.1));
  CHECK(computed(v.at("C15b"), "share_constant_acceptance").high == Approx(29.15 / 116.45));
  CHECK(computed(v.at("C15c"), "needed_acceptance_ratio").low ==
        Approx(116.45 * 69632 / (9.25 * 131072)));
  CHECK_THAT(
      v.at("C15b").explanation,
      ContainsSubstring("if attention is linear or concave") &&
          ContainsSubstring("under tp-sliced the wait is 0") &&
          ContainsSubstring("27.1-90.2 % if acceptance falls and attention is linear (a set that "
                            "excludes constant acceptance)"));
  CHECK_THAT(v.at("C15c").explanation, ContainsSubstring("whatever the shape of attention"));
  CHECK_THAT(v.at("C15").headline,
             ContainsSubstring("16384, 65536") && ContainsSubstring("open at 4096"));
}

TEST_CASE("shift: what the contradiction rests on, and what removes it") {
  const std::string good = committed_claims();
  // 12.0 tok/s at 64k: 1000/12.05 - 77.2864 = 5.7012 ms, 0.0928 ms a thousand: 1.52 ms at 16k is
  // below the wait, 5.70 ms at 64k of any shape is above it.
  auto v = audit(with_value(good, "C02c", "9.2", "12.0"));
  CHECK(v.at("C15b").verdict == Verdict::kNotIdentified);
  CHECK(v.at("C15c").verdict == Verdict::kContradicted);
  CHECK_THAT(v.at("C15c").explanation, ContainsSubstring("whatever the shape"));
  // 12.34: 1000/12.345 - 77.2864 = 3.718 ms of any shape, 3.966 if linear or concave; wait 3.750.
  v = audit(with_value(good, "C02c", "9.2", "12.34"));
  CHECK(v.at("C15c").verdict == Verdict::kContradicted);
  CHECK_THAT(v.at("C15c").explanation, ContainsSubstring("if attention is linear or concave"));
  // 12.9: 1000/12.95 = 77.220 ms is possible at 4k too, so attention may be nothing at all.
  v = audit(with_value(good, "C02c", "9.2", "12.9"));
  CHECK(v.at("C15c").verdict == Verdict::kNotIdentified);
  CHECK_THAT(v.at("C15c").explanation, ContainsSubstring("no weight rate would decide it"));
}

TEST_CASE("shift: a floor of curves that do not exist contradicts nothing") {
  // 1000 and 1 tok/s: 666.7 - 9.0 = 657.7 ms over 61.44 thousand tokens would be 43.8 ms at 4k, but
  // the step there is 9.0 ms at most: no linear curve. At 64k 657.7 ms remain, of any shape.
  const std::string rows =
      "id,topic,statement,context_tokens,value,unit,source,check,parameters,needs\n"
      "R1a,t,s,4096,1000,tok/s,x,throughput-within-bandwidth,draft_tokens=9,gpu\n"
      "R1b,t,s,65536,1,tok/s,x,throughput-within-bandwidth,draft_tokens=9,gpu\n"
      "S1,t,s,4096,,,x,shift-at-context,throughputs=R1;draft_tokens=9,cpu\n"
      "S2,t,s,65536,,,x,shift-at-context,throughputs=R1;draft_tokens=9,cpu\n";
  const auto v = audit(rows);
  CHECK(v.at("S1").verdict == Verdict::kNotIdentified);
  CHECK(v.at("S2").verdict == Verdict::kContradicted);
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
  CHECK_THAT(
      message_of(with(rows, "S3,t,s,4096", "S3,t,s,8192")),
      ContainsSubstring("claims.csv:6: 'context_tokens': no throughput of R1 at 8192 tokens"));
}

TEST_CASE("shift: contradicted as a whole only when so at every context") {
  const std::string good = committed_claims();
  // 200 tok/s at 4k: (108.1081 - 9000/199.5) / 61.44 = 1.0253 ms a thousand, 4.20 ms at 4k.
  CHECK(audit(with_value(good, "C02a", "116.5", "200")).at("C15").verdict ==
        Verdict::kContradicted);
}

TEST_CASE("shift: constant acceptance is rejected by the published rates") {
  const std::string good = committed_claims();
  const auto v = audit(good);
  CHECK(v.at("D01").verdict == Verdict::kContradicted);
  // Baseline 4k-16k: (4/38.5 - 1/6.85) / 3 = -14.03 ms at most.
  CHECK(computed(v.at("D01"), "chord_intercept_ms_per_accepted", 0).high ==
        Approx(1e3 * (4 / 38.5 - 1 / 6.85) / 3));
  // The weakest reading of it: -17.52 ms = (4/6.75 - 1/1.55) / 3 s, and three ways out.
  CHECK_THAT(v.at("D01").explanation,
             ContainsSubstring("impossible: the intercept would be negative (-17.52 ms)") &&
                 ContainsSubstring(
                     "acceptance fell, attention is convex, or the rates contain something"));
  CHECK_THAT(v.at("D01").statement, ContainsSubstring("linear or concave"));
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
  // C05, 4k to 16k: speed-ups 116.5/82 = 1.42, then 29.1/22.4 = 1.30: Q = 0.30/0.42 below 1.
  CHECK_THAT(v.at("D02a").explanation,
             ContainsSubstring("C05 from 4096 to 16384 tokens, which puts"));
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
