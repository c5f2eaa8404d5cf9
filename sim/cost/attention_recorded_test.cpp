// The analytic times against what this project's own kernels took on an H200
// (data/profiles/nvidia-h200/verify_attention.csv). The model's constants are fitted to public
// kernels, not to these, so this is a check of the model and no fit.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "sim/cost/attention_time.h"
#include "sim/cost/preset_for_test.h"

using namespace shiftpoint;

namespace {

using Row = std::map<std::string, std::string>;

std::vector<std::string> split_cells(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

std::vector<Row> read_rows(std::istream& file) {
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> header = split_cells(line);
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = split_cells(line);
    REQUIRE(cells.size() <= header.size());
    Row row;
    for (std::size_t i = 0; i < cells.size(); ++i) row[header[i]] = cells[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

struct Sum {
  int points = 0;
  double squares = 0, logs = 0, worst = 0;
  std::string where;
};

}  // namespace

TEST_CASE("the model against the recorded H200 profile of this project's kernels") {
  std::ifstream file(test::source_dir() / "data/profiles/nvidia-h200/verify_attention.csv");
  if (!file) SHIFTPOINT_SKIP("no recorded profile");
  const auto h200 = test::read_preset("hardware/h200-sxm.cfg", kHardwareOptions);
  // The articles' kernels at each recorded NSPLIT; the two that choose their own, in the model as
  // in the program, at the best recorded one. (variant, batch, context, nsplit) -> us.
  using Point = std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t>;
  std::map<Point, double> recorded_us;
  for (const Row& row : read_rows(file)) {
    const std::string& variant = row.at("variant");
    const std::int64_t context = std::stoll(row.at("context_tokens"));
    if (row.at("layout") != "random" || row.at("heads") != "8" || variant.starts_with("packed-") ||
        context < 1024 || row.at("contexts") != row.at("context_tokens")) {  // unequal lengths
      continue;
    }
    const bool plans = variant == "packed" || variant == "flatten-split";
    const Point point{variant, std::stoll(row.at("batch")), context,
                      plans ? 0 : std::stoll(row.at("nsplit"))};
    const double us = std::stod(row.at("median_us"));
    const auto [place, fresh] = recorded_us.emplace(point, us);
    if (!fresh) place->second = std::min(place->second, us);
  }
  std::map<std::string, Sum> sums;
  for (const auto& [point, us] : recorded_us) {
    const auto& [variant, batch, context, nsplit] = point;
    const std::vector<std::int64_t> contexts(static_cast<std::size_t>(batch), context);
    AttentionShape shape;
    shape.context_tokens = contexts;
    shape.nsplit = nsplit;
    const double ratio = find_attention_variant(variant).time(shape, h200).us / us;
    Sum& sum = sums[variant];
    ++sum.points;
    sum.squares += (ratio - 1) * (ratio - 1);
    sum.logs += std::log(ratio);
    if (std::abs(ratio - 1) > std::abs(sum.worst)) {
      sum.worst = ratio - 1;
      sum.where = "batch " + std::to_string(batch) + " context " + std::to_string(context) +
                  " nsplit " + std::to_string(nsplit);
    }
  }
  // Stated: rms, and model / recorded on average. The model prices the public Triton kernels under
  // the names extend-serial and flatten-split; this project's emulations of them are about 1.5
  // times faster, which flatters nobody as long as it is said. packed and the articles' kernels are
  // priced as they are, 8 to 12 % fast on average.
  struct Stated {
    double rms_most, average_least, average_most;
  };
  const std::map<std::string, Stated> stated = {{"extend-serial", {0.60, 1.4, 1.6}},
                                                {"flatten-split", {0.70, 1.4, 1.7}},
                                                {"split-scalar", {0.18, 0.8, 1.0}},
                                                {"split-vector", {0.18, 0.8, 1.0}},
                                                {"packed", {0.22, 0.8, 1.0}}};
  REQUIRE(sums.size() == stated.size());
  for (const auto& [variant, sum] : sums) {
    const double rms = std::sqrt(sum.squares / sum.points);
    const double average = std::exp(sum.logs / sum.points);
    std::printf(
        "%s: %d points, model / recorded %.2f on average, rms %.0f %%, worst %+.0f %% at %s\n",
        variant.c_str(), sum.points, average, 100 * rms, 100 * sum.worst, sum.where.c_str());
    INFO(variant);
    CHECK(rms <= stated.at(variant).rms_most);
    CHECK(average >= stated.at(variant).average_least);
    CHECK(average <= stated.at(variant).average_most);
  }
}
