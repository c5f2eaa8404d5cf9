#include "sim/cli/progress_line.h"

#include <unistd.h>

#include <chrono>
#include <iostream>

namespace shiftpoint {
namespace {

std::int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

ProgressLine::ProgressLine() : terminal_(::isatty(STDERR_FILENO) == 1), last_ms_(now_ms()) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::cerr << "\r\x1b[K" << std::flush;
}

void ProgressLine::show(const std::string& text) {
  if (!terminal_) return;
  const std::int64_t now = now_ms();
  if (now - last_ms_ < 1000) return;
  last_ms_ = now;
  shown_ = true;
  std::cerr << "\r\x1b[K" << text << std::flush;
}

}  // namespace shiftpoint
