// manifest.json: where every value of a result came from. Holds no time of day, host or path of the
// machine, so that two runs of the same scenario are byte-identical.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/report/experiment.h"

namespace shiftpoint {

// `files`: the other files of the folder, listed with their checksums.
std::string make_manifest(const Experiment& experiment,
                          const std::map<std::string, std::string>& files,
                          const std::vector<std::string>& warnings);

// "0.1.0 (revision abc..., modified)".
std::string version_text();
std::string revision_text();

}  // namespace shiftpoint
