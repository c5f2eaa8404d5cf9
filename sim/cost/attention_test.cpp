#include <vector>

#include "sim/core/error.h"
#include "sim/cost/attention_model.h"
#include "sim/test_support/catch.h"

using namespace shiftpoint;

namespace {

AttentionTime price(const char* variant, const std::vector<std::int64_t>& contexts,
                    std::int64_t nsplit, std::int64_t heads = 8, std::int64_t query_tokens = 9,
                    const HardwareConfig& hardware = {}) {
  AttentionShape shape;
  shape.context_tokens = contexts;
  shape.nsplit = nsplit;
  shape.heads = heads;
  shape.query_tokens = query_tokens;
  return find_attention_variant(variant).time(shape, hardware);
}

std::vector<std::int64_t> same(std::size_t requests, std::int64_t context) {
  return std::vector<std::int64_t>(requests, context);
}

}  // namespace

TEST_CASE("block and wave counts of the articles") {
  // Article 001: 1 x 9 x 64 x 16 = 9216, 1 x 9 x 8 x 16 = 1152, 1 x 9 x 8 x 64 = 4608 blocks;
  // "about 6" and "roughly 24 waves" are blocks per SM, 1152 / 188 and 4608 / 188.
  for (const char* variant : {"split-scalar", "split-vector"}) {
    CHECK(price(variant, {4096}, 16, 64).counts.blocks == 9216);
    const AttentionCounts few = price(variant, {4096}, 16, 8).counts;
    const AttentionCounts many = price(variant, {4096}, 64, 8).counts;
    CHECK(few.blocks == 1152);
    CHECK(many.blocks == 4608);
    // Several blocks share an SM, so the waves that follow each other are fewer: 16 KB of shared
    // memory and the reserved KB fit 102,400 / 17,408 = 5 times.
    CHECK(few.resident_blocks == 5);
    CHECK(few.waves * 5 == Approx(1152.0 / 188));
    CHECK(many.waves * 5 == Approx(4608.0 / 188));
  }
  CHECK(price("extend-serial", {4096}, 64).counts.blocks == 8);  // one a head: 4 % of 188 SMs
  CHECK(price("flatten-split", {4096}, 64).counts.blocks == 9 * 64);
  CHECK(price("packed", {4096}, 64).counts.blocks == 64);
}

TEST_CASE("bytes through L2 per prefix token are those of the schemes") {
  // 8 x (1152 + 1024), 9 x 1152, 72 x 1152, 1152: what one more token adds when partials stay.
  const std::pair<const char*, double> schemes[] = {{"extend-serial", 17408},
                                                    {"flatten-split", 10368},
                                                    {"split-scalar", 82944},
                                                    {"split-vector", 82944},
                                                    {"packed", 1152}};
  for (const auto& [variant, bytes] : schemes) {
    INFO(variant);
    const AttentionCounts shorter = price(variant, {65536}, 64).counts;
    const AttentionCounts longer = price(variant, {65537}, 64).counts;
    CHECK(longer.l2_bytes - shorter.l2_bytes == Approx(bytes));
    CHECK(longer.dram_bytes - shorter.dram_bytes == Approx(1152));
    CHECK(shorter.dram_bytes == Approx((65536 + 9) * 1152.0));
  }
}

TEST_CASE("operations issued, padding included") {
  // 1024 tokens at NSPLIT 1. extend: 8 heads x (32 + 1 tiles) x 32 rows x 32 tokens x 2176.
  CHECK(price("extend-serial", {1024}, 1).counts.mma_flops == Approx(8.0 * 33 * 32 * 32 * 2176));
  // flatten: 9 queries x ceil(1033 / 32) = 33 tiles of 16 x 32.
  CHECK(price("flatten-split", {1024}, 1).counts.mma_flops == Approx(9.0 * 33 * 16 * 32 * 2176));
  // packed: 72 rows, ceil(1033 / 16) = 65 tiles of 16.
  CHECK(price("packed", {1024}, 1).counts.mma_flops == Approx(72.0 * 65 * 16 * 2176));
  // 8 rows without speculation stay 8 (no padding to 16), 144 rows are two groups of 72.
  CHECK(price("packed", {1023}, 1, 8, 1).counts.mma_flops == Approx(8.0 * 64 * 16 * 2176));
  CHECK(price("packed", {1024}, 1, 16, 9).counts.mma_flops == Approx(144.0 * 65 * 16 * 2176));
  // scalar: 72 rows x 1033 tokens x 2176, no tensor cores.
  CHECK(price("split-vector", {1024}, 1).counts.fma_flops == Approx(72.0 * 1033 * 2176));
  CHECK(price("split-vector", {1024}, 1).counts.mma_flops == 0);
}

TEST_CASE("time is the floor and the largest bound") {
  for (const AttentionVariant& variant : attention_variants()) {
    const AttentionTime time = price(variant.name, {30000, 5000, 0}, 32);
    INFO(variant.name);
    CHECK(time.us ==
          time.floor_us + std::max({time.dram_us, time.l2_us, time.compute_us, time.serial_us}));
    CHECK(time.serial_us >= time.compute_us * 0.999);  // no SM is faster than its share
  }
}

TEST_CASE("more context or more requests never take less") {
  for (const AttentionVariant& variant : attention_variants()) {
    for (const std::int64_t nsplit : {0, 1, 16, 64}) {
      INFO(variant.name << " nsplit " << nsplit);
      double before = 0;
      for (std::int64_t context = 0; context < 140000; context += 777) {
        const double us = price(variant.name, {context, 20000}, nsplit).us;
        CHECK(us >= before);
        before = us;
      }
      if (nsplit == 0) continue;  // filling the card once means fewer splits at more requests
      before = 0;
      for (std::size_t requests = 1; requests <= 64; ++requests) {
        const double us = price(variant.name, same(requests, 8192), nsplit).us;
        CHECK(us >= before);
        before = us;
      }
    }
  }
}

TEST_CASE("nsplit: too few leave SMs idle, too many make the combine long") {
  CHECK(price("packed", {65536}, 1).us > 20 * price("packed", {65536}, 188).us);
  CHECK(price("flatten-split", {65536}, 1).us > 10 * price("flatten-split", {65536}, 64).us);
  CHECK(price("flatten-split", {1024}, 2048).us > 2 * price("flatten-split", {1024}, 64).us);
  // No split, no effect.
  CHECK(price("extend-serial", {65536}, 1).us == price("extend-serial", {65536}, 64).us);
}

TEST_CASE("nsplit 0 is the variant's own: fill the card once, or as published") {
  // 188 / batch rounded down, the one-wave choice for one block an SM.
  const std::pair<std::size_t, std::int64_t> splits[] = {{1, 188}, {2, 94}, {4, 47}, {8, 23},
                                                         {16, 11}, {32, 5}, {64, 2}, {189, 1}};
  for (const auto& [batch, nsplit] : splits) {
    CHECK(price("packed", same(batch, 65536), 0).counts.nsplit == nsplit);
  }
  // The articles' two kernels keep the NSPLIT they were published with (claims C04 and C02).
  CHECK(price("split-scalar", {65536}, 0).counts.nsplit == 16);
  CHECK(price("split-vector", {65536}, 0).counts.nsplit == 64);
  CHECK(price("extend-serial", {65536}, 0).counts.nsplit == 1);
}

TEST_CASE("resident blocks follow shared memory") {
  HardwareConfig hopper;
  hopper.shared_memory_per_block_bytes = 232448;
  // 36,864 of Q, 36,864 of K and 4,096: 78,848 with the reserved KB.
  CHECK(price("extend-serial", {4096}, 1).counts.resident_blocks == 102400 / 78848);
  CHECK(price("extend-serial", {4096}, 1, 8, 9, hopper).counts.resident_blocks == 233472 / 78848);
  // 18,432 + 36,864 + 9,216: 65,536 with the reserved KB.
  CHECK(price("flatten-split", {4096}, 1).counts.resident_blocks == 1);
  CHECK(price("flatten-split", {4096}, 1, 8, 9, hopper).counts.resident_blocks == 3);
}

TEST_CASE("an unknown variant names the known ones") {
  CHECK(attention_variant_names() ==
        "extend-serial|flatten-split|split-scalar|split-vector|packed");
  CHECK_THROWS_AS(find_attention_variant("pakced"), UserError);
  try {
    find_attention_variant("pakced");
  } catch (const UserError& error) {
    const std::string message = error.what();
    CHECK(message.find("cost.attention") != std::string::npos);
    CHECK(message.find("pakced") != std::string::npos);
    CHECK(message.find(attention_variant_names()) != std::string::npos);
  }
}
