// summary.json: the scalars of a run. One definition an output, each with numerator and
// denominator, is beside the code that makes it (summary.cpp); sim/report/README.md lists them for
// readers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/scenario.h"
#include "sim/report/step_log.h"

namespace shiftpoint {

nlohmann::ordered_json make_summary(const Scenario& scenario, const Workload& workload,
                                    const SimulationResult& result, const StepLog& steps);

// requests.csv, header included: one row a request, in id order.
std::string requests_csv(const SimulationResult& result);

// Scalars of a summary as ("a.b.c", text) in order, for the columns of points.csv.
std::vector<std::pair<std::string, std::string>> flatten(const nlohmann::ordered_json& summary);

}  // namespace shiftpoint
