#include "kernels/bench/points.h"

#include <cstdlib>

namespace shiftpoint {
namespace {

BenchPoint uniform(const std::string& variant, std::int64_t context, int batch) {
  BenchPoint point;
  point.variant = variant;
  point.contexts.assign(static_cast<std::size_t>(batch), context);
  return point;
}

void add_bars(std::vector<BenchPoint>& points, const std::string& variant) {
  for (const std::int64_t context : {1024, 4096, 16384, 65536, 131072}) {
    points.push_back(uniform(variant, context, 1));
  }
  for (const std::int64_t context : {16384, 65536, 131072}) {
    points.push_back(uniform(variant, context, 8));
  }
  points.push_back(uniform(variant, 65536, 32));
}

// One call of extend-serial at 196,608 takes 40 ms and scales linearly: the slow variants skip what
// a straight line gives.
bool too_slow(const std::string& variant, std::int64_t context, int batch) {
  const bool slow =
      variant == "extend-serial" || variant == "split-scalar" || variant == "split-vector";
  return slow && context * batch > 600000;
}

void add_full(std::vector<BenchPoint>& points, const std::string& variant) {
  for (const int batch : {1, 2, 4, 8, 16, 32, 64}) {
    for (const std::int64_t context : {256, 1024, 4096, 16384, 32768, 65536, 131072, 196608}) {
      if (context * batch > 4200000 || too_slow(variant, context, batch)) {
        continue;
      }
      for (const char* layout : {"random", "contiguous"}) {
        BenchPoint point = uniform(variant, context, batch);
        point.layout = layout;
        points.push_back(point);
      }
    }
  }
  BenchPoint skewed;
  skewed.variant = variant;
  skewed.contexts = {4641, 45118, 1730, 1696};
  points.push_back(skewed);
  for (const std::int64_t context : {4096, 65536}) {
    BenchPoint wide = uniform(variant, context, 1);
    wide.heads = 64;
    points.push_back(wide);
  }
}

void add_splits(std::vector<BenchPoint>& points, const std::string& variant) {
  if (variant == "extend-serial") {
    return;
  }
  for (const std::int64_t context : {4096, 16384, 65536}) {
    for (const int nsplit : {1, 2, 4, 8, 16, 32, 64, 128, 256}) {
      BenchPoint point = uniform(variant, context, 1);
      point.nsplit = nsplit;
      points.push_back(point);
    }
  }
}

BenchPoint single_point(const std::string& text, const std::string& variant) {
  char* end = nullptr;
  const long long context = std::strtoll(text.c_str(), &end, 10);
  const long long batch = *end == 'x' ? std::strtoll(end + 1, &end, 10) : 0;
  if (context < 1 || batch < 1 || *end != 0) {
    throw KernelError("point set '" + text +
                      "' is unknown; accepted: bars, full, splits, or CONTEXTxBATCH");
  }
  return uniform(variant, context, static_cast<int>(batch));
}

}  // namespace

std::vector<BenchPoint> named_points(const std::string& set,
                                     const std::vector<std::string>& variants) {
  std::vector<BenchPoint> points;
  for (const std::string& variant : variants) {
    if (set == "bars") {
      add_bars(points, variant);
    } else if (set == "full") {
      add_full(points, variant);
    } else if (set == "splits") {
      add_splits(points, variant);
    } else {
      points.push_back(single_point(set, variant));
    }
  }
  return points;
}

}  // namespace shiftpoint
