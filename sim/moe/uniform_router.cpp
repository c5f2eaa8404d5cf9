// Every k-subset of the experts is equally likely, independently for each token and layer. A token
// draws its subset by Floyd's method (Bentley and Floyd, "A sample of brilliance", CACM 30(9),
// 1987): k draws, of sizes experts-k+1 .. experts, and no retry for an expert that it already has.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "sim/core/error.h"
#include "sim/core/random.h"
#include "sim/moe/routing.h"

namespace shiftpoint {
namespace {

class UniformRouter final : public Router {
 public:
  UniformRouter(std::int64_t experts, std::int64_t experts_per_token)
      : experts_(static_cast<std::uint32_t>(experts)),
        k_(static_cast<std::uint32_t>(experts_per_token)) {
    for (std::uint32_t i = 0; i < k_; ++i) {
      const std::uint32_t size = experts_ - k_ + 1 + i;
      draws_[i] = {size, 65536U % size};
    }
  }

  // Coordinates of a draw: request, step, node and layer (16 bits each), number of the block. Node
  // and layer must be below 65536.
  void route(std::uint64_t seed, std::int64_t layer, std::span<const RoutedToken> tokens,
             std::vector<std::uint16_t>& out) const override {
    SIM_CHECK(layer >= 0 && layer < 65536, "layer " + std::to_string(layer));
    std::size_t next = out.size();
    out.resize(next + tokens.size() * k_);
    Chosen chosen(experts_);
    for (const RoutedToken& token : tokens) {
      SIM_CHECK(token.node < 65536, "node " + std::to_string(token.node));
      chosen.next_token();
      choose(seed, token, token.node << 16 | static_cast<std::uint32_t>(layer), chosen,
             out.data() + next);
      next += k_;
    }
  }

 private:
  // The experts that the current token has: a byte each, so that inserts do not wait for each other
  // as they would in a shared word, and a new mark for each token instead of clearing.
  class Chosen {
   public:
    explicit Chosen(std::uint32_t experts) : experts_(experts) { clear(); }
    void next_token() {
      if (++mark_ == 0) clear();
    }
    bool contains(std::uint32_t expert) const { return mark_of_[expert] == mark_; }
    void insert(std::uint32_t expert) { mark_of_[expert] = mark_; }

   private:
    void clear() {
      std::fill_n(mark_of_.begin(), experts_, std::uint8_t{0});
      mark_ = 1;
    }
    std::array<std::uint8_t, 65536> mark_of_;
    std::uint32_t experts_;
    std::uint8_t mark_ = 1;
  };

  // A draw of 0 .. size-1 from a 16-bit piece v is the upper half of v * size, refused where the
  // lower half is below 65536 % size, so that each value has floor(65536 / size) pieces: exactly
  // uniform (Lemire, "Fast random integer generation in an interval", 2019).
  struct Draw {
    std::uint32_t size = 1;
    std::uint32_t refused_below = 0;
  };

  void choose(std::uint64_t seed, const RoutedToken& token, std::uint32_t node_and_layer,
              Chosen& chosen, std::uint16_t* mine) const {
    std::uint32_t i = 0;
    for (std::uint32_t block = 0;; ++block) {
      const RandomBlock words =
          random_block(seed, Stream::kRouting, token.request, token.step, node_and_layer, block);
      for (std::uint32_t piece = 0; piece < 8; ++piece) {
        const Draw& draw = draws_[i];
        const std::uint32_t v = words[piece >> 1] >> ((piece & 1) * 16) & 0xffffU;
        const std::uint32_t product = v * draw.size;
        if ((product & 0xffffU) < draw.refused_below) continue;
        // Floyd: a drawn expert that is already chosen stands for the newest one.
        std::uint32_t expert = product >> 16;
        if (chosen.contains(expert)) expert = draw.size - 1;
        chosen.insert(expert);
        mine[i] = static_cast<std::uint16_t>(expert);
        if (++i == k_) return;
      }
    }
  }

  std::uint32_t experts_;
  std::uint32_t k_;
  std::array<Draw, 64> draws_;
};

}  // namespace

std::unique_ptr<Router> make_uniform_router(std::int64_t experts, std::int64_t experts_per_token) {
  return std::make_unique<UniformRouter>(experts, experts_per_token);
}

}  // namespace shiftpoint
