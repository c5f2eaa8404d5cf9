// The KV pool of one rank (all ranks hold the same lists): which request holds which slots, in
// token order. Follows the speculative order of a popular engine: per verify step the draft borrows
// slots and gives them back, the verify takes draft_tokens slots a request in one request-major
// call, and one call frees everything that was not accepted. Request ids are small and dense; a
// prompt is complete before the request's first verify step. A call that breaks these rules, or an
// allocator that hands out a slot twice, throws InvariantError, after which the pool is unusable.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/core/option_table.h"
#include "sim/core/types.h"
#include "sim/kvcache/layout.h"
#include "sim/kvcache/slot_allocator.h"

namespace shiftpoint {

struct KvCacheConfig {
  std::string allocator = "fifo";
  std::int64_t slots = 0;
  double memory_fraction = 0.88;
  double reserved_bytes = 4e9;
  std::int64_t layout_every_steps = 64;
};

inline constexpr Option<KvCacheConfig> kKvCacheOptions[] = {
    {"allocator", "", "how slots are handed out", &KvCacheConfig::allocator,
     one_of(allocator_names)},
    {"slots", "", "tokens that the pool holds; 0: estimate from memory", &KvCacheConfig::slots,
     range(0, 2e9)},
    {"memory_fraction", "", "share of the card's memory for weights and pool",
     &KvCacheConfig::memory_fraction, range(0.01, 1)},
    {"reserved_bytes", "B", "part of that share for activations, graphs and workspaces",
     &KvCacheConfig::reserved_bytes, range(0, 1e13)},
    {"layout_every_steps", "", "verify steps between two samples of the layout metrics; 0: never",
     &KvCacheConfig::layout_every_steps, range(0, 1e9)},
};

struct PoolCounts {
  std::int64_t total = 0;
  std::int64_t free = 0;
  std::int64_t held = 0;
  std::int64_t cached = 0;  // prefix cache; 0 until there is one
};

class KvPool {
 public:
  KvPool(std::unique_ptr<SlotAllocator> allocator, std::int64_t slots);

  // Appends `tokens` slots to a request (created on first use): one allocation, as one prefill
  // chunk takes it. False and nothing changed when the pool is short.
  bool append(std::int64_t request, std::int64_t tokens);

  // Draft phase: takes n slots and gives them back, leaving the lists as they were. False if short.
  bool borrow(std::int64_t n);

  // Takes draft_tokens slots for every request in one allocation, request-major. False if short.
  bool begin_verify(std::span<const std::int64_t> requests, std::int64_t draft_tokens);

  // Keeps the first accepted + 1 of each request's draft slots (a chain) and frees the others in
  // one call, in batch order. `kept` has one count (>= 1) a request, in the order of begin_verify.
  void end_verify(std::span<const std::int64_t> kept);

  // Frees all slots of the requests, in this order, in one free group.
  void release(std::span<const std::int64_t> requests);

  // The slots of the verify step under way, request-major; empty between steps.
  std::span<const Slot> draft_slots() const { return draft_slots_; }

  // Slots of a request in token order; the first prompt_tokens of them are its prompt. Empty and 0
  // for a request that holds none.
  std::span<const Slot> slots_of(std::int64_t request) const;
  std::int64_t prompt_tokens_of(std::int64_t request) const;  // what append() took

  std::int64_t available() const;
  PoolCounts counts() const;
  AllocatorStats stats() const;

  // free + held + cached = total, every slot has one owner: throws InvariantError otherwise.
  // O(total).
  void check_conservation() const;

 private:
  struct Holding {
    std::vector<Slot> slots;
    std::int64_t prompt_tokens = 0;
    bool present = false;   // false: never appended to, or released
    bool in_batch = false;  // between begin_verify and end_verify
  };

  Holding& holding_of(std::int64_t request, const char* action);
  void take(std::span<const Slot> slots, std::int64_t request);
  void give_back(std::span<const Slot> slots);
  std::string describe_owners(Slot slot) const;

  std::unique_ptr<SlotAllocator> allocator_;
  std::int64_t total_ = 0;
  std::int64_t held_ = 0;
  std::vector<Holding> holdings_;        // by request id: ids are dense (workload.h)
  std::vector<std::uint8_t> is_held_;    // by slot
  std::vector<std::int64_t> verifying_;  // requests between begin_verify and end_verify
  std::vector<Slot> draft_slots_, scratch_;
  std::int64_t draft_tokens_ = 0;
};

}  // namespace shiftpoint
