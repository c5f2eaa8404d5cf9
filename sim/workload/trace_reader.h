// One trace format. Contract: read() consumes the stream to its end (or to config.limit rows),
// keeps file order, converts the format's own unit to ns, and leaves ordering, time origin,
// clipping and ids to make_workload(). A malformed row throws UserError naming line and field; the
// caller decides whether that ends the run or counts as a rejected row, so a reader hands out one
// row at a time.
#pragma once

#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/error.h"
#include "sim/workload/workload.h"

namespace shiftpoint {

class TraceReader {
 public:
  virtual ~TraceReader() = default;

  // Reads the next data row into `row`; false at the end. Skips blank lines. On a malformed row
  // throws UserError after having consumed that line, so that reading can go on. `place.line`
  // follows along.
  virtual bool next(std::istream& in, InputPlace& place, Request& row) = 0;
};

struct TraceFormat {
  const char* name;
  const char* help;           // columns and units, one line
  std::int64_t block_tokens;  // tokens of one prefix block; 0: none
  bool (*detect)(std::string_view first_line);
  std::unique_ptr<TraceReader> (*make)();
};

// The registry: one line a format (registry.cpp).
const std::vector<TraceFormat>& trace_formats();

// nullptr if unknown.
const TraceFormat* find_trace_format(std::string_view name);

}  // namespace shiftpoint
