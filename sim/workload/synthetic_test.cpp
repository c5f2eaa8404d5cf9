#include <algorithm>
#include <cmath>

#include "sim/workload/workload_test_support.h"

using namespace shiftpoint;
using namespace shiftpoint::test;

namespace {

constexpr std::int64_t kCount = 40001;  // 40,000 gaps
constexpr double kGaps = 40000;

WorkloadConfig synthetic_config() {
  WorkloadConfig config;
  config.kind = "synthetic";
  config.requests = kCount;
  config.rate_per_s = 5;
  return config;
}

// Gaps in units of the mean gap.
std::vector<double> relative_gaps(double cv, std::uint64_t seed = 11) {
  WorkloadConfig config = synthetic_config();
  config.arrival_cv = cv;
  const Workload w = make_workload(config, nullptr, "", seed);
  std::vector<double> gaps;
  for (std::size_t i = 1; i < w.requests.size(); ++i) {
    gaps.push_back(static_cast<double>(w.requests[i].arrival_ns - w.requests[i - 1].arrival_ns) *
                   1e-9 * config.rate_per_s);
  }
  return gaps;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

double variance_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double v : values) sum += (v - mean) * (v - mean);
  return sum / static_cast<double>(values.size());
}

double share_below(const std::vector<double>& values, double limit) {
  const auto below =
      std::count_if(values.begin(), values.end(), [limit](double value) { return value < limit; });
  return static_cast<double>(below) / static_cast<double>(values.size());
}

// Share below `limit` against its probability p, within 3 standard errors.
void check_share(const std::vector<double>& values, double limit, double p) {
  INFO("limit " << limit);
  const double standard_error = std::sqrt(p * (1 - p) / static_cast<double>(values.size()));
  CHECK(std::abs(share_below(values, limit) - p) < 3 * standard_error);
}

}  // namespace

TEST_CASE("gaps have the mean and variance of a Gamma distribution") {
  for (const double cv : {0.1, 0.5, 1.0, 1.5, 3.0}) {
    INFO("cv " << cv);
    const std::vector<double> gaps = relative_gaps(cv);
    CHECK(std::abs(mean_of(gaps) - 1) < 3 * cv / std::sqrt(kGaps));
    // Kurtosis of Gamma with shape 1/cv^2 is 3 + 6 cv^2, so the sample variance has standard error
    // cv^2 sqrt((2 + 6 cv^2) / n).
    const double standard_error = cv * cv * std::sqrt((2 + 6 * cv * cv) / kGaps);
    CHECK(std::abs(variance_of(gaps) - cv * cv) < 3 * standard_error);
  }
}

TEST_CASE("gaps follow the closed-form distributions of three shapes") {
  // Shape 1 (cv 1): 1 - e^-x. The general method just beside it must agree.
  for (const double cv : {1.0, 1.00001, 0.99999}) {
    INFO("cv " << cv);
    const std::vector<double> gaps = relative_gaps(cv);
    for (const double x : {0.01, 0.1, 0.693, 2.0, 5.0}) check_share(gaps, x, 1 - std::exp(-x));
  }
  // Shape 4 (cv 1/2), mean 1, so rate 4: Erlang, 1 - e^-y (1 + y + y^2/2 + y^3/6) at y = 4x.
  const std::vector<double> erlang = relative_gaps(0.5);
  for (const double x : {0.25, 0.5, 1.0, 1.5, 2.0}) {
    const double y = 4 * x;
    check_share(erlang, x, 1 - std::exp(-y) * (1 + y + y * y / 2 + y * y * y / 6));
  }
  // Shape 1/2 (cv sqrt 2): the square of a standard normal, P(Z^2 < x) = erf(sqrt(x / 2)).
  const std::vector<double> square = relative_gaps(std::sqrt(2.0));
  for (const double x : {0.001, 0.1, 0.455, 1.0, 4.0}) {
    check_share(square, x, std::erf(std::sqrt(x / 2)));
  }
}

TEST_CASE("cv 0 gives regular arrivals without drift") {
  WorkloadConfig config = synthetic_config();
  config.arrival_cv = 0;
  config.rate_per_s = 3;
  config.requests = 3001;
  const Workload w = make_workload(config, nullptr, "", 1);
  CHECK(w.requests[0].arrival_ns == 0);
  CHECK(w.requests[1].arrival_ns == 333'333'333);
  CHECK(w.requests[2].arrival_ns == 666'666'667);
  CHECK(w.requests[3000].arrival_ns == 1000 * kNanosPerSecond);
}

TEST_CASE("lengths are log-normal with the given mean and sigma") {
  WorkloadConfig config = synthetic_config();
  config.input_mean_tokens = 1024;
  config.input_sigma = 0.8;
  config.output_mean_tokens = 256;
  config.output_sigma = 0.6;
  const Workload w = make_workload(config, nullptr, "", 5);
  std::vector<double> log_input, log_output, input, output;
  for (const Request& r : w.requests) {
    input.push_back(static_cast<double>(r.input_tokens));
    output.push_back(static_cast<double>(r.output_tokens));
    log_input.push_back(std::log(input.back()));
    log_output.push_back(std::log(output.back()));
  }
  const double n = static_cast<double>(kCount);
  // Variance of the length is mean^2 (e^(sigma^2) - 1).
  CHECK(std::abs(mean_of(input) - 1024) < 3 * 1024 * std::sqrt((std::exp(0.64) - 1) / n));
  CHECK(std::abs(mean_of(output) - 256) < 3 * 256 * std::sqrt((std::exp(0.36) - 1) / n));
  // The logarithm is normal: mean ln(mean) - sigma^2 / 2, variance sigma^2 with standard error
  // sigma^2 sqrt(2 / n). Rounding at these lengths moves neither by a tenth of that.
  CHECK(std::abs(mean_of(log_input) - (std::log(1024.0) - 0.32)) < 3 * 0.8 / std::sqrt(n));
  CHECK(std::abs(mean_of(log_output) - (std::log(256.0) - 0.18)) < 3 * 0.6 / std::sqrt(n));
  CHECK(std::abs(variance_of(log_input) - 0.64) < 3 * 0.64 * std::sqrt(2 / n));
  CHECK(std::abs(variance_of(log_output) - 0.36) < 3 * 0.36 * std::sqrt(2 / n));
  // Median e^mu; one standard deviation below it lies 0.158655 of the mass.
  check_share(input, 1024 * std::exp(-0.32), 0.5);
  check_share(input, 1024 * std::exp(-0.32 - 0.8), 0.158655);
  // Independent: the correlation of the logarithms is 0 with standard error 1 / sqrt(n).
  const double mean_log_input = mean_of(log_input), mean_log_output = mean_of(log_output);
  double covariance = 0;
  for (std::size_t i = 0; i < log_input.size(); ++i) {
    covariance += (log_input[i] - mean_log_input) * (log_output[i] - mean_log_output) / n;
  }
  CHECK(std::abs(covariance / (0.8 * 0.6)) < 3 / std::sqrt(n));
}

TEST_CASE("sigma 0 gives the mean itself, short means at least one token") {
  WorkloadConfig config = synthetic_config();
  config.requests = 2000;
  config.input_sigma = 0;
  config.input_mean_tokens = 777;
  config.output_mean_tokens = 1;
  config.output_sigma = 2;
  const Workload w = make_workload(config, nullptr, "", 3);
  std::int64_t shortest = 1'000'000;
  for (const Request& r : w.requests) {
    CHECK(r.input_tokens == 777);
    shortest = std::min(shortest, r.output_tokens);
  }
  CHECK(shortest == 1);
}

TEST_CASE("draws belong to the request: other counts, rates and shapes do not shift them") {
  WorkloadConfig config = synthetic_config();
  config.requests = 500;
  config.arrival_cv = 2;
  const Workload base = make_workload(config, nullptr, "", 9);
  const Workload same = make_workload(config, nullptr, "", 9);
  const Workload other = make_workload(config, nullptr, "", 10);
  config.requests = 100;
  const Workload fewer = make_workload(config, nullptr, "", 9);
  config.rate_per_s = 50;
  const Workload faster = make_workload(config, nullptr, "", 9);
  std::size_t moved = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    const Request& r = base.requests[i];
    CHECK(same.requests[i].arrival_ns == r.arrival_ns);
    CHECK(fewer.requests[i].arrival_ns == r.arrival_ns);
    CHECK(fewer.requests[i].input_tokens == r.input_tokens);
    CHECK(fewer.requests[i].output_tokens == r.output_tokens);
    CHECK(faster.requests[i].input_tokens == r.input_tokens);
    CHECK(std::abs(static_cast<double>(faster.requests[i].arrival_ns) * 10 -
                   static_cast<double>(r.arrival_ns)) < 11);
    CHECK(r.id == static_cast<std::int64_t>(i));
    if (other.requests[i].input_tokens != r.input_tokens) ++moved;
    if (i > 0) CHECK(r.arrival_ns >= base.requests[i - 1].arrival_ns);
  }
  CHECK(moved > 90);
}

TEST_CASE("what does not fit the clock or a length is refused with the option to change") {
  WorkloadConfig config = synthetic_config();
  config.rate_per_s = 1e-9;  // a request in 32 years
  CHECK_THROWS_WITH(make_workload(config, nullptr, "", 1),
                    Catch::Matchers::StartsWith("'workload.rate_per_s': found 1e-09;"));
  config = synthetic_config();
  config.input_mean_tokens = 1e8;
  CHECK_THROWS_WITH(
      make_workload(config, nullptr, "", 1),
      Catch::Matchers::StartsWith("'workload.input_sigma': found 0.8, which gives request "));
  config = synthetic_config();
  config.max_context_tokens = 4096;
  CHECK_THROWS_WITH(make_workload(config, nullptr, "", 1),
                    Catch::Matchers::ContainsSubstring("requests above 4096 (requests "));
  config.clip = true;
  const Workload clipped = make_workload(config, nullptr, "", 1);
  config.max_context_tokens = 0;
  const Workload whole = make_workload(config, nullptr, "", 1);
  CHECK(clipped.counts.clipped_rows > 0);
  CHECK(total_input(clipped) + total_output(clipped) + clipped.counts.clipped_tokens ==
        total_input(whole) + total_output(whole));
}
