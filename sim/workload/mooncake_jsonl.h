// Mooncake request traces (kvcache-ai/Mooncake, FAST'25 release), one JSON object a line.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "sim/workload/trace_reader.h"

namespace shiftpoint {

// Tokens of one prefix block. Check on the published conversation trace: every row has
// ceil(input_length / 512) ids.
inline constexpr std::int64_t kMooncakeBlockTokens = 512;

bool is_mooncake_jsonl(std::string_view first_line);
std::unique_ptr<TraceReader> make_mooncake_jsonl_reader();

}  // namespace shiftpoint
