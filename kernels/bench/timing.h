// Timing by events around CUDA-graph replays.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <vector>

namespace shiftpoint {

struct TimeSummary {
  double median_us = 0, p10_us = 0, p90_us = 0;
  int samples = 0;
};

// Nearest-rank percentiles; `us` must not be empty.
TimeSummary summarize(std::vector<double> us);

class GraphTimer {
 public:
  // Captures `enqueue(stream)` once. Everything lazily initialised must be warm.
  explicit GraphTimer(const std::function<void(cudaStream_t)>& enqueue);
  GraphTimer(const GraphTimer&) = delete;
  GraphTimer& operator=(const GraphTimer&) = delete;
  ~GraphTimer();

  double replay_us();
  // Replays `warm` times, then at least `least` times and until `budget_ms` is spent.
  TimeSummary measure(int warm, int least, int most, double budget_ms);
  cudaStream_t stream() const { return stream_; }
  void launch();

 private:
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace shiftpoint
