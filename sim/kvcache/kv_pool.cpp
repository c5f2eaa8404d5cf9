#include "sim/kvcache/kv_pool.h"

#include <algorithm>
#include <utility>

#include "sim/core/error.h"

namespace shiftpoint {
namespace {

// A larger id is a mistake, not a workload: it would only make the table of holdings explode.
constexpr std::int64_t kMostRequests = std::int64_t{1} << 31;

std::string text(std::int64_t n) {
  return std::to_string(n);
}

}  // namespace

KvPool::KvPool(std::unique_ptr<SlotAllocator> allocator, std::int64_t slots)
    : allocator_(std::move(allocator)), total_(slots) {
  SIM_CHECK(allocator_->available() == total_, "allocator of " + text(allocator_->available()) +
                                                   " slots in a pool of " + text(total_));
  is_held_.assign(static_cast<std::size_t>(total_) + 1, 0);
}

KvPool::Holding& KvPool::holding_of(std::int64_t request, const char* action) {
  SIM_CHECK(request >= 0 && request < static_cast<std::int64_t>(holdings_.size()) &&
                holdings_[static_cast<std::size_t>(request)].present,
            std::string(action) + " of request " + text(request) + ", which holds nothing");
  return holdings_[static_cast<std::size_t>(request)];
}

void KvPool::take(std::span<const Slot> slots, std::int64_t request) {
  for (const Slot slot : slots) {
    SIM_CHECK(slot >= 1 && slot <= total_, "request " + text(request) + " was handed slot " +
                                               text(slot) + "; slots are 1.." + text(total_));
    auto& is_held = is_held_[static_cast<std::size_t>(slot)];
    SIM_CHECK(!is_held, "request " + text(request) + " was handed slot " + text(slot) + ", " +
                            describe_owners(slot));
    is_held = 1;
  }
  held_ += static_cast<std::int64_t>(slots.size());
}

void KvPool::give_back(std::span<const Slot> slots) {
  for (const Slot slot : slots) {
    auto& is_held = is_held_[static_cast<std::size_t>(slot)];
    SIM_CHECK(is_held, "slot " + text(slot) + " is freed twice");
    is_held = 0;
  }
  held_ -= static_cast<std::int64_t>(slots.size());
  allocator_->free(slots);
}

bool KvPool::append(std::int64_t request, std::int64_t tokens) {
  SIM_CHECK(verifying_.empty(), "append during a verify step");
  SIM_CHECK(request >= 0 && request < kMostRequests, "append to request " + text(request));
  const auto index = static_cast<std::size_t>(request);
  if (index >= holdings_.size()) holdings_.resize(index + 1);
  Holding& holding = holdings_[index];
  const std::size_t before = holding.slots.size();
  SIM_CHECK(static_cast<std::int64_t>(before) == holding.prompt_tokens,
            "append to request " + text(request) + " after it has decoded");
  if (!allocator_->allocate(tokens, holding.slots)) return false;
  take(std::span(holding.slots).subspan(before), request);
  holding.prompt_tokens += tokens;
  holding.present = true;
  return true;
}

bool KvPool::borrow(std::int64_t n) {
  SIM_CHECK(verifying_.empty(), "borrow during a verify step");
  allocator_->backup();
  scratch_.clear();
  const bool enough = allocator_->allocate(n, scratch_);
  allocator_->restore();
  return enough;
}

bool KvPool::begin_verify(std::span<const std::int64_t> requests, std::int64_t draft_tokens) {
  SIM_CHECK(verifying_.empty(), "second verify step before the end of the first");
  SIM_CHECK(!requests.empty(), "verify step of no requests");
  SIM_CHECK(draft_tokens >= 1, "verify step of " + text(draft_tokens) + " tokens");
  for (const std::int64_t request : requests) holding_of(request, "verify");
  const auto tokens = static_cast<std::int64_t>(requests.size()) * draft_tokens;
  if (!allocator_->allocate(tokens, draft_slots_)) return false;
  draft_tokens_ = draft_tokens;
  const std::span<const Slot> slots = draft_slots_;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    Holding& holding = holding_of(requests[i], "verify");
    SIM_CHECK(!holding.in_batch, "request " + text(requests[i]) + " is twice in a verify step");
    holding.in_batch = true;
    const auto width = static_cast<std::size_t>(draft_tokens);
    take(slots.subspan(i * width, width), requests[i]);
    verifying_.push_back(requests[i]);
  }
  return true;
}

void KvPool::end_verify(std::span<const std::int64_t> kept) {
  SIM_CHECK(!verifying_.empty(), "end of a verify step that was not begun");
  SIM_CHECK(kept.size() == verifying_.size(),
            text(static_cast<std::int64_t>(kept.size())) + " counts for a verify step of " +
                text(static_cast<std::int64_t>(verifying_.size())) + " requests");
  scratch_.clear();
  for (std::size_t i = 0; i < kept.size(); ++i) {
    SIM_CHECK(kept[i] >= 1 && kept[i] <= draft_tokens_, "request " + text(verifying_[i]) +
                                                            " keeps " + text(kept[i]) + " of " +
                                                            text(draft_tokens_) + " tokens");
    Holding& holding = holding_of(verifying_[i], "end of the verify step");
    const auto first = draft_slots_.begin() + static_cast<std::ptrdiff_t>(i) * draft_tokens_;
    holding.slots.insert(holding.slots.end(), first, first + kept[i]);
    scratch_.insert(scratch_.end(), first + kept[i], first + draft_tokens_);
    holding.in_batch = false;
  }
  give_back(scratch_);
  verifying_.clear();
  draft_slots_.clear();
}

void KvPool::release(std::span<const std::int64_t> requests) {
  SIM_CHECK(verifying_.empty(), "release during a verify step");
  allocator_->begin_free_group();
  for (const std::int64_t request : requests) {
    Holding& holding = holding_of(request, "release");
    give_back(holding.slots);
    holding = Holding{};
  }
  allocator_->end_free_group();
}

std::span<const Slot> KvPool::slots_of(std::int64_t request) const {
  if (request < 0 || request >= static_cast<std::int64_t>(holdings_.size())) return {};
  return holdings_[static_cast<std::size_t>(request)].slots;
}

std::int64_t KvPool::prompt_tokens_of(std::int64_t request) const {
  if (request < 0 || request >= static_cast<std::int64_t>(holdings_.size())) return 0;
  return holdings_[static_cast<std::size_t>(request)].prompt_tokens;
}

std::int64_t KvPool::available() const {
  return allocator_->available();
}

PoolCounts KvPool::counts() const {
  return {total_, allocator_->available(), held_, 0};
}

AllocatorStats KvPool::stats() const {
  return allocator_->stats();
}

void KvPool::check_conservation() const {
  std::vector<std::uint8_t> owners(static_cast<std::size_t>(total_) + 1, 0);
  std::int64_t held = 0;
  const auto count = [&](std::span<const Slot> slots, const std::string& owner) {
    for (const Slot slot : slots) {
      SIM_CHECK(slot >= 1 && slot <= total_,
                "slot " + text(slot) + " is " + owner + "; slots are 1.." + text(total_));
      auto& n = owners[static_cast<std::size_t>(slot)];
      n = static_cast<std::uint8_t>(std::min(n + 1, 2));
    }
  };
  count(allocator_->free_list(), "free");
  for (std::size_t request = 0; request < holdings_.size(); ++request) {
    const std::vector<Slot>& slots = holdings_[request].slots;
    count(slots, "held");
    held += static_cast<std::int64_t>(slots.size());
  }
  count(draft_slots_, "held");
  held += static_cast<std::int64_t>(draft_slots_.size());
  for (std::int64_t slot = 1; slot <= total_; ++slot) {
    SIM_CHECK(owners[static_cast<std::size_t>(slot)] == 1,
              "slot " + text(slot) + ", " + describe_owners(static_cast<Slot>(slot)));
  }
  const PoolCounts now = counts();
  SIM_CHECK(held == now.held && now.free + now.held + now.cached == now.total,
            text(now.free) + " free + " + text(now.held) + " held (" + text(held) +
                " in lists) + " + text(now.cached) + " cached, of " + text(now.total));
}

// Only for messages: looks through all lists.
std::string KvPool::describe_owners(Slot slot) const {
  std::string owners;
  const auto add = [&](std::span<const Slot> slots, const std::string& owner) {
    const auto times = std::count(slots.begin(), slots.end(), slot);
    for (auto i = times; i > 0; --i) owners += (owners.empty() ? "owned by " : " and ") + owner;
  };
  add(allocator_->free_list(), "the free list");
  for (std::size_t request = 0; request < holdings_.size(); ++request) {
    add(holdings_[request].slots, "request " + text(static_cast<std::int64_t>(request)));
  }
  add(draft_slots_, "the verify step");
  return owners.empty() ? "owned by nobody" : owners;
}

}  // namespace shiftpoint
