#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <sstream>

#include "sim/core/error.h"
#include "sim/moe/routing.h"
#include "sim/test_support/catch.h"

using namespace shiftpoint;

namespace {

// A printed number stands for all that round to it: half a unit of its last digit.
bool prints_as(double value, double printed, double last_digit) {
  return std::abs(value - printed) <= 0.5000001 * last_digit;
}

}  // namespace

TEST_CASE("closed forms print the exact values for 8 of 384 experts over 8 ranks") {
  // Computed apart from this code in rational arithmetic with big integers (the Markov chain on
  // the activated experts and binomial coefficients), for the shape that Kimi K2's public
  // config.json gives. Last column: unit of the last printed digit of P(rank idle); 0: not printed.
  struct Row {
    std::int64_t tokens;
    double activated, activated_digit, most, ratio, idle, idle_digit;
  };
  const Row rows[] = {
      {1, 8.0000, 1e-4, 2.5750, 2.575, 0.3400, 1e-4},
      {2, 15.8333, 1e-4, 4.1114, 2.077, 0.1156, 1e-4},
      {4, 31.0138, 1e-4, 6.7299, 1.736, 0.01336, 1e-5},
      {8, 59.5228, 1e-4, 11.1497, 1.499, 1.79e-4, 1e-6},
      {9, 66.2827, 1e-4, 12.1455, 1.466, 6.07e-5, 1e-7},
      {16, 109.819, 1e-3, 18.2687, 1.331, 3.2e-8, 1e-9},
      {32, 188.231, 1e-3, 28.4497, 1.209, 0, 0},
      {64, 284.194, 1e-3, 39.7148, 1.118, 0, 0},
      {128, 358.059, 1e-3, 46.9640, 1.049, 0, 0},
      {256, 382.248, 1e-3, 48.0000, 1.005, 0, 0},
      {512, 383.992, 1e-3, 48.0000, 1.000, 0, 0},
  };
  for (const Row& row : rows) {
    INFO("tokens " << row.tokens);
    const double activated = expected_activated_experts(384, 8, row.tokens);
    const double most = expected_max_rank_experts(384, 8, 8, row.tokens);
    const double idle = idle_rank_probability(384, 8, 8, row.tokens);
    INFO("activated " << activated << " most " << most << " idle " << idle);
    CHECK(prints_as(activated, row.activated, row.activated_digit));
    CHECK(prints_as(most, row.most, 1e-4));
    CHECK(prints_as(most * 8 / activated, row.ratio, 1e-3));
    if (row.idle_digit > 0) CHECK(prints_as(idle, row.idle, row.idle_digit));
  }
}

TEST_CASE("closed forms agree with the table of seven model shapes") {
  const auto path = test::shared_dir() / "data/experts/uniform-routing-exact/uniform_topk.csv";
  std::ifstream file(path);
  if (test::shared_dir().empty() || !file) SHIFTPOINT_SKIP("no table of exact routing values");
  std::string line;
  std::getline(file, line);
  REQUIRE(line ==
          "preset,experts,top_k,ranks,tokens,mean_distinct,sd_distinct,"
          "mean_max_distinct_per_rank,ratio_of_means,prob_given_rank_idle");
  int rows = 0;
  while (std::getline(file, line)) {
    INFO(line);
    std::istringstream in(line);
    std::string preset;
    char comma = 0;
    std::int64_t experts = 0, k = 0, ranks = 0, tokens = 0;
    double activated = 0, deviation = 0, most = 0, ratio = 0, idle = 0;
    std::getline(in, preset, ',');
    in >> experts >> comma >> k >> comma >> ranks >> comma >> tokens >> comma >> activated >>
        comma >> deviation >> comma >> most >> comma >> ratio >> comma >> idle;
    REQUIRE(in);
    CHECK(prints_as(expected_activated_experts(experts, k, tokens), activated, 1e-6));
    CHECK(prints_as(expected_max_rank_experts(experts, k, ranks, tokens), most, 1e-6));
    // Seven digits; the smallest are below the range of normal numbers.
    CHECK(std::abs(idle_rank_probability(experts, k, ranks, tokens) - idle) <=
          0.50001e-6 * idle + 1e-300);
    ++rows;
  }
  CHECK(rows == 273);
}

namespace {

struct Enumerated {
  double activated = 0, idle = 0, most = 0;
};

// All choices of `tokens` subsets (as bit masks), each equally likely.
Enumerated enumerate(int experts, int k, int ranks, int tokens) {
  std::vector<unsigned> subsets;
  for (unsigned mask = 0; mask < 1U << experts; ++mask) {
    if (std::popcount(mask) == k) subsets.push_back(mask);
  }
  std::vector<std::int64_t> ways(std::size_t{1} << experts, 0);  // by set of activated experts
  ways[0] = 1;
  for (int t = 0; t < tokens; ++t) {
    std::vector<std::int64_t> next(ways.size(), 0);
    for (std::size_t set = 0; set < ways.size(); ++set) {
      for (const unsigned subset : subsets) next[set | subset] += ways[set];
    }
    ways = next;
  }
  Enumerated sum;
  double all = 0;
  const unsigned rank_mask = (1U << (experts / ranks)) - 1;
  for (unsigned set = 0; set < ways.size(); ++set) {
    const auto weight = static_cast<double>(ways[set]);
    int most = 0;
    for (int r = 0; r < ranks; ++r) {
      most = std::max(most, std::popcount(set >> (r * experts / ranks) & rank_mask));
    }
    all += weight;
    sum.activated += weight * std::popcount(set);
    sum.idle += weight * ((set & rank_mask) == 0 ? 1 : 0);
    sum.most += weight * most;
  }
  return {sum.activated / all, sum.idle / all, sum.most / all};
}

}  // namespace

TEST_CASE("closed forms equal an enumeration of all choices of small shapes") {
  for (const int experts : {4, 6, 8}) {
    for (const int k : {1, 2, 3, experts}) {
      for (const int ranks : {1, 2, experts / 2, experts}) {
        for (const int tokens : {0, 1, 2, 3, 5}) {
          INFO(experts << " experts, k " << k << ", ranks " << ranks << ", tokens " << tokens);
          const Enumerated exact = enumerate(experts, k, ranks, tokens);
          CHECK(std::abs(expected_activated_experts(experts, k, tokens) - exact.activated) < 1e-13);
          CHECK(std::abs(idle_rank_probability(experts, k, ranks, tokens) - exact.idle) < 1e-14);
          CHECK(std::abs(expected_max_rank_experts(experts, k, ranks, tokens) - exact.most) <
                1e-13);
        }
      }
    }
  }
}

TEST_CASE("identities of uniform routing") {
  for (const std::int64_t k : {1, 4, 8, 64}) {
    CHECK(expected_activated_experts(384, k, 1) == static_cast<double>(k));
    CHECK(expected_max_rank_experts(384, k, 384, 1) == Approx(1).epsilon(1e-14));
  }
  for (const std::int64_t tokens : {1, 2, 9, 64}) {
    CHECK(expected_activated_experts(64, 64, tokens) == 64.0);
    CHECK(expected_max_rank_experts(64, 64, 8, tokens) == Approx(8).epsilon(1e-14));
    CHECK(idle_rank_probability(64, 64, 8, tokens) == 0.0);
    CHECK(idle_rank_probability(384, 8, 1, tokens) == 0.0);
    const double activated = expected_activated_experts(384, 8, tokens);
    CHECK(expected_max_rank_experts(384, 8, 1, tokens) == Approx(activated).epsilon(1e-12));
    double before = 1e9;
    for (const std::int64_t ranks : {1, 2, 4, 8, 16, 48}) {
      const double most = expected_max_rank_experts(384, 8, ranks, tokens);
      CHECK(most * static_cast<double>(ranks) >= activated * (1 - 1e-12));
      CHECK(most < before);  // finer ranks hold less
      before = most;
    }
  }
  // One token over 8 ranks of 48: [C(336, 8) / C(384, 8)]^T, by the ratio of 8 factors.
  const double idle = 336. / 384 * 335 / 383 * 334 / 382 * 333 / 381 * 332 / 380 * 331 / 379 * 330 /
                      378 * 329 / 377;
  CHECK(idle_rank_probability(384, 8, 8, 1) == Approx(idle).epsilon(1e-14));
  CHECK(idle_rank_probability(384, 8, 8, 3) == Approx(idle * idle * idle).epsilon(1e-14));
}

TEST_CASE("closed forms keep their range at both ends") {
  // Nearly all experts activated, and a large model where powers of 1/2 would underflow.
  CHECK(expected_max_rank_experts(384, 8, 8, 4096) == Approx(48).epsilon(1e-12));
  const double activated = expected_activated_experts(2048, 8, 16);
  const double most = expected_max_rank_experts(2048, 8, 2, 16);
  CHECK(most > activated / 2);
  CHECK(most < activated / 2 * 1.1);
  CHECK_THROWS_AS(expected_max_rank_experts(384, 8, 7, 9), InvariantError);
  CHECK_THROWS_AS(idle_rank_probability(384, 8, 0, 9), InvariantError);
  CHECK_THROWS_AS(expected_activated_experts(8, 9, 1), InvariantError);
  CHECK_THROWS_AS(expected_activated_experts(8, 2, -1), InvariantError);
}
