// A sweep: the cross product of the axes of a [sweep] section, one small result folder a point,
// merged into points.csv. Points are numbered in a fixed order (the last axis fastest); a shard i/n
// takes those with number mod n = i; complete points are skipped, so a sweep can be resumed or
// spread over machines.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/report/experiment.h"

namespace shiftpoint {

struct Shard {
  std::int64_t index = 0;
  std::int64_t count = 1;
};

// output.dir, or results/<name>.
std::string sweep_dir(const LoadedScenario& loaded);

struct SweepCounts {
  std::int64_t points = 0;  // of the whole sweep
  std::int64_t run = 0;
  std::int64_t skipped = 0;  // already complete
};

// Called before each point with its number and "key=value, ..." text.
using PointProgress =
    std::function<void(std::int64_t point, std::int64_t points, const std::string&)>;

SweepCounts run_sweep(const LoadedScenario& loaded, const Shard& shard,
                      const PointProgress& progress);

// Writes points.csv and manifest.json from complete points. Throws UserError that lists the missing
// ones.
void merge_sweep(const LoadedScenario& loaded);

}  // namespace shiftpoint
