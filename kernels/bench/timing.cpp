#include "kernels/bench/timing.h"

#include <algorithm>
#include <cmath>

#include "kernels/verify_attention/variant.h"

namespace shiftpoint {

TimeSummary summarize(std::vector<double> us) {
  std::sort(us.begin(), us.end());
  const auto rank = [&](double share) {
    const double index = std::ceil(share * static_cast<double>(us.size())) - 1;
    return us[static_cast<std::size_t>(std::max(0.0, index))];
  };
  return {rank(0.5), rank(0.1), rank(0.9), static_cast<int>(us.size())};
}

GraphTimer::GraphTimer(const std::function<void(cudaStream_t)>& enqueue) {
  SHIFTPOINT_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  SHIFTPOINT_CUDA_CHECK(cudaEventCreate(&begin_));
  SHIFTPOINT_CUDA_CHECK(cudaEventCreate(&end_));
  cudaGraph_t captured = nullptr;
  SHIFTPOINT_CUDA_CHECK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
  enqueue(stream_);
  SHIFTPOINT_CUDA_CHECK(cudaStreamEndCapture(stream_, &captured));
  SHIFTPOINT_CUDA_CHECK(cudaGraphInstantiate(&graph_, captured, 0));
  SHIFTPOINT_CUDA_CHECK(cudaGraphDestroy(captured));
}

GraphTimer::~GraphTimer() {
  cudaGraphExecDestroy(graph_);
  cudaEventDestroy(begin_);
  cudaEventDestroy(end_);
  cudaStreamDestroy(stream_);
}

void GraphTimer::launch() {
  SHIFTPOINT_CUDA_CHECK(cudaGraphLaunch(graph_, stream_));
}

double GraphTimer::replay_us() {
  SHIFTPOINT_CUDA_CHECK(cudaEventRecord(begin_, stream_));
  launch();
  SHIFTPOINT_CUDA_CHECK(cudaEventRecord(end_, stream_));
  SHIFTPOINT_CUDA_CHECK(cudaEventSynchronize(end_));
  float ms = 0;
  SHIFTPOINT_CUDA_CHECK(cudaEventElapsedTime(&ms, begin_, end_));
  return static_cast<double>(ms) * 1e3;
}

TimeSummary GraphTimer::measure(int warm, int least, int most, double budget_ms) {
  for (int i = 0; i < warm; ++i) {
    replay_us();
  }
  std::vector<double> us;
  double spent_us = 0;
  while (static_cast<int>(us.size()) < least ||
         (static_cast<int>(us.size()) < most && spent_us < budget_ms * 1e3)) {
    us.push_back(replay_us());
    spent_us += us.back();
  }
  return summarize(us);
}

}  // namespace shiftpoint
