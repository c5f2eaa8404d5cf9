// Small deployments and workloads for the tests of the serving loop.
#pragma once

#include <vector>

#include "sim/serving/serving.h"

namespace shiftpoint::test {

// A small deployment that runs in milliseconds: 4 layers of which 3 have 16 experts, 2 ranks.
inline Deployment small() {
  Deployment d;
  d.model.layers = 4;
  d.model.dense_layers = 1;
  d.model.experts = 16;
  d.model.experts_per_token = 2;
  d.hardware.ranks = 2;
  d.kvcache.slots = 10000;
  d.speculation.conditional = {0.5};
  return d;
}

inline Workload closed_loop(std::int64_t requests, std::int64_t batch, std::int64_t context,
                            std::int64_t output, bool prefilled = true) {
  WorkloadConfig config;
  config.kind = "closed-loop";
  config.requests = requests;
  config.batch = batch;
  config.context_tokens = context;
  config.output_tokens = output;
  config.prefilled = prefilled;
  return make_workload(config, nullptr, "", 1);
}

struct Run {
  SimulationResult result;
  std::vector<StepResult> steps;
};

inline Run run(const Deployment& d, const Workload& w, std::uint64_t seed = 1) {
  Run r;
  r.result = simulate(d, w, seed,
                      [&](const StepResult& s, const ExpertDetail&) { r.steps.push_back(s); }, {});
  return r;
}

}  // namespace shiftpoint::test
