// One trace format. Contract: a reader hands out the rows of a stream one at a time in file order,
// converts the format's own unit to ns, and leaves ordering, time origin, clipping and ids to
// make_workload(). A malformed row throws UserError naming line and field; the caller decides
// whether that ends the run or counts as a rejected row. A malformed header always ends the run.
#pragma once

#include <cstdint>
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

  // Called once, before next(). Reads what stands before the rows, if the format has such; throws
  // UserError when it is missing or wrong. A stream without any line is no mistake here.
  virtual void read_header(std::istream&, InputPlace&) {}

  // Reads the next data row into `row` (arrival on any origin, lengths, blocks); false at the end.
  // Skips blank lines. On a malformed row throws UserError after having consumed that line, so that
  // reading can go on. `place.line` follows along.
  virtual bool next(std::istream& in, InputPlace& place, Request& row) = 0;
};

struct TraceFormat {
  const char* name;
  const char* help;                             // columns and units, one line
  std::int64_t block_tokens;                    // tokens of one prefix block; 0: none
  bool (*detect)(std::string_view first_line);  // the first line that is not blank
  std::unique_ptr<TraceReader> (*make)();
};

// The registry: one line a format (registry.cpp).
const std::vector<TraceFormat>& trace_formats();

// nullptr if unknown.
const TraceFormat* find_trace_format(std::string_view name);

}  // namespace shiftpoint
