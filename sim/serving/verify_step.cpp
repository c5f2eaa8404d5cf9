// The verify step of the serving loop, and what happens when the pool is too small for it.
#include <algorithm>

#include "sim/core/error.h"
#include "sim/serving/simulator.h"

namespace shiftpoint {

void Simulator::verify_step() {
  make_room();
  const std::int64_t drafts = deployment_.speculation.draft_tokens;
  const auto count = static_cast<std::int64_t>(running_.size());
  // Draft phase: borrowed slots leave the lists as they were. Then the verify takes its own.
  if (drafts > 1) {
    SIM_CHECK(pool_->borrow(count * (drafts - 1)), "make_room left too little for the draft");
  }
  SIM_CHECK(pool_->begin_verify(running_, drafts), "make_room left too little for the verify step");

  tokens_.clear();
  contexts_.clear();
  std::int64_t context = 0;
  for (const std::int64_t id : running_) {
    const Active& state = active_[static_cast<std::size_t>(id)];
    contexts_.push_back(state.context_tokens);
    context += state.context_tokens;
    for (std::int64_t n = 0; n < drafts && count * drafts <= loads_.exact_tokens_max(); ++n) {
      tokens_.push_back({static_cast<std::uint32_t>(id),
                         static_cast<std::uint32_t>(state.verify_steps),
                         static_cast<std::uint32_t>(n)});
    }
  }
  const StepTime time =
      cost_->verify_step({contexts_, drafts, loads_.draw(tokens_, count * drafts)}, &detail_);
  advance(time.total_ns(), running_, Share::kDecode);
  ++result_.verify_steps;
  result_.peak_slots = std::max(result_.peak_slots, result_.capacity.slots - pool_->available());

  kept_.clear();
  std::int64_t emitted_in_all = 0;
  for (const std::int64_t id : running_) {
    Active& state = active_[static_cast<std::size_t>(id)];
    RequestResult& r = result_.requests[static_cast<std::size_t>(id)];
    const std::int64_t accepted =
        acceptance_->accepted(seed_, id, state.verify_steps, state.context_tokens);
    const std::int64_t left =
        workload_.requests[static_cast<std::size_t>(id)].output_tokens - state.emitted_tokens;
    // Truncated before anything is freed or counted: nothing after the last wanted token is
    // emitted.
    const std::int64_t emitted = std::min(accepted + 1, left);
    kept_.push_back(emitted);
    r.accepted_drafts += emitted - 1;
    ++r.verify_steps;
    ++state.verify_steps;
    state.emitted_tokens += emitted;
    state.context_tokens += emitted;
    emitted_in_all += emitted;
    if (r.first_token_ns < 0) r.first_token_ns = now_ns_;
    if (emitted == left) done_.push_back(id);
  }
  pool_->end_verify(kept_);
  report_step(StepKind::kVerify, time, count, count * drafts, emitted_in_all, context);
  const std::int64_t every = deployment_.kvcache.layout_every_steps;
  if (every > 0 && result_.verify_steps % every == 0) sample_layout();
  for (const std::int64_t id : done_) finish(id);
  pool_->release(done_);
  done_.clear();
}

// Retracts until the pool can take one verify step of the batch. Fewest emitted tokens go first,
// the longest prompt on ties (the later one on full ties): the request furthest along is never
// retracted unless it is alone, so some request always comes to its end.
void Simulator::make_room() {
  const std::int64_t drafts = deployment_.speculation.draft_tokens;
  while (pool_->available() < static_cast<std::int64_t>(running_.size()) * drafts) {
    if (running_.size() == 1) {
      // Alone and short: prompts that are only begun hold the rest.
      SIM_CHECK(!prefilling_.empty(), "one request alone does not fit the pool");
      retract(running_.size() + prefilling_.size() - 1);
      continue;
    }
    std::size_t victim = 0;
    for (std::size_t i = 1; i < running_.size(); ++i) {
      const auto rank = [&](std::size_t at) {
        const auto id = static_cast<std::size_t>(running_[at]);
        return std::pair(active_[id].emitted_tokens, -workload_.requests[id].input_tokens);
      };
      if (rank(i) <= rank(victim)) victim = i;
    }
    retract(victim);
  }
}

// `position` counts through the running batch, then through the prompts in progress. The victim
// loses its rows and goes to the head of the queue; its emitted tokens become part of its prompt.
void Simulator::retract(std::size_t position) {
  std::int64_t id = 0;
  if (position < running_.size()) {
    id = running_[position];
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(position));
  } else {
    const auto at = prefilling_.begin() + static_cast<std::ptrdiff_t>(position - running_.size());
    id = *at;
    prefilling_.erase(at);
  }
  pool_->release(std::span(&id, 1));
  Active& state = active_[static_cast<std::size_t>(id)];
  state.context_tokens = 0;
  state.prompt_left = 0;
  state.retracted = true;
  ++result_.requests[static_cast<std::size_t>(id)].retractions;
  ++result_.retractions;
  waiting_.push_front(id);
}

}  // namespace shiftpoint
