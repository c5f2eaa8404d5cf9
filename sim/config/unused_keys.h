// Keys that a person gave on the command line and that the chosen kind of workload or model
// ignores. Files may hold them on purpose (an experiment with a synthetic stand-in), a command line
// hardly does.
#pragma once

#include <string>
#include <vector>

#include "sim/config/scenario.h"

namespace shiftpoint {

// One sentence a key: "workload.batch does nothing with workload.kind = trace".
std::vector<std::string> unused_keys(const LoadedScenario& loaded, const Overrides& overrides);

}  // namespace shiftpoint
