// The state of one run. simulate() in serving.h is its only user outside this folder.
#pragma once

#include <deque>
#include <vector>

#include "sim/serving/load_draws.h"
#include "sim/serving/serving.h"

namespace shiftpoint {

class Simulator {
 public:
  Simulator(const Deployment& deployment, const Workload& workload, std::uint64_t seed,
            const StepObserver& on_step);

  SimulationResult run(const std::function<void(std::int64_t, Nanos)>& progress);

 private:
  // What the server knows of a request that it holds.
  struct Active {
    std::int64_t context_tokens = 0;  // rows in the pool that count
    std::int64_t prompt_left = 0;     // tokens still to prefill
    std::int64_t emitted_tokens = 0;
    std::int64_t verify_steps = 0;  // in all, retracted attempts included: keys the draws
    bool retracted = false;
  };
  enum class Share { kPrefill, kDecode };

  void deliver_arrivals();
  void admit();
  bool fits(std::int64_t id) const;
  void start(std::int64_t id);
  void prefill_step();
  void verify_step();
  void make_room();
  void retract(std::size_t position);
  void finish(std::int64_t id);
  // Moves the clock over a step and books it to every request in the server.
  void advance(Nanos duration, const std::vector<std::int64_t>& taking_part, Share share);
  void report_step(StepKind kind, const StepTime& time, std::int64_t requests, std::int64_t tokens,
                   std::int64_t emitted, std::int64_t context);
  void sample_layout();
  void close();
  std::int64_t peak_slots_of(std::int64_t id) const;
  bool in_server() const { return !running_.empty() || !prefilling_.empty(); }

  const Deployment& deployment_;
  const Workload& workload_;
  std::uint64_t seed_;
  const StepObserver& on_step_;
  LoadDraws loads_;
  std::unique_ptr<AcceptanceModel> acceptance_;
  std::unique_ptr<CostModel> cost_;
  std::unique_ptr<KvPool> pool_;

  SimulationResult result_;
  std::vector<Active> active_;           // by request id
  std::deque<std::int64_t> waiting_;     // front is next
  std::deque<std::int64_t> prefilling_;  // admitted, prompt not complete; front is in progress
  std::vector<std::int64_t> running_;    // batch order: stable and observable
  std::size_t next_arrival_ = 0;
  std::int64_t ended_ = 0;
  std::int64_t step_ = 0;
  Nanos now_ns_ = 0;
  Nanos horizon_ns_ = 0;  // 0: none
  ExpertDetail detail_;
  std::vector<RoutedToken> tokens_;  // scratch
  std::vector<std::int64_t> contexts_;
  std::vector<std::int64_t> kept_;
  std::vector<std::int64_t> done_;
};

}  // namespace shiftpoint
