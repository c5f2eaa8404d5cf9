#include "sim/report/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace shiftpoint {
namespace {

// Chrome's unit is the microsecond; three decimals keep whole nanoseconds.
std::string us(Nanos ns) {
  return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

// Slices that a rank can have in one layer: attention, dense, two collectives, experts, wait.
constexpr std::int64_t kSlicesPerLayer = 6;
constexpr std::int64_t kCounters = 3;

}  // namespace

Timeline::Timeline(std::int64_t max_events, std::int64_t ranks, std::int64_t layers,
                   std::int64_t dense_layers)
    : max_events_(max_events), ranks_(ranks), layers_(layers), dense_layers_(dense_layers) {
  auto out = std::back_inserter(text_);
  fmt::format_to(out, R"({{"name":"process_name","ph":"M","pid":0,"args":{{"name":"server"}}}})");
  for (std::int64_t r = 0; r < ranks_; ++r) {
    fmt::format_to(
        out,
        ",\n"
        R"({{"name":"thread_name","ph":"M","pid":0,"tid":{},"args":{{"name":"rank {}"}}}})",
        r, r);
  }
  fmt::format_to(
      out,
      ",\n"
      R"({{"name":"thread_name","ph":"M","pid":0,"tid":{},"args":{{"name":"host, launch and draft"}}}})",
      ranks_);
}

void Timeline::slice(std::int64_t lane, const char* name, Nanos start, Nanos duration,
                     std::int64_t step) {
  if (duration <= 0) return;
  ++events_;
  fmt::format_to(
      std::back_inserter(text_),
      ",\n"
      R"({{"name":"{}","cat":"step","ph":"X","ts":{},"dur":{},"pid":0,"tid":{},"args":{{"step":{}}}}})",
      name, us(start), us(duration), lane, step);
}

void Timeline::counter(const char* name, Nanos at, std::int64_t value) {
  ++events_;
  fmt::format_to(std::back_inserter(text_),
                 ",\n"
                 R"({{"name":"{}","ph":"C","ts":{},"pid":0,"args":{{"value":{}}}}})",
                 name, us(at), value);
}

void Timeline::add(const StepResult& step, const ExpertDetail& detail) {
  const std::int64_t layered_need = kCounters + 3 + ranks_ * kSlicesPerLayer * layers_;
  const bool layer_by_layer =
      !layers_drawn_ && step.kind == StepKind::kVerify && events_ + layered_need <= max_events_;
  const std::int64_t need =
      layer_by_layer ? layered_need : kCounters + 3 + ranks_ * kSlicesPerLayer;
  // Once a step does not fit, none is drawn any more: a timeline with holes would mislead.
  if (steps_left_out_ > 0 || events_ + need > max_events_) {
    ++steps_left_out_;
    return;
  }
  ++steps_drawn_;
  const StepTime& time = step.time;
  Nanos at = step.start_ns;
  for (const Part part : {Part::kHost, Part::kDraft, Part::kLaunch}) {
    slice(ranks_, part_name(part), at, time[part], step.index);
    at += time[part];
  }
  if (layer_by_layer) {
    draw_layers(step, detail, at);
    layers_drawn_ = true;
  } else {
    draw_sums(step, detail, at);
  }
  const Nanos end = step.start_ns + time.total_ns();
  counter("running requests", end, step.running);
  counter("waiting requests", end, step.waiting);
  counter("KV slots used", end, step.pool_slots - step.free_slots);
}

void Timeline::draw_sums(const StepResult& step, const ExpertDetail& detail, Nanos start) {
  const StepTime& time = step.time;
  const Nanos experts = time[Part::kExperts] + time[Part::kExpertWait];
  for (std::int64_t r = 0; r < ranks_; ++r) {
    Nanos own = 0;
    for (std::size_t i = static_cast<std::size_t>(r); i < detail.experts_ns.size();
         i += static_cast<std::size_t>(ranks_)) {
      own += detail.experts_ns[i];
    }
    Nanos at = start;
    slice(r, "attention", at, time[Part::kAttention], step.index);
    at += time[Part::kAttention];
    slice(r, "dense", at, time[Part::kDense], step.index);
    at += time[Part::kDense];
    slice(r, "experts", at, own, step.index);
    slice(r, "wait for slowest rank", at + own, experts - own, step.index);
    at += experts;
    slice(r, "collective", at, time[Part::kCollective], step.index);
  }
}

void Timeline::draw_layers(const StepResult& step, const ExpertDetail& detail, Nanos start) {
  const StepTime& time = step.time;
  // A part that is the same in every layer is dealt out so that the layers add up to it exactly.
  const auto share = [&](Part part, std::int64_t layer) {
    return time[part] * (layer + 1) / layers_ - time[part] * layer / layers_;
  };
  Nanos at = start;
  for (std::int64_t layer = 0; layer < layers_; ++layer) {
    const Nanos attention = share(Part::kAttention, layer);
    const Nanos dense = share(Part::kDense, layer);
    const Nanos collective = share(Part::kCollective, layer);
    const Nanos first = collective / 2;
    const std::int64_t row = (layer - dense_layers_) * ranks_;
    Nanos slowest = 0;
    for (std::int64_t r = 0; r < ranks_ && row >= 0; ++r) {
      slowest = std::max(slowest, detail.experts_ns[static_cast<std::size_t>(row + r)]);
    }
    for (std::int64_t r = 0; r < ranks_; ++r) {
      const Nanos own = row >= 0 ? detail.experts_ns[static_cast<std::size_t>(row + r)] : 0;
      const Nanos experts_at = at + attention + dense + first;
      slice(r, "attention", at, attention, step.index);
      slice(r, "dense", at + attention, dense, step.index);
      slice(r, "collective", at + attention + dense, first, step.index);
      slice(r, "experts", experts_at, own, step.index);
      slice(r, "wait for slowest rank", experts_at + own, slowest - own, step.index);
      slice(r, "collective", experts_at + slowest, collective - first, step.index);
    }
    at += attention + dense + collective + slowest;
  }
}

std::string Timeline::json() const {
  return fmt::format(
      "{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"steps_drawn\":{},\"steps_left_out\":{},"
      "\"cap_events\":{},\"note\":\"the first verify step is drawn layer by layer if the cap "
      "allows it, "
      "the others summed over layers; dense includes the output "
      "head\"}},\n\"traceEvents\":[\n{}\n]}}\n",
      steps_drawn_, steps_left_out_, max_events_, text_);
}

}  // namespace shiftpoint
