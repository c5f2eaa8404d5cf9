// Speed-ups, bandwidth, occupancy, host and memory: verdicts by hand, and what flips them.
#include "experiments/claims/claims_test_support.h"

using namespace shiftpoint;
using namespace shiftpoint::test;

TEST_CASE("speed-ups: published ratios within rounding") {
  const auto v = audit(committed_claims());
  // [116.45/39.5, 116.55/38.5] = [2.948, 3.027], meets [2.95, 3.05].
  CHECK(v.at("C03a").verdict == Verdict::kSupported);
  CHECK(computed(v.at("C03a"), "speedup").low == Approx(116.45 / 39.5));
  CHECK(computed(v.at("C03a"), "speedup").high == Approx(116.55 / 38.5));
  // [29.05/6.85, 29.15/6.75] = [4.241, 4.319] meets [4.25, 4.35]; [9.15/1.55, 9.25/1.45] =
  // [5.90, 6.38] meets [6.05, 6.15].
  CHECK(v.at("C03b").verdict == Verdict::kSupported);
  CHECK(v.at("C03c").verdict == Verdict::kSupported);
  // Least: [81.5/39.5, 82.5/38.5] = [2.063, 2.143]; greatest: [max(22.35/6.85, 4.95/1.55),
  // max(22.45/6.75, 5.05/1.45)] = [3.263, 3.483].
  CHECK(v.at("C05d").verdict == Verdict::kSupported);
  CHECK(computed(v.at("C05d"), "speedup").high == Approx(82.5 / 38.5));
  CHECK(v.at("C05e").verdict == Verdict::kSupported);
  CHECK(computed(v.at("C05e"), "speedup").low == Approx(22.35 / 6.85));
  CHECK(computed(v.at("C05e"), "speedup").high == Approx(5.05 / 1.45));
  // A range, since its middle, 3.37, is the ratio of no pair.
  CHECK_THAT(v.at("C05e").explanation, Catch::Matchers::ContainsSubstring("is 3.26-3.48x against"));
  // [3.25/1.55, 3.35/1.45] = [2.097, 2.310] meets [2.15, 2.25].
  CHECK(v.at("C06c").verdict == Verdict::kSupported);
}

TEST_CASE("speed-ups: parity at 16 splits contradicts the throughputs, with both numbers") {
  const auto v = audit(committed_claims());
  CHECK(v.at("C06b").verdict == Verdict::kContradicted);
  // 62/39 = 1.590 at 4k, 12.2/6.8 = 1.794 at 16k.
  CHECK(computed(v.at("C06b"), "speedup", 0).contains(62 / 39.0));
  CHECK(computed(v.at("C06b"), "speedup", 1).contains(12.2 / 6.8));
  CHECK(computed(v.at("C06b"), "speedup", 0).low > 1.05);
  CHECK_THAT(v.at("C06b").explanation, Catch::Matchers::ContainsSubstring("1.59") &&
                                           Catch::Matchers::ContainsSubstring("1.79"));
}

TEST_CASE("speed-ups: changed throughputs flip the verdicts") {
  const std::string good = committed_claims();
  // 110/39 = 2.82.
  CHECK(audit(with_value(good, "C02a", "116.5", "110")).at("C03a").verdict ==
        Verdict::kContradicted);
  CHECK(audit(with_value(good, "C05a", "82", "60")).at("C05d").verdict == Verdict::kContradicted);
  CHECK(audit(with_value(good, "C05b", "22.4", "30")).at("C05e").verdict == Verdict::kContradicted);
  // Parity at 4k alone is not enough, at both it is.
  const std::string near = with_value(good, "C04a", "62", "39");
  CHECK(audit(near).at("C06b").verdict == Verdict::kContradicted);
  CHECK(audit(with_value(near, "C04b", "12.2", "6.8")).at("C06b").verdict == Verdict::kSupported);
}

TEST_CASE("graphs: what eager mode and short contexts imply") {
  const std::string good = committed_claims();
  const auto v = audit(good);
  // 135/35: [134.5/35.5, 135.5/34.5] = [3.789, 3.928]; 1/35 - 1/135 = 21.164 ms an accepted token;
  // 61 layers * 14 kernels * 73.5 us = 62.769 ms, which are 2.966 accepted tokens of it.
  CHECK(v.at("C07a").verdict == Verdict::kNeeds);
  CHECK(v.at("C07a").detail == "gpu:8x sm_120");
  CHECK(computed(v.at("C07a"), "graph_gain").low == Approx(134.5 / 35.5));
  CHECK(computed(v.at("C07a"), "eager_adds_ms_per_accepted").contains(1e3 / 35 - 1e3 / 135));
  CHECK(computed(v.at("C07a"), "kernel_launches_ms").low == Approx(62.769));
  CHECK_THAT(v.at("C07a").explanation, Catch::Matchers::ContainsSubstring(
                                           "equals 62.8 ms of launches at acceptance length 2.97"));
  CHECK(computed(v.at("C07a"), "acceptance_length_of_launches").high ==
        Approx(62.769 / (1e3 / 35.5 - 1e3 / 134.5)));
  CHECK(audit(with_value(good, "C07b", "35", "140")).at("C07a").verdict == Verdict::kContradicted);
  // 135 / 1.35 = 100 tok/s at 1k, above the 39 at 4k; a 4x speed-up would imply 34.
  CHECK(v.at("C06a").verdict == Verdict::kNeeds);
  CHECK(computed(v.at("C06a"), "implied_baseline_tok_s").contains(100));
  CHECK(audit(with_value(good, "C06a", "1.35", "4.00")).at("C06a").verdict ==
        Verdict::kContradicted);
  // 35 / 100 = 0.35, not 0.93; with 93 tok/s in eager mode it would agree.
  CHECK(v.at("C08a").verdict == Verdict::kNotIdentified);
  CHECK(computed(v.at("C08a"), "eager_over_baseline").contains(0.35));
  CHECK(audit(with_value(good, "C07b", "35", "93")).at("C08a").verdict == Verdict::kSupported);
  // Eager 2x is below the 2.10-2.31x with graphs; 3x is not.
  CHECK(v.at("C08b").verdict == Verdict::kNeeds);
  CHECK(audit(with_value(good, "C08b", "2", "3")).at("C08b").verdict == Verdict::kContradicted);
  CHECK(v.at("C08c").verdict == Verdict::kNeeds);
  CHECK(v.at("C10b").verdict == Verdict::kNeeds);
}

TEST_CASE("bandwidth: 14 GB/s at 185k tokens and 0.7 tok/s is not one read of the cache") {
  const std::string good = committed_claims();
  const auto v = audit(good);
  // 185000 * 576 * 2 B * 61 = 13.000 GB; * 0.7 / 14 = 0.650; K, then V: * (576 + 512) / 576
  // = 1.228.
  CHECK(v.at("C09b").verdict == Verdict::kNotIdentified);
  CHECK(computed(v.at("C09b"), "kv_bytes_per_step").low == Approx(185000.0 * 1152 * 61));
  const Interval one = computed(v.at("C09b"), "acceptance_length_one_read");
  CHECK(one.contains(0.65));
  CHECK(one.high == Approx(185500 * 70272e-9 * 0.75 / 13.5));  // 0.724, impossible
  CHECK(one.low == Approx(184500 * 70272e-9 * 0.65 / 14.5));   // 0.581
  const Interval both = computed(v.at("C09b"), "acceptance_length_k_then_v");
  CHECK(both.high == Approx(one.high * 1088 / 576));
  CHECK(both.low == Approx(one.low * 1088 / 576));
  CHECK_THAT(v.at("C09b").headline,
             Catch::Matchers::ContainsSubstring("impossible: acceptance length 0.65") &&
                 Catch::Matchers::ContainsSubstring("separately: 1.23"));
  // 9 GB/s would be acceptance length 1.01 or 1.91, and a measurement decides; 0.5 GB/s would be 18
  // or 34 of 9 nodes, 30 GB/s 0.30 or 0.57.
  CHECK(audit(with_value(good, "C09b", "14", "30")).at("C09b").verdict == Verdict::kContradicted);
  CHECK(audit(with_value(good, "C09b", "14", "9")).at("C09b").verdict == Verdict::kNeeds);
  CHECK(audit(with_value(good, "C09b", "14", "0.5")).at("C09b").verdict == Verdict::kContradicted);
  // 1800 / 14 = 128.6 within 125-135; against 20 GB/s the gap is 90.
  CHECK(v.at("C09c").verdict == Verdict::kSupported);
  CHECK(computed(v.at("C09c"), "gap").contains(1800.0 / 14));
  CHECK(audit(with_value(good, "C09b", "14", "20")).at("C09c").verdict == Verdict::kContradicted);
}

TEST_CASE("bandwidth: a published throughput is only refused when no acceptance length allows it") {
  const std::string good = committed_claims();
  // 116.5 tok/s * 4096 * 70272 B = 33.5 GB/s at acceptance length 1, 3.7 at 9.
  const auto v = audit(good);
  const Interval rate = computed(v.at("C02a"), "kv_read_once_gbps");
  CHECK(rate.high == Approx(116.55 * 4096 * 70272e-9));
  CHECK(rate.low == Approx(116.45 * 4096 * 70272e-9 / 9));
  for (const char* id : {"C01a", "C02c", "C04b", "C05c", "C09a"}) {
    CHECK(v.at(id).verdict == Verdict::kNeeds);
  }
  // 1597 GB/s * 9 / (4096 * 70272 B) = 49,935 tok/s.
  CHECK(audit(with_value(good, "C02a", "116.5", "49900")).at("C02a").verdict == Verdict::kNeeds);
  CHECK(audit(with_value(good, "C02a", "116.5", "50000")).at("C02a").verdict ==
        Verdict::kContradicted);
}

TEST_CASE("tensor cores: 3 % is possible at short contexts and not at the longest") {
  const std::string good = committed_claims();
  const auto v = audit(good);
  CHECK(v.at("C10a").verdict == Verdict::kNotIdentified);
  // At 64k, acceptance length 1, 243 TFLOP/s, tiles padded: attention 2 * (576 + 512) * 8 heads *
  // 32 rows * 65536 * 61 = 2.2270e12; experts 2 * 44.04e6 * 60 / 8 * 16 rows * (66.2827 + 1) =
  // 7.1116e11; dense 2 * 101.12e6 * 61 / 8 * 16 = 2.4673e10; sum 2.9628e12 * 1.55 / 243e12 = 1.890
  // %.
  CHECK(computed(v.at("C10a"), "tensor_utilisation_percent", 2).high ==
        Approx(1.890).epsilon(1e-3));
  // At 64k, acceptance length 9, 500 TFLOP/s, live rows: attention 2176 * 8 * 9 * 65536 * 61 =
  // 6.2634e11; experts 6.6060e8 * 9 * 9 = 5.3509e10; dense 1.3877e10; 6.9373e11 * 1.45 / 9 /
  // 500e12.
  CHECK(computed(v.at("C10a"), "tensor_utilisation_percent", 2).low ==
        Approx(0.02235).epsilon(1e-3));
  CHECK(audit(with_value(good, "C10a", "3", "30")).at("C10a").verdict == Verdict::kContradicted);
  CHECK(audit(with_value(good, "C10a", "3", "1")).at("C10a").verdict == Verdict::kSupported);
}

TEST_CASE("occupancy: blocks and waves") {
  const std::string good = committed_claims();
  const auto v = audit(good);
  // 1 * 9 * 64 * 16, 1 * 9 * 8 * 16, 1 * 9 * 8 * 64; 1152 / 188 = 6.128, 4608 / 188 = 24.51.
  for (const char* id : {"C11a", "C11b", "C11c"}) CHECK(v.at(id).verdict == Verdict::kSupported);
  // Blocks an SM agree with the printed numbers, waves of resident blocks (five an SM) do not:
  // 6.128 / 5 = 1.226, 24.51 / 5 = 4.902.
  for (const char* id : {"C11d", "C11e"}) CHECK(v.at(id).verdict == Verdict::kNotIdentified);
  CHECK(computed(v.at("C11a"), "blocks").low == 9216);
  CHECK(computed(v.at("C11d"), "blocks_per_sm").low == Approx(1152 / 188.0));
  CHECK(computed(v.at("C11e"), "blocks_per_sm").low == Approx(4608 / 188.0));
  CHECK(computed(v.at("C11d"), "waves_of_resident_blocks").low == Approx(1152 / 188.0 / 5));
  CHECK(computed(v.at("C11e"), "waves_of_resident_blocks").low == Approx(4608 / 188.0 / 5));
  CHECK(audit(with_value(good, "C11b", "1152", "1153")).at("C11b").verdict ==
        Verdict::kContradicted);
  CHECK(audit(with_value(good, "C11d", "6", "7")).at("C11d").verdict == Verdict::kContradicted);
  // 6 +- 5.5 holds both readings.
  CHECK(audit(with(good, "nsplit=16;half_width=0.5", "nsplit=16;half_width=5.5"))
            .at("C11d")
            .verdict == Verdict::kSupported);
}

TEST_CASE("host: negligible depends on acceptance for the tree, not for the mask") {
  const std::string good = committed_claims();
  const auto v = audit(good);
  // 1.8 ms of 1/116.5 s: 21.0 % at acceptance length 1, 2.3 % at 9.
  CHECK(v.at("C12a").verdict == Verdict::kNotIdentified);
  const Interval share = computed(v.at("C12a"), "host_share_percent");
  CHECK(share.high == Approx(100 * 1.85e-3 * 116.55));
  CHECK(share.low == Approx(100 * 1.75e-3 * 116.45 / 9));
  // 0.185 ms * 116.55 = 2.2 % at most.
  CHECK(v.at("C12b").verdict == Verdict::kSupported);
  CHECK(audit(with_value(good, "C12b", "0.18", "1.8")).at("C12b").verdict ==
        Verdict::kNotIdentified);
  // 500 ms: 5 % of a step would be 10 s, and 9 / 9.25 s is the longest step at 64k.
  CHECK(audit(with_value(good, "C12b", "0.18", "500")).at("C12b").verdict ==
        Verdict::kContradicted);
}

TEST_CASE("memory: what lowering the fraction frees") {
  const std::string good = committed_claims();
  const auto v = audit(good);
  // 0.06 * 97887 MiB = 6.1585 GB; workspace 72 rows * 64 splits * 514 * 4 B = 9.474 MB; 70272 B a
  // token: 87638 tokens.
  CHECK(v.at("C13a").verdict == Verdict::kOutOfScope);
  CHECK(v.at("C13b").verdict == Verdict::kNeeds);
  CHECK(v.at("C13b").detail == "gpu:8x sm_120 experiment:graph_memory");
  CHECK(computed(v.at("C13b"), "freed_bytes").low == Approx(0.06 * 97887 * 1048576));
  CHECK(computed(v.at("C13b"), "workspace_bytes").low == 72.0 * 64 * 514 * 4);
  CHECK(computed(v.at("C13b"), "freed_kv_tokens").low == Approx(87638).margin(1));
  CHECK(audit(with_value(good, "C13b", "0.88", "0.94")).at("C13b").verdict ==
        Verdict::kContradicted);
  // Graphs of 6.14 GB fit beside the workspace in 6.1585 GB, graphs of 6.15 GB do not.
  AuditInputs inputs;
  inputs.experiments["graph_memory"]["bytes_a_rank"] = 6.14e9;
  CHECK(audit(good, inputs).at("C13b").verdict == Verdict::kSupported);
  inputs.experiments["graph_memory"]["bytes_a_rank"] = 6.15e9;
  CHECK(audit(good, inputs).at("C13b").verdict == Verdict::kContradicted);
}
