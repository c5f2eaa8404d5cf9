#include <algorithm>
#include <numeric>

#include "kernels/bench/cases.h"
#include "kernels/gpu_tests/gpu_test.h"

namespace shiftpoint {
namespace {

VerifyCaseSpec small_spec(std::vector<std::int64_t> prefixes, MaskKind mask = MaskKind::kTree) {
  VerifyCaseSpec spec;
  spec.prefix_tokens = std::move(prefixes);
  spec.mask = mask;
  return spec;
}

VerifyAttentionParams with_nsplit(VerifyAttentionParams params, int nsplit) {
  params.nsplit = nsplit;
  return params;
}

}  // namespace

TEST_CASE("every variant agrees with the oracle on every case") {
  SHIFTPOINT_NEEDS_GPU();
  for (const CorrectnessCase& test : correctness_cases()) {
    const VerifyCase host = build_verify_case(test.spec);
    const ReferenceTokens reference = compute_reference(host.host_params(), test.max_tokens);
    DeviceCase device(host);
    for (const int nsplit : test.nsplits) {
      for (const std::string& variant :
           test::supported_variants(with_nsplit(host.host_params(), nsplit))) {
        INFO(test.spec.name << ", " << variant << ", nsplit " << nsplit);
        const CompareResult result = verify_on_device(variant, device, nsplit, reference);
        INFO(result.detail);
        CHECK(result.ok);
      }
    }
  }
}

TEST_CASE("a graph captured at dummy lengths replays like eager calls") {
  SHIFTPOINT_NEEDS_GPU();
  constexpr int kSplits = 12;
  constexpr std::int64_t kSlots = 3600;  // that a step may use
  // Lengths around tiles, splits and zero; every step fits in kSlots.
  const std::vector<VerifyCaseSpec> steps = {
      small_spec({2900, 400, 41}), small_spec({1, 1, 1}, MaskKind::kChain),
      small_spec({0, 15, 16}),     small_spec({17, -1, 383}, MaskKind::kRandom),
      small_spec({384, 385, 31}),  small_spec({32, 33, 2999}, MaskKind::kIdentity)};
  // One pool for all steps, so that only lists, lengths and masks change.
  VerifyCase largest = build_verify_case(small_spec({3000, 700, 41}));
  REQUIRE(largest.kv_indptr.back() >= kSlots);
  DeviceCase device(largest);
  for (const std::string& variant :
       test::supported_variants(with_nsplit(largest.host_params(), kSplits))) {
    VerifyAttentionParams params = device.params(variant, kSplits);
    GraphTimer graph([&](cudaStream_t stream) {
      params.stream = stream;
      launch(variant, params);
    });
    params.stream = nullptr;
    for (const VerifyCaseSpec& spec : steps) {
      VerifyCase next = largest;
      next.spec = spec;
      fill_lists(next, 0, kSlots);
      // Only slots that the pool filled with numbers may be named.
      std::vector<std::int64_t> live = largest.kv_indices;
      live.resize(static_cast<std::size_t>(largest.kv_indptr.back()));
      for (auto* list : {&next.kv_indices, &next.out_cache_loc}) {
        for (std::int64_t& slot : *list) {
          if (slot >= 0 && slot < kSlots) {
            slot = live[static_cast<std::size_t>(slot)];
          }
        }
      }
      device.update(next);
      device.poison();
      graph.launch();
      const DeviceCase::Output replayed = device.read_output();
      device.poison();
      launch(variant, params);
      INFO(variant << ", first prefix " << spec.prefix_tokens.front());
      CHECK(replayed == device.read_output());
    }
  }
}

TEST_CASE("a thousand replays give the same bits") {
  SHIFTPOINT_NEEDS_GPU();
  const VerifyCase host = build_verify_case(small_spec({2000, 37, 1111, 640}));
  DeviceCase device(host);
  for (const std::string variant : {"packed", "packed-solo", "packed-pair", "flatten-split"}) {
    if (!supported(variant, with_nsplit(host.host_params(), 16), current_device_limits()).ok) {
      continue;
    }
    prepare(variant);
    const DeviceCase::Output first = device.run(variant, 16);
    VerifyAttentionParams params = device.params(variant, 16);
    GraphTimer graph([&](cudaStream_t stream) {
      params.stream = stream;
      launch(variant, params);
    });
    int different = 0;
    for (int i = 0; i < 1000; ++i) {
      device.poison();
      SHIFTPOINT_CUDA_CHECK(cudaDeviceSynchronize());
      graph.launch();
      if (i % 50 == 49) {
        different += device.read_output() == first ? 0 : 1;
      }
    }
    INFO(variant);
    CHECK(different == 0);
  }
}

TEST_CASE("slots beyond 2^31 elements of the pool are addressed") {
  SHIFTPOINT_NEEDS_GPU();
  constexpr std::int64_t kFirstSlot = (std::int64_t{1} << 31) / kRowDims + 1;
  const VerifyCase low = build_verify_case(small_spec({900, 17}));
  DeviceCase reference_case(low);
  VerifyCase high = low;
  for (auto* list : {&high.kv_indices, &high.out_cache_loc}) {
    for (std::int64_t& slot : *list) {
      slot = slot < low.slots ? slot + kFirstSlot : slot;  // the huge unused entries stay
    }
  }
  DeviceCase shifted(high);
  const std::size_t row_bytes = kRowDims * 2;
  DeviceBuffer pool((static_cast<std::size_t>(kFirstSlot) + static_cast<std::size_t>(low.slots)) *
                    row_bytes);
  pool.poison();
  SHIFTPOINT_CUDA_CHECK(
      cudaMemcpy(pool.as<unsigned char>() + kFirstSlot * static_cast<std::int64_t>(row_bytes),
                 low.pool.data(), low.pool.size() * 2, cudaMemcpyHostToDevice));
  for (const std::string& variant : test::supported_variants(with_nsplit(low.host_params(), 8))) {
    const DeviceCase::Output expected = reference_case.run(variant, 8);
    VerifyAttentionParams params = shifted.params(variant, 8);
    params.pool = pool.data();
    shifted.poison();
    launch(variant, params);
    INFO(variant);
    CHECK(shifted.read_output() == expected);
  }
}

TEST_CASE("the tree mask changes what a draft token sees") {
  SHIFTPOINT_NEEDS_GPU();
  // The same inputs under tree and full visibility: only token 8's ancestors differ from all nine,
  // so every token's output must differ (no token of the tree sees all nine).
  const VerifyCase tree = build_verify_case(small_spec({20}));
  VerifyCase full = tree;
  std::fill(full.custom_mask.begin(), full.custom_mask.end(), std::uint8_t{1});
  DeviceCase tree_device(tree), full_device(full);
  for (const std::string& variant : test::supported_variants(with_nsplit(tree.host_params(), 2))) {
    const auto a = tree_device.run(variant, 2).out;
    const auto b = full_device.run(variant, 2).out;
    for (std::size_t token = 0; token < 9; ++token) {
      const std::size_t row = token * 8 * kLatentDims;
      INFO(variant << ", token " << token);
      CHECK_FALSE(std::equal(a.begin() + static_cast<std::ptrdiff_t>(row),
                             a.begin() + static_cast<std::ptrdiff_t>(row + kLatentDims),
                             b.begin() + static_cast<std::ptrdiff_t>(row)));
    }
  }
}

TEST_CASE("bad parameters are refused with a reason") {
  SHIFTPOINT_NEEDS_GPU();
  const VerifyCase host = build_verify_case(small_spec({50}));
  DeviceCase device(host);
  const VerifyAttentionParams good = device.params("packed", 4);
  prepare("packed");
  CHECK_NOTHROW(launch("packed", good));
  const auto refused = [&](auto change, const std::string& part) {
    VerifyAttentionParams bad = good;
    change(bad);
    try {
      launch("packed", bad);
    } catch (const KernelError& error) {
      return std::string(error.what()).find(part) != std::string::npos;
    }
    return false;
  };
  CHECK(refused([](auto& p) { p.stride_pool_slot = 577; }, "stride_pool_slot is 577"));
  CHECK(refused([](auto& p) { p.stride_q_head = 568; }, "stride_q_head is 568"));
  CHECK(refused([](auto& p) { p.pool = static_cast<const char*>(p.pool) + 2; }, "16-byte aligned"));
  CHECK(refused([](auto& p) { p.nsplit = 257; }, "nsplit above 256"));
  CHECK(refused([](auto& p) { p.nsplit = 0; }, "positive"));
  CHECK(refused([](auto& p) { p.q_tokens = 33; }, "more than 32 query tokens"));
  CHECK(refused([](auto& p) { p.workspace_bytes -= 1; }, "workspace has"));
  CHECK(refused([](auto& p) { p.custom_mask = nullptr; }, "custom_mask is null"));
  CHECK_THROWS_AS(launch("paked", good), KernelError);
  DeviceLimits small = current_device_limits();
  small.shared_bytes_per_block = 65536;
  CHECK_FALSE(supported("packed", good, small).ok);
  SHIFTPOINT_CUDA_CHECK(cudaDeviceSynchronize());
}

}  // namespace shiftpoint
