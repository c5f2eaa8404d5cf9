// What the serving loop hands out: step reports, layout samples, and the checks at the end of a
// run.
#include "sim/core/error.h"
#include "sim/serving/simulator.h"

namespace shiftpoint {

void Simulator::report_step(StepKind kind, const StepTime& time, std::int64_t requests,
                            std::int64_t tokens, std::int64_t emitted, std::int64_t context) {
  if (on_step_) {
    StepResult step;
    step.index = step_;
    step.kind = kind;
    step.start_ns = now_ns_ - time.total_ns();
    step.time = time;
    step.requests = requests;
    step.tokens = tokens;
    step.emitted_tokens = emitted;
    step.context_tokens = context;
    step.running = static_cast<std::int64_t>(running_.size() + prefilling_.size());
    step.waiting = static_cast<std::int64_t>(waiting_.size());
    step.free_slots = pool_->available();
    step.pool_slots = result_.capacity.slots;
    step.expected_loads = tokens > loads_.exact_tokens_max();
    const LoadSummary load = loads_.summary();
    step.activated_experts = load.activated_experts;
    step.expert_imbalance = load.expert_imbalance;
    step.pair_imbalance = load.pair_imbalance;
    step.idle_ranks = load.idle_ranks;
    on_step_(step, detail_);
  }
  ++step_;
}

void Simulator::sample_layout() {
  LayoutSample sample;
  sample.step = step_;
  sample.time_ns = now_ns_;
  double adjacent = 0;
  double span = 0;
  std::int64_t pairs = 0;
  std::int64_t slots = 0;
  for (const std::int64_t id : running_) {
    const std::span<const Slot> all = pool_->slots_of(id);
    const auto prompt = static_cast<std::size_t>(pool_->prompt_tokens_of(id));
    const Layout head = measure_layout(all.first(prompt));
    const Layout tail = measure_layout(all.subspan(prompt));
    const Layout whole = measure_layout(all);
    sample.prompt_slots += head.slots;
    sample.prompt_runs += head.runs;
    sample.decode_slots += tail.slots;
    sample.decode_runs += tail.runs;
    adjacent += static_cast<double>(whole.slots - whole.runs);
    pairs += whole.slots - 1;
    span += static_cast<double>(whole.span);
    slots += whole.slots;
  }
  sample.adjacency = pairs > 0 ? adjacent / static_cast<double>(pairs) : 1;
  sample.span_ratio = slots > 0 ? span / static_cast<double>(slots) : 0;
  result_.layout.push_back(sample);
}

void Simulator::close() {
  std::int64_t finished = 0;
  std::int64_t unservable = 0;
  std::int64_t in_flight = 0;
  for (std::size_t i = next_arrival_; i < workload_.requests.size(); ++i) {
    result_.requests[i].outcome = Outcome::kNotArrived;
  }
  for (const Request& request : workload_.requests) {
    RequestResult& r = result_.requests[static_cast<std::size_t>(request.id)];
    r.output_tokens = active_[static_cast<std::size_t>(request.id)].emitted_tokens;
    finished += r.outcome == Outcome::kFinished ? 1 : 0;
    unservable += r.outcome == Outcome::kUnservable ? 1 : 0;
    in_flight += r.outcome == Outcome::kInFlight ? 1 : 0;
    if (r.outcome == Outcome::kFinished) {
      SIM_CHECK(r.output_tokens == request.output_tokens,
                "request " + std::to_string(request.id) + " emitted " +
                    std::to_string(r.output_tokens) + " of " +
                    std::to_string(request.output_tokens) + " tokens");
      SIM_CHECK(r.queue_ns + r.prefill_ns + r.decode_ns + r.stall_ns == r.end_ns - r.arrival_ns,
                "latency parts of request " + std::to_string(request.id) + " do not add up");
    }
  }
  const auto submitted = static_cast<std::int64_t>(next_arrival_);
  SIM_CHECK(finished + unservable + in_flight == submitted,
            "requests: " + std::to_string(finished) + " + " + std::to_string(unservable) + " + " +
                std::to_string(in_flight) + " of " + std::to_string(submitted));
  pool_->check_conservation();
  const PoolCounts counts = pool_->counts();
  SIM_CHECK(in_flight > 0 || counts.held == 0,
            std::to_string(counts.held) + " slots are held after the last request");
  SIM_CHECK(loads_.pairs() == loads_.layer_tokens() * deployment_.model.experts_per_token,
            "token-expert pairs: " + std::to_string(loads_.pairs()) + " for " +
                std::to_string(loads_.layer_tokens()) + " tokens x layers");
  result_.routed_pairs = loads_.pairs();
  result_.routed_tokens = loads_.layer_tokens();
  result_.allocator = pool_->stats();
  result_.end_ns = now_ns_;
}

const char* outcome_name(Outcome outcome) {
  static constexpr const char* kNames[] = {"finished", "unservable", "in_flight", "not_arrived"};
  return kNames[static_cast<int>(outcome)];
}

void check_deployment(const Deployment& deployment) {
  const ModelConfig& model = deployment.model;
  make_router(deployment.moe.routing, model.experts, model.experts_per_token);
  const auto placement = make_placement(deployment.moe.placement, model.experts,
                                        model.experts_per_token, deployment.hardware.ranks);
  make_acceptance(deployment.speculation);
  const auto cost = make_cost_model(model, deployment.hardware, deployment.cost, placement->slice(),
                                    deployment.speculation.draft_tokens);
  kv_capacity(deployment, cost->weight_bytes_per_rank());
}

SimulationResult simulate(const Deployment& deployment, const Workload& workload,
                          std::uint64_t seed, const StepObserver& on_step,
                          const std::function<void(std::int64_t, Nanos)>& progress) {
  return Simulator(deployment, workload, seed, on_step).run(progress);
}

}  // namespace shiftpoint
