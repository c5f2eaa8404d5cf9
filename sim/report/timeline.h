// A Chrome trace (opens in Perfetto): one lane a rank with dense, attention, collective, experts
// and waiting slices, one lane for host and draft, counters for requests and KV use. The first
// verify step is drawn layer by layer, later steps summed over layers, until the event budget is
// spent.
#pragma once

#include <string>

#include "sim/serving/serving.h"

namespace shiftpoint {

class Timeline {
 public:
  Timeline(std::int64_t max_events, std::int64_t ranks, std::int64_t layers,
           std::int64_t dense_layers);

  void add(const StepResult& step, const ExpertDetail& detail);

  // The complete JSON text. States how many steps were drawn and how many were left out.
  std::string json() const;

  std::int64_t steps_drawn() const { return steps_drawn_; }
  std::int64_t steps_left_out() const { return steps_left_out_; }

 private:
  void slice(std::int64_t lane, const char* name, Nanos start, Nanos duration, std::int64_t step);
  void draw_layers(const StepResult& step, const ExpertDetail& detail, Nanos start);
  void draw_sums(const StepResult& step, const ExpertDetail& detail, Nanos start);
  void counter(const char* name, Nanos at, std::int64_t value);

  std::int64_t max_events_, ranks_, layers_, dense_layers_;
  std::int64_t events_ = 0;
  std::int64_t steps_drawn_ = 0;
  std::int64_t steps_left_out_ = 0;
  bool layers_drawn_ = false;
  std::string text_;
};

}  // namespace shiftpoint
