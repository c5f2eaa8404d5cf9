// Azure LLM inference traces (Azure/AzurePublicDataset), CSV with a header line.
#pragma once

#include <memory>
#include <string_view>

#include "sim/workload/trace_reader.h"

namespace shiftpoint {

bool is_azure_csv(std::string_view first_line);
std::unique_ptr<TraceReader> make_azure_csv_reader();

// "2023-11-16 18:15:46.6805900" (up to nine fractional digits, or none; UTC, which a final Z or
// +00:00 may say) as ns since 1970-01-01, exactly; false when it is no such time. Years 1970 to
// 2199, so that ns fit in 64 bits.
bool parse_datetime(std::string_view text, Nanos& ns);

}  // namespace shiftpoint
