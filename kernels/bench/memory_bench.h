// Memory microbenchmarks: gathering rows through index lists, and the Tier 1 mover.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace shiftpoint {

// A slot order that an allocator produced, one slot a line; used modulo the pool's slots.
struct NamedOrder {
  std::string name;
  std::vector<long long> slots;
};

// CSV: row_bytes,order,median_us,p10_us,p90_us,gbps of about 1 GB read once from a 4 GB pool.
void gather_profile(std::ostream& out, const std::vector<NamedOrder>& extra);

// One line: GB/s (read + write) of moving 100,000 rows of 1,152 bytes, against `copy_gbps`.
std::string relocation_report(double copy_gbps);

}  // namespace shiftpoint
