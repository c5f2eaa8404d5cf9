#include "sim/speculation/acceptance.h"

#include <chrono>
#include <cmath>

#include "sim/core/error.h"
#include "sim/speculation/acceptance_models.h"
#include "sim/speculation/geometric.h"
#include "sim/test_support/catch.h"

using namespace shiftpoint;

namespace {

SpeculationConfig per_position(std::int64_t drafts, const std::vector<double>& conditional) {
  SpeculationConfig config;
  config.draft_tokens = drafts + 1;
  config.conditional = conditional;
  return config;
}

SpeculationConfig by_context(std::int64_t draft_tokens, const std::vector<double>& contexts,
                             const std::vector<double>& lengths) {
  SpeculationConfig config;
  config.acceptance = "length-by-context";
  config.draft_tokens = draft_tokens;
  config.length_context_tokens = contexts;
  config.length_tokens = lengths;
  return config;
}

// Mean accepted + 1 over `count` steps against expected_length, in standard errors. The variance is
// that of the reach probabilities: E[A] = sum r_i, E[A^2] = sum (2 i - 1) r_i.
double deviation(const AcceptanceModel& model, const std::vector<double>& reach,
                 std::int64_t context) {
  double first = 0, second = 0;
  for (std::size_t i = 0; i < reach.size(); ++i) {
    first += reach[i];
    second += (2.0 * static_cast<double>(i + 1) - 1.0) * reach[i];
  }
  CHECK(model.expected_length(context) == Approx(1 + first).epsilon(1e-12));
  const int count = 40000;
  double sum = 0;
  for (int step = 0; step < count; ++step) {
    sum += static_cast<double>(model.accepted(21, step / 100, step % 100, context));
  }
  return (sum / count - first) / std::sqrt((second - first * first) / count);
}

std::string error_of(const SpeculationConfig& config) {
  try {
    make_acceptance(config);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("certain drafts are all accepted, impossible ones never, none where there are none") {
  for (const std::int64_t drafts : {0, 1, 4, 9, 30}) {
    const auto sure = make_acceptance(per_position(drafts, {1.0}));
    const auto never = make_acceptance(per_position(drafts, {0.0}));
    for (std::int64_t step = 0; step < 200; ++step) {
      CHECK(sure->accepted(1, 3, step, 4096) == drafts);
      CHECK(never->accepted(1, 3, step, 4096) == 0);
    }
    CHECK(sure->expected_length(4096) == static_cast<double>(drafts + 1));
    CHECK(never->expected_length(4096) == 1);  // the bonus token: 1, not 0
  }
  const auto sure = make_acceptance(by_context(9, {1024}, {9}));
  const auto never = make_acceptance(by_context(9, {1024}, {1}));
  const auto none = make_acceptance(by_context(1, {1024}, {1}));
  for (std::int64_t step = 0; step < 200; ++step) {
    CHECK(sure->accepted(1, 3, step, 1024) == 8);
    CHECK(never->accepted(1, 3, step, 1024) == 0);
    CHECK(none->accepted(1, 3, step, 1024) == 0);
  }
}

TEST_CASE("nothing counts after the first failure") {
  // [T,F,T,T] -> 1 (vllm issues 2658 and 10604), [F,T,F,F,F] -> 0, [T,T,F,T] -> 2.
  const auto tftt = make_acceptance(per_position(4, {1, 0, 1, 1}));
  const auto ftfff = make_acceptance(per_position(5, {0, 1, 0, 0, 0}));
  const auto ttft = make_acceptance(per_position(4, {1, 1, 0, 1}));
  for (std::int64_t step = 0; step < 100; ++step) {
    CHECK(tftt->accepted(5, 0, step, 1) == 1);
    CHECK(ftfff->accepted(5, 0, step, 1) == 0);
    CHECK(ttft->accepted(5, 0, step, 1) == 2);
  }
  CHECK(tftt->expected_length(1) == 2);
  CHECK(ftfff->expected_length(1) == 1);
  CHECK(ttft->expected_length(1) == 3);
}

TEST_CASE("constant conditionals give the geometric lengths") {
  // (1 - a^(K+1)) / (1 - a) at K = 1, 2, 3, 4, 5, 7, 8, to the printed four digits.
  const std::int64_t drafts[] = {1, 2, 3, 4, 5, 7, 8};
  const struct {
    double alpha;
    double length[7];
  } rows[] = {
      {0.5, {1.5, 1.75, 1.875, 1.9375, 1.9688, 1.9922, 1.9961}},
      {0.7, {1.7, 2.19, 2.533, 2.7731, 2.9412, 3.1412, 3.1988}},
      {0.8, {1.8, 2.44, 2.952, 3.3616, 3.6893, 4.1611, 4.3289}},
      {0.9, {1.9, 2.71, 3.439, 4.0951, 4.6856, 5.6953, 6.1258}},
  };
  for (const auto& row : rows) {
    for (int k = 0; k < 7; ++k) {
      INFO("alpha " << row.alpha << " drafts " << drafts[k]);
      const auto model = make_acceptance(per_position(drafts[k], {row.alpha}));
      CHECK(std::abs(model->expected_length(4096) - row.length[k]) <= 0.5e-4 + 1e-12);
      const double quotient =
          (1 - std::pow(row.alpha, static_cast<double>(drafts[k] + 1))) / (1 - row.alpha);
      CHECK(model->expected_length(4096) == Approx(quotient).epsilon(1e-14));
      CHECK(geometric_length(row.alpha, drafts[k] + 1) == Approx(quotient).epsilon(1e-14));
    }
  }
}

TEST_CASE("per-position rates give 1 + their products, the last one repeating") {
  // Qwen3.5 MTP, unconditional 0.85/0.67/0.51/0.36/0.31: 1 + sum = 3.70.
  const auto mtp =
      make_acceptance(per_position(5, {0.85, 0.67 / 0.85, 0.51 / 0.67, 0.36 / 0.51, 0.31 / 0.36}));
  CHECK(mtp->expected_length(1) == Approx(3.70).epsilon(1e-12));
  // 1 + .9 + .9 * .5 + .9 * .5^2 + .9 * .5^3 = 2.6875.
  const auto repeating = make_acceptance(per_position(4, {0.9, 0.5}));
  CHECK(repeating->expected_length(1) == Approx(2.6875).epsilon(1e-14));
  // Entries beyond the drafts are not used: 1 + .9.
  CHECK(make_acceptance(per_position(1, {0.9, 0.5}))->expected_length(1) == Approx(1.9));
}

TEST_CASE("sample means lie within 3 standard errors of the expected length") {
  const auto mixed = make_acceptance(per_position(6, {0.9, 0.8, 0.5}));
  std::vector<double> reach = {0.9, 0.72, 0.36, 0.18, 0.09, 0.045};
  CHECK(std::abs(deviation(*mixed, reach, 4096)) < 3);
  for (const double alpha : {0.2, 0.75, 0.97}) {
    INFO("alpha " << alpha);
    for (int i = 0; i < 6; ++i) reach[static_cast<std::size_t>(i)] = std::pow(alpha, i + 1);
    CHECK(std::abs(deviation(*make_acceptance(per_position(6, {alpha})), reach, 4096)) < 3);
    const double length = geometric_length(alpha, 7);
    CHECK(std::abs(deviation(*make_acceptance(by_context(7, {4096}, {length})), reach, 4096)) < 3);
  }
}

TEST_CASE("draws depend on seed, request and step, and more likely drafts never accept less") {
  const auto low = make_acceptance(per_position(8, {0.6}));
  const auto high = make_acceptance(per_position(8, {0.8}));
  const auto longer = make_acceptance(per_position(12, {0.6}));
  // The geometric model of the same mean has the same luck, step by step.
  const auto table = make_acceptance(by_context(9, {1024}, {geometric_length(0.6, 9)}));
  int differ_seed = 0, differ_request = 0, differ_step = 0;
  for (std::int64_t step = 0; step < 1000; ++step) {
    const std::int64_t base = low->accepted(1, 2, step, 1024);
    CHECK(low->accepted(1, 2, step, 99) == base);
    CHECK(high->accepted(1, 2, step, 1024) >= base);
    CHECK(std::min<std::int64_t>(longer->accepted(1, 2, step, 1024), 8) == base);
    CHECK(table->accepted(1, 2, step, 1024) == base);
    differ_seed += low->accepted(9, 2, step, 1024) != base ? 1 : 0;
    differ_request += low->accepted(1, 3, step, 1024) != base ? 1 : 0;
    differ_step += low->accepted(1, 2, step + 1000, 1024) != base ? 1 : 0;
  }
  // Two independent draws agree with probability sum of p_a^2 = 0.26: about 740 differ.
  for (const int differ : {differ_seed, differ_request, differ_step}) {
    CHECK(differ > 690);
    CHECK(differ < 790);
  }
}

TEST_CASE("mean length is linear in log2(context) and constant outside the table") {
  const auto model = make_acceptance(by_context(9, {1024, 4096, 65536}, {5.0, 4.0, 2.0}));
  CHECK(model->expected_length(0) == 5.0);
  CHECK(model->expected_length(1) == 5.0);
  CHECK(model->expected_length(1024) == 5.0);
  CHECK(model->expected_length(2048) == Approx(4.5).epsilon(1e-14));  // half of two octaves
  CHECK(model->expected_length(4096) == Approx(4.0).epsilon(1e-14));
  CHECK(model->expected_length(8192) == Approx(3.5).epsilon(1e-14));  // a quarter of four octaves
  CHECK(model->expected_length(32768) == Approx(2.5).epsilon(1e-14));
  CHECK(model->expected_length(65536) == 2.0);
  CHECK(model->expected_length(1 << 20) == 2.0);
  // And the sample follows the context.
  const GeometricInverse inverse(9);
  const double alpha = inverse.alpha(3.5);
  std::vector<double> reach;
  for (int i = 1; i <= 8; ++i) reach.push_back(std::pow(alpha, i));
  CHECK(std::abs(deviation(*model, reach, 8192)) < 3);
}

TEST_CASE("alpha for a mean length: published values, and accuracy over the whole range") {
  // K = 7 (8 nodes), three digits.
  const GeometricInverse seven(8);
  CHECK(std::abs(seven.alpha(5.5) - 0.889) < 0.5e-3);
  CHECK(std::abs(seven.alpha(5.3) - 0.878) < 0.5e-3);
  CHECK(std::abs(seven.alpha(4.5) - 0.826) < 0.5e-3);
  CHECK(std::abs(seven.alpha(3.7) - 0.760) < 0.5e-3);
  CHECK(std::abs(seven.alpha(3.0) - 0.682) < 0.5e-3);
  CHECK(std::abs(seven.alpha(2.28) - 0.566) < 0.5e-3);
  for (const std::int64_t nodes : {2, 3, 5, 9, 17, 64, 1024}) {
    INFO("nodes " << nodes);
    const GeometricInverse inverse(nodes);
    CHECK(inverse.alpha(1.0) == 0);
    CHECK(inverse.alpha(static_cast<double>(nodes)) == 1);
    double worst = 0, before = 0;
    bool ascending = true;
    for (int i = 0; i <= 5000; ++i) {
      // Denser towards short lengths, which is where real ones lie.
      const double u = i / 5000.0;
      const double length = 1 + static_cast<double>(nodes - 1) * u * u * u;
      const double alpha = inverse.alpha(length);
      worst = std::max(worst, std::abs(geometric_length(alpha, nodes) / length - 1));
      ascending = ascending && alpha >= before && alpha <= 1;
      before = alpha;
    }
    CHECK(worst < 1e-12);
    CHECK(ascending);
  }
}

TEST_CASE("lists that do not fit are refused, naming the option") {
  CHECK(
      error_of(per_position(4, {})).starts_with("'speculation.conditional': found an empty list"));
  CHECK(error_of(per_position(4, {0.5, 1.1})).starts_with("'speculation.conditional': found 1.1"));
  CHECK(error_of(per_position(4, {std::nan("")})).starts_with("'speculation.conditional': found"));
  CHECK(error_of(per_position(-1, {0.5})).starts_with("'speculation.draft_tokens': found 0"));
  CHECK(
      error_of(by_context(9, {}, {})).starts_with("'speculation.length_context_tokens': found an"));
  CHECK(error_of(by_context(9, {1024, 2048}, {3}))
            .starts_with("'speculation.length_tokens': found 1 lengths for 2 contexts"));
  CHECK(error_of(by_context(9, {1024, 1024}, {3, 2}))
            .starts_with("'speculation.length_context_tokens': found 1024.000000 at entry 2"));
  CHECK(error_of(by_context(9, {0.5}, {3})).starts_with("'speculation.length_context_tokens':"));
  CHECK(error_of(by_context(9, {1024}, {9.5}))
            .starts_with("'speculation.length_tokens': found 9.500000 at entry 1; accepted: 1 to "
                         "speculation.draft_tokens (9)"));
  CHECK(
      error_of(by_context(9, {1024}, {0.5})).starts_with("'speculation.length_tokens': found 0.5"));
  SpeculationConfig unknown;
  unknown.acceptance = "oracle";
  CHECK(error_of(unknown) ==
        "'speculation.acceptance': found 'oracle'; accepted: per-position|length-by-context");
}

// Hidden: prints the cost of a call. Run it by name.
TEST_CASE("cost of one call", "[.performance]") {
  const auto fixed = make_acceptance(per_position(8, {0.75}));
  const auto table = make_acceptance(by_context(9, {1024, 65536}, {4.0, 2.0}));
  for (const AcceptanceModel* model : {fixed.get(), table.get()}) {
    const auto start = std::chrono::steady_clock::now();
    std::int64_t sum = 0;
    for (std::int64_t step = 0; step < 1'000'000; ++step) {
      sum += model->accepted(1, step % 64, step / 64, 1024 + step % 50000);
    }
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    std::cout << spent.count() / 1e6 << " ns a call, mean accepted "
              << static_cast<double>(sum) / 1e6 << '\n';
    CHECK(spent.count() / 1e6 < 1000);
  }
}
