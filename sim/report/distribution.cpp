#include "sim/report/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace shiftpoint {

nlohmann::ordered_json distribution_ms(std::vector<Nanos> values_ns) {
  nlohmann::ordered_json json;
  const std::size_t n = values_ns.size();
  json["count"] = n;
  if (n == 0) {
    for (const char* name : {"mean", "p50", "p90", "p99", "max"}) json[name] = nullptr;
    return json;
  }
  std::sort(values_ns.begin(), values_ns.end());
  Nanos sum = 0;
  for (const Nanos ns : values_ns) sum += ns;
  const auto quantile = [&](std::size_t percent) {
    return ms_from_nanos(values_ns[(percent * n + 99) / 100 - 1]);
  };
  json["mean"] = ms_from_nanos(sum) / static_cast<double>(n);
  json["p50"] = quantile(50);
  json["p90"] = quantile(90);
  json["p99"] = quantile(99);
  json["max"] = ms_from_nanos(values_ns.back());
  return json;
}

std::string ms_text(Nanos ns) {
  if (ns < 0) return {};
  return fmt::format("{}.{:06}", ns / kNanosPerMilli, ns % kNanosPerMilli);
}

}  // namespace shiftpoint
