// A line that says how far a run is, rewritten once a second on a terminal; silent in a pipe.
#pragma once

#include <cstdint>
#include <string>

namespace shiftpoint {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();  // clears the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Shows `text` if the last one is at least a second old.
  void show(const std::string& text);

 private:
  bool terminal_;
  bool shown_ = false;
  std::int64_t last_ms_ = 0;
};

}  // namespace shiftpoint
