// What the claims audit takes from our own experiments: named numbers out of a sweep's points.csv.
#pragma once

#include <istream>
#include <map>
#include <string>

namespace shiftpoint {

// From the points of bottleneck_shift, for the articles' final kernel (split-vector, graph mode) at
// each context: "expert_wait_share_<context>" and "largest_share_<context>" (the bottleneck's share
// of a verify step). Throws UserError with file, line and field for a table that is not that.
std::map<std::string, double> bottleneck_shift_metrics(std::istream& points,
                                                       const std::string& name);

}  // namespace shiftpoint
