// What the pool may hold: the card's memory share minus the rank's weights and the reserve, divided
// by the bytes of one token. Capacity, not kernel time, dominates tail latency, so its parts are
// reported.
#include <cstdio>

#include "sim/core/error.h"
#include "sim/serving/serving.h"

namespace shiftpoint {
namespace {

std::string gigabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f GB", bytes * 1e-9);
  return text;
}

}  // namespace

KvCapacity kv_capacity(const Deployment& deployment, double weight_bytes_per_rank) {
  KvCapacity c;
  c.memory_bytes = deployment.hardware.memory_bytes;
  c.usable_bytes = c.memory_bytes * deployment.kvcache.memory_fraction;
  c.weight_bytes = weight_bytes_per_rank;
  c.reserved_bytes = deployment.kvcache.reserved_bytes;
  c.bytes_per_slot = deployment.model.kv_bytes_per_token();
  c.pool_bytes = c.usable_bytes - c.weight_bytes - c.reserved_bytes;
  c.estimated_slots = c.pool_bytes >= c.bytes_per_slot
                          ? static_cast<std::int64_t>(c.pool_bytes / c.bytes_per_slot) - 1
                          : 0;  // slot 0 is padding
  if (deployment.kvcache.slots > 0) {
    c.slots = deployment.kvcache.slots;
    c.origin = "user";
    c.pool_bytes = static_cast<double>(c.slots) * c.bytes_per_slot;
    return c;
  }
  c.origin = "estimated";
  c.slots = c.estimated_slots;
  if (c.slots < 1 || c.slots > 2'000'000'000) {
    throw_bad_input(
        {}, "kvcache.slots",
        "the estimate leaves " + gigabytes(c.pool_bytes) +
            " for the pool: " + gigabytes(c.usable_bytes) + " usable (" +
            gigabytes(c.memory_bytes) + " x " + std::to_string(deployment.kvcache.memory_fraction) +
            ") - " + gigabytes(c.weight_bytes) + " weights - " + gigabytes(c.reserved_bytes) +
            " reserved, at " + std::to_string(static_cast<std::int64_t>(c.bytes_per_slot)) +
            " B a token",
        "room for 1 to 2e9 tokens: more ranks, a larger kvcache.memory_fraction, or kvcache.slots");
  }
  return c;
}

}  // namespace shiftpoint
