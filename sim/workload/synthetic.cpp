#include <cmath>

#include "sim/core/det_math.h"
#include "sim/core/error.h"
#include "sim/core/random.h"
#include "sim/workload/line_reader.h"
#include "sim/workload/workload_source.h"

namespace shiftpoint {
namespace {

// One attempt at a draw that may have to be repeated: block `attempt` of request `i`.
RandomBlock attempt_block(std::uint64_t seed, Stream stream, std::int64_t i,
                          std::uint32_t attempt) {
  return random_block(seed, stream, static_cast<std::uint32_t>(i), attempt, 0, 0);
}

// Marsaglia's polar method: two independent standard normals from two uniforms, exact, without
// sine or cosine. False with probability 1 - pi/4: try the next block.
bool polar_normals(const RandomBlock& block, double& first, double& second) {
  const double x = 2.0 * unit_interval(block[0]) - 1.0;
  const double y = 2.0 * unit_interval(block[1]) - 1.0;
  const double s = x * x + y * y;
  if (s >= 1.0) return false;  // s is never 0: unit_interval never gives 1/2
  const double radius = std::sqrt(-2.0 * det_log(s) / s);
  first = x * radius;
  second = y * radius;
  return true;
}

// Gamma with mean 1. Marsaglia and Tsang, "A simple method for generating gamma variables" (2000);
// shapes below 1 by their boost, G(k) = G(k + 1) * U^(1/k). A block has a word for each uniform:
// two for the normal, one for acceptance, one for the boost.
double gamma_mean_1(std::uint64_t seed, std::int64_t i, double shape) {
  const double d = (shape < 1.0 ? shape + 1.0 : shape) - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (std::uint32_t attempt = 0;; ++attempt) {
    const RandomBlock block = attempt_block(seed, Stream::kArrivals, i, attempt);
    double x = 0, unused = 0;
    if (!polar_normals(block, x, unused)) continue;
    const double root = 1.0 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (det_log(unit_interval(block[2])) >= 0.5 * x * x + d * (1.0 - v + det_log(v))) continue;
    const double boost = shape < 1.0 ? det_pow(unit_interval(block[3]), 1.0 / shape) : 1.0;
    return d * v * boost / shape;
  }
}

// Below this the Gamma's acceptance test drowns in rounding, and gaps differ by less than 1e-5 of
// the mean: they are taken as regular.
constexpr double kLeastCv = 1e-6;

// Gap before request i, in units of the mean gap.
double relative_gap(const WorkloadConfig& config, std::uint64_t seed, std::int64_t i) {
  if (config.arrival_cv < kLeastCv) return 1;
  if (config.arrival_cv == 1) {
    return -det_log(unit_interval(attempt_block(seed, Stream::kArrivals, i, 0)[0]));
  }
  return gamma_mean_1(seed, i, 1.0 / (config.arrival_cv * config.arrival_cv));
}

std::int64_t whole_tokens(double tokens, std::int64_t i, const char* field, double sigma) {
  if (!(tokens <= static_cast<double>(kMaxRequestTokens))) {
    throw_bad_input({}, field,
                    "found " + shortest_text(sigma) + ", which gives request " + std::to_string(i) +
                        " more than " + std::to_string(kMaxRequestTokens) + " tokens",
                    "a smaller sigma or mean");
  }
  return tokens < 1.0 ? 1 : std::llround(tokens);
}

void draw_lengths(const WorkloadConfig& config, std::uint64_t seed, std::int64_t i,
                  Request& request) {
  double z_input = 0, z_output = 0;
  std::uint32_t attempt = 0;
  while (!polar_normals(attempt_block(seed, Stream::kLengths, i, attempt), z_input, z_output)) {
    ++attempt;
  }
  // mean * e^(sigma z - sigma^2 / 2) has mean `mean`; with sigma 0 it is exactly `mean`.
  const auto log_normal = [](double mean, double sigma, double z) {
    return mean * det_exp(sigma * z - 0.5 * sigma * sigma);
  };
  request.input_tokens =
      whole_tokens(log_normal(config.input_mean_tokens, config.input_sigma, z_input), i,
                   "workload.input_sigma", config.input_sigma);
  request.output_tokens =
      whole_tokens(log_normal(config.output_mean_tokens, config.output_sigma, z_output), i,
                   "workload.output_sigma", config.output_sigma);
}

}  // namespace

Workload synthetic(const WorkloadConfig& config, std::uint64_t seed) {
  Workload workload;
  workload.format = "synthetic";
  workload.requests.resize(static_cast<std::size_t>(config.requests));
  const double mean_gap_ns = 1e9 / config.rate_per_s;
  double gaps = 0;  // sum so far, in mean gaps: regular arrivals stay exact multiples
  for (std::int64_t i = 0; i < config.requests; ++i) {
    Request& request = workload.requests[static_cast<std::size_t>(i)];
    if (i > 0) gaps += relative_gap(config, seed, i);
    const double arrival_ns = gaps * mean_gap_ns;
    if (!(arrival_ns < 9.2e18)) {  // 2^63 ns is 9.22e18
      throw_bad_input({}, "workload.rate_per_s", "found " + shortest_text(config.rate_per_s),
                      "a rate at which all requests arrive within 292 years");
    }
    request.arrival_ns = std::llround(arrival_ns);
    draw_lengths(config, seed, i, request);
  }
  return workload;
}

}  // namespace shiftpoint
