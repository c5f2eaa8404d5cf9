// The recorded profile: one CSV row a point, and a manifest of how it was made.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "kernels/bench/ceilings.h"
#include "kernels/bench/workload.h"

namespace shiftpoint {

void write_profile_header(std::ostream& out);
void write_profile_row(std::ostream& out, const BenchRow& row);
std::string profile_manifest(const Ceilings& ceilings, const std::string& command_line);

// One line for a person: time, bandwidth and rate with their share of the ceilings.
std::string describe_row(const BenchRow& row, const Ceilings& ceilings);

}  // namespace shiftpoint
