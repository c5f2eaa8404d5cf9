// A set of expert ids as bits: what routers and placements count distinct experts with.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace shiftpoint {

// Holds ids below the `experts` given at construction, at most 65536; only their words are touched.
class ExpertSet {
 public:
  explicit ExpertSet(std::int64_t experts) {
    std::fill_n(words_.begin(), (experts + 63) / 64, std::uint64_t{0});
  }

  void insert(std::uint32_t id) { words_[id >> 6] |= std::uint64_t{1} << (id & 63); }

  // Members in [begin, end).
  std::int64_t count(std::int64_t begin, std::int64_t end) const {
    if (begin >= end) return 0;
    const auto first = static_cast<std::size_t>(begin >> 6);
    const auto last = static_cast<std::size_t>((end - 1) >> 6);
    const std::uint64_t from = ~std::uint64_t{0} << (begin & 63);
    const std::uint64_t to = ~std::uint64_t{0} >> (63 - ((end - 1) & 63));
    if (first == last) return std::popcount(words_[first] & from & to);
    std::int64_t members = std::popcount(words_[first] & from) + std::popcount(words_[last] & to);
    for (std::size_t w = first + 1; w < last; ++w) members += std::popcount(words_[w]);
    return members;
  }

 private:
  std::array<std::uint64_t, 1024> words_;
};

}  // namespace shiftpoint
