#include "sim/core/error.h"
#include "sim/cost/step_time.h"

namespace shiftpoint {

const char* timing_source_name(TimingSource source) {
  switch (source) {
    case TimingSource::kModel:
      return "model";
    case TimingSource::kProfile:
      return "profile";
    case TimingSource::kLive:
      return "live";
  }
  SIM_CHECK(false, "timing source " + std::to_string(static_cast<int>(source)));
  return "";
}

const char* part_name(Part part) {
  switch (part) {
    case Part::kAttention:
      return "attention";
    case Part::kExperts:
      return "experts";
    case Part::kExpertWait:
      return "expert_wait";
    case Part::kCollective:
      return "collective";
    case Part::kDense:
      return "dense";
    case Part::kDraft:
      return "draft";
    case Part::kHost:
      return "host";
    case Part::kLaunch:
      return "launch";
  }
  SIM_CHECK(false, "part " + std::to_string(static_cast<int>(part)));
  return "";
}

}  // namespace shiftpoint
