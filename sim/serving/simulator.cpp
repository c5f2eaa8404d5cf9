#include "sim/serving/simulator.h"

#include <algorithm>
#include <limits>

#include "sim/core/error.h"

namespace shiftpoint {
namespace {

// Prompt tokens are routed under a node number that no draft tree reaches.
constexpr std::uint32_t kPromptNode = 0xffff;

}  // namespace

Simulator::Simulator(const Deployment& deployment, const Workload& workload, std::uint64_t seed,
                     const StepObserver& on_step)
    : deployment_(deployment),
      workload_(workload),
      seed_(seed),
      on_step_(on_step),
      loads_(deployment.model, deployment.moe, deployment.hardware.ranks, seed),
      acceptance_(make_acceptance(deployment.speculation)),
      cost_(make_cost_model(deployment.model, deployment.hardware, deployment.cost, loads_.slice(),
                            deployment.speculation.draft_tokens)),
      horizon_ns_(static_cast<Nanos>(deployment.serving.horizon_s * 1e9)) {
  result_.capacity = kv_capacity(deployment, cost_->weight_bytes_per_rank());
  pool_ = std::make_unique<KvPool>(
      make_allocator(deployment.kvcache.allocator, result_.capacity.slots), result_.capacity.slots);
  active_.resize(workload.requests.size());
  result_.requests.resize(workload.requests.size());
  for (const Request& request : workload.requests) {
    RequestResult& r = result_.requests[static_cast<std::size_t>(request.id)];
    r.id = request.id;
    r.arrival_ns = request.arrival_ns;
    r.input_tokens = request.input_tokens;
  }
}

SimulationResult Simulator::run(const std::function<void(std::int64_t, Nanos)>& progress) {
  const auto total = static_cast<std::int64_t>(workload_.requests.size());
  while (ended_ < total && (horizon_ns_ == 0 || now_ns_ < horizon_ns_)) {
    deliver_arrivals();
    admit();
    if (!prefilling_.empty()) {
      prefill_step();
    } else if (!running_.empty()) {
      verify_step();
    } else if (next_arrival_ < workload_.requests.size()) {
      const Nanos next_ns = workload_.requests[next_arrival_].arrival_ns;
      SIM_CHECK(next_ns > now_ns_ && waiting_.empty(),
                "the server is empty at " + std::to_string(now_ns_) + " ns but " +
                    std::to_string(waiting_.size()) + " requests wait");
      const Nanos until_ns = horizon_ns_ > 0 ? std::min(next_ns, horizon_ns_) : next_ns;
      result_.idle_ns += until_ns - now_ns_;
      now_ns_ = until_ns;
    } else {
      SIM_CHECK(ended_ == total, "nothing to do at " + std::to_string(now_ns_) + " ns with " +
                                     std::to_string(total - ended_) + " requests open");
    }
    if (progress && step_ % 256 == 0) progress(ended_, now_ns_);
  }
  close();
  return std::move(result_);
}

void Simulator::deliver_arrivals() {
  while (next_arrival_ < workload_.requests.size() &&
         workload_.requests[next_arrival_].arrival_ns <= now_ns_) {
    const std::int64_t id = workload_.requests[next_arrival_++].id;
    if (peak_slots_of(id) > result_.capacity.slots) {
      RequestResult& r = result_.requests[static_cast<std::size_t>(id)];
      r.outcome = Outcome::kUnservable;
      r.end_ns = now_ns_;
      r.queue_ns = now_ns_ - r.arrival_ns;
      ++ended_;
    } else {
      waiting_.push_back(id);
    }
  }
}

// Rows that the request holds at its largest: everything but the last emitted token, and one verify
// step's drafts.
std::int64_t Simulator::peak_slots_of(std::int64_t id) const {
  const Request& request = workload_.requests[static_cast<std::size_t>(id)];
  return request.input_tokens + request.output_tokens - 1 + deployment_.speculation.draft_tokens;
}

// First come, first served: the head of the queue waits until it fits.
void Simulator::admit() {
  while (!waiting_.empty()) {
    const auto in_server = static_cast<std::int64_t>(running_.size() + prefilling_.size());
    if (in_server >= deployment_.serving.max_running) return;
    if (workload_.concurrency > 0 && in_server >= workload_.concurrency) return;
    if (!fits(waiting_.front())) return;
    const std::int64_t id = waiting_.front();
    waiting_.pop_front();
    start(id);
  }
}

// Slots that are free now, less what those in the server will still take: their unfinished prompts,
// a share of their outstanding output, and one verify step's drafts for each.
bool Simulator::fits(std::int64_t id) const {
  const double share = deployment_.serving.reserve_output_fraction;
  const std::int64_t drafts = deployment_.speculation.draft_tokens;
  const auto output_left = [&](std::int64_t r) {
    return workload_.requests[static_cast<std::size_t>(r)].output_tokens -
           active_[static_cast<std::size_t>(r)].emitted_tokens;
  };
  double promised = 0;
  for (const std::int64_t r : running_) {
    promised += share * static_cast<double>(output_left(r)) + static_cast<double>(drafts);
  }
  for (const std::int64_t r : prefilling_) {
    promised += share * static_cast<double>(output_left(r)) + static_cast<double>(drafts) +
                static_cast<double>(active_[static_cast<std::size_t>(r)].prompt_left);
  }
  const Active& state = active_[static_cast<std::size_t>(id)];
  const std::int64_t prompt =
      workload_.requests[static_cast<std::size_t>(id)].input_tokens + state.emitted_tokens;
  // One that was retracted comes back only when all of it fits: it must not be thrown out for ever.
  const double need = static_cast<double>(prompt + drafts) +
                      (state.retracted ? 1.0 : share) * static_cast<double>(output_left(id));
  return static_cast<double>(pool_->available()) - promised >= need || !in_server();
}

void Simulator::start(std::int64_t id) {
  const Request& request = workload_.requests[static_cast<std::size_t>(id)];
  Active& state = active_[static_cast<std::size_t>(id)];
  RequestResult& r = result_.requests[static_cast<std::size_t>(id)];
  if (r.admitted_ns < 0) {
    r.admitted_ns = now_ns_;
    r.queue_ns = now_ns_ - r.arrival_ns;
  } else {
    // Back after a retraction: the wait since then was booked nowhere yet.
    r.stall_ns = now_ns_ - r.arrival_ns - r.queue_ns - r.prefill_ns - r.decode_ns;
    result_.recomputed_tokens += request.input_tokens + state.emitted_tokens;
  }
  const std::int64_t prompt = request.input_tokens + state.emitted_tokens;
  if (request.prefilled && !state.retracted) {
    SIM_CHECK(pool_->append(id, prompt), "admission promised " + std::to_string(prompt) + " slots");
    state.context_tokens = prompt;
    running_.push_back(id);
  } else {
    state.context_tokens = 0;
    state.prompt_left = prompt;
    prefilling_.push_back(id);
  }
}

void Simulator::prefill_step() {
  std::vector<PrefillChunk> chunks;
  std::vector<std::int64_t> members;
  std::int64_t budget = deployment_.serving.chunk_tokens;
  tokens_.clear();
  std::int64_t context = 0;
  for (const std::int64_t id : prefilling_) {
    Active& state = active_[static_cast<std::size_t>(id)];
    const std::int64_t take = std::min(budget, state.prompt_left);
    // Admission counted on outputs that may end early, so the pool can be short: wait for others.
    if (take == 0 || !pool_->append(id, take)) break;
    for (std::int64_t t = 0; t < take && take <= loads_.exact_tokens_max(); ++t) {
      tokens_.push_back({static_cast<std::uint32_t>(id),
                         static_cast<std::uint32_t>(state.context_tokens + t), kPromptNode});
    }
    chunks.push_back({take, state.context_tokens});
    members.push_back(id);
    state.context_tokens += take;
    state.prompt_left -= take;
    context += state.context_tokens;
    budget -= take;
  }
  if (members.empty()) {
    if (!running_.empty()) {
      verify_step();
      return;
    }
    // Nothing runs and the pool is short: prompts that are only begun hold it. Start the younger
    // over.
    SIM_CHECK(prefilling_.size() > 1, "one prompt alone does not fit the pool");
    retract(prefilling_.size() - 1);
    return;
  }
  const std::int64_t count = deployment_.serving.chunk_tokens - budget;
  const StepTime time = cost_->prefill_step({chunks, loads_.draw(tokens_, count)}, &detail_);
  advance(time.total_ns(), members, Share::kPrefill);
  ++result_.prefill_steps;
  std::int64_t emitted = 0;
  while (!prefilling_.empty() &&
         active_[static_cast<std::size_t>(prefilling_.front())].prompt_left == 0) {
    const std::int64_t id = prefilling_.front();
    prefilling_.pop_front();
    Active& state = active_[static_cast<std::size_t>(id)];
    RequestResult& r = result_.requests[static_cast<std::size_t>(id)];
    // A prompt that is complete gives one token; after a retraction that token is the next one.
    ++state.emitted_tokens;
    ++emitted;
    if (r.first_token_ns < 0) r.first_token_ns = now_ns_;
    running_.push_back(id);
    if (state.emitted_tokens == workload_.requests[static_cast<std::size_t>(id)].output_tokens) {
      done_.push_back(id);
    }
  }
  report_step(StepKind::kPrefill, time, static_cast<std::int64_t>(members.size()), count, emitted,
              context);
  for (const std::int64_t id : done_) finish(id);
  pool_->release(done_);
  done_.clear();
}

void Simulator::advance(Nanos duration, const std::vector<std::int64_t>& taking_part, Share share) {
  SIM_CHECK(duration > 0, "a step takes " + std::to_string(duration) + " ns");
  if (duration > std::numeric_limits<Nanos>::max() - now_ns_) {
    throw UserError("the simulated clock passes 292 years; accepted: a scenario that ends before");
  }
  now_ns_ += duration;
  for (const std::int64_t id : taking_part) {
    RequestResult& r = result_.requests[static_cast<std::size_t>(id)];
    (share == Share::kPrefill ? r.prefill_ns : r.decode_ns) += duration;
  }
}

void Simulator::finish(std::int64_t id) {
  RequestResult& r = result_.requests[static_cast<std::size_t>(id)];
  r.outcome = Outcome::kFinished;
  r.end_ns = now_ns_;
  // What was neither queue nor an own step: others' steps, and waits after retractions.
  r.stall_ns = now_ns_ - r.arrival_ns - r.queue_ns - r.prefill_ns - r.decode_ns;
  SIM_CHECK(r.stall_ns >= 0,
            "request " + std::to_string(id) + " was served longer than it was here");
  running_.erase(std::find(running_.begin(), running_.end(), id));
  ++ended_;
}

}  // namespace shiftpoint
