#include "sim/workload/azure_csv.h"
#include "sim/workload/mooncake_jsonl.h"
#include "sim/workload/trace_reader.h"

namespace shiftpoint {

const std::vector<TraceFormat>& trace_formats() {
  static const std::vector<TraceFormat> formats = {
      {"azure-csv", "CSV: TIMESTAMP (datetime),ContextTokens,GeneratedTokens", 0, is_azure_csv,
       make_azure_csv_reader},
      {"mooncake-jsonl", "JSON lines: timestamp (ms), input_length, output_length, hash_ids",
       kMooncakeBlockTokens, is_mooncake_jsonl, make_mooncake_jsonl_reader},
  };
  return formats;
}

const TraceFormat* find_trace_format(std::string_view name) {
  for (const TraceFormat& format : trace_formats()) {
    if (name == format.name) return &format;
  }
  return nullptr;
}

std::string trace_format_names() {
  return "auto|" + joined_names(trace_formats());
}

}  // namespace shiftpoint
