#include "kernels/verify_attention/split_plan.h"

#include "sim/test_support/catch.h"

namespace shiftpoint {

TEST_CASE("splits cover every token once and none is empty") {
  for (const std::int64_t tokens : {1, 15, 16, 17, 1000, 1033, 131081}) {
    for (const int nsplit : {1, 2, 7, 66, 256}) {
      const SplitPlan plan = plan_splits(tokens, 32, 2, nsplit);
      INFO(tokens << " tokens, nsplit " << nsplit);
      REQUIRE(plan.used >= 1);
      REQUIRE(plan.used <= nsplit);
      CHECK(plan.first_token(0) == 0);
      CHECK(plan.first_token(plan.used) == tokens);
      for (int split = 0; split < plan.used; ++split) {
        CHECK(plan.first_token(split) < plan.first_token(split + 1));
        CHECK(plan.first_token(split) % 32 == 0);
      }
    }
  }
}

TEST_CASE("split sizes differ by at most one unit") {
  // 100 tokens are 7 units of 16; over 4 splits 2, 2, 2, 1.
  const SplitPlan plan = plan_splits(100, 16, 1, 4);
  CHECK(plan.units == 7);
  CHECK(plan.first_unit(1) == 2);
  CHECK(plan.first_unit(2) == 4);
  CHECK(plan.first_unit(3) == 6);
  CHECK(plan.first_unit(4) == 7);
}

TEST_CASE("short and empty requests use fewer splits") {
  CHECK(plan_splits(0, 32, 2, 16).used == 0);
  // 130 tokens are 5 units; at least 2 units a split leaves ceil(5 / 2) = 3.
  CHECK(plan_splits(130, 32, 2, 16).used == 3);
}

}  // namespace shiftpoint
