// One card and the links between the cards of a node. Presets: data/hardware/*.cfg, every value
// tagged cited, measured, fitted or assumed, with its source. Bandwidths are decimal GB/s.
#pragma once

#include <cstdint>
#include <string>

#include "sim/core/option_table.h"

namespace shiftpoint {

struct HardwareConfig {
  std::string preset;
  std::int64_t ranks = 8;  // cards that serve the model together
  std::int64_t sms = 188;
  double sm_clock_ghz = 2.4;
  double memory_bytes = 102641958912;
  double dram_gbps = 1597;       // rated
  double dram_read_gbps = 1480;  // what long reads reach
  double dram_latency_us = 0.8;  // one dependent load that misses every cache
  double l2_gbps = 8700;
  double mma_tflops = 325;    // bf16 mma.sync with fp32 accumulation, sustained
  double gemm_tflops = 375;   // library GEMM, for prefill
  double fma_tflops = 115.5;  // fp32 outside the tensor cores
  std::int64_t shared_memory_per_block_bytes = 101376;
  double launch_us = 73.5;         // host time of one kernel in eager mode, framework included
  double graph_node_gap_us = 0.6;  // gap between two nodes of a replayed graph
  double graph_launch_us = 5;      // host time of one graph launch
  double gemm_floor_us = 6.6;   // fixed time of one dense product and the small kernels beside it
  double moe_floor_us = 30;     // fixed time of one expert block (several kernels)
  double moe_read_gbps = 1530;  // asymptotic weight rate of the expert block
  double collective_alpha_us = 25;          // all-reduce: alpha + beta * KB
  double collective_beta_us_per_kb = 0.05;  // 1 KB = 1024 B
};

inline constexpr Option<HardwareConfig> kHardwareOptions[] = {
    {"preset", "", "file of data/hardware without .cfg, or a path", &HardwareConfig::preset},
    {"ranks", "", "cards that serve the model together", &HardwareConfig::ranks, range(1, 1024)},
    {"sms", "", "streaming multiprocessors of a card", &HardwareConfig::sms, range(1, 4096)},
    {"sm_clock_ghz", "GHz", "clock under this load", &HardwareConfig::sm_clock_ghz,
     range(0.01, 10)},
    {"memory_bytes", "B", "memory of a card", &HardwareConfig::memory_bytes, range(1e6, 1e14)},
    {"dram_gbps", "GB/s", "rated memory bandwidth", &HardwareConfig::dram_gbps, range(1, 1e6)},
    {"dram_read_gbps", "GB/s", "what long reads reach", &HardwareConfig::dram_read_gbps,
     range(1, 1e6)},
    {"dram_latency_us", "us", "one dependent load that misses every cache",
     &HardwareConfig::dram_latency_us, range(0, 1000)},
    {"l2_gbps", "GB/s", "rate of reads that hit the second-level cache", &HardwareConfig::l2_gbps,
     range(1, 1e7)},
    {"mma_tflops", "TFLOP/s", "bf16 mma.sync with fp32 accumulation", &HardwareConfig::mma_tflops,
     range(0.001, 1e6)},
    {"gemm_tflops", "TFLOP/s", "library products of large matrices (prefill)",
     &HardwareConfig::gemm_tflops, range(0.001, 1e6)},
    {"fma_tflops", "TFLOP/s", "fp32 outside the tensor cores", &HardwareConfig::fma_tflops,
     range(0.001, 1e6)},
    {"shared_memory_per_block_bytes", "B", "most shared memory that one block may take",
     &HardwareConfig::shared_memory_per_block_bytes, range(0, 1e7)},
    {"launch_us", "us", "host time of one kernel in eager mode, framework dispatch included",
     &HardwareConfig::launch_us, range(0, 1e6)},
    {"graph_node_gap_us", "us", "gap between two nodes of a replayed graph",
     &HardwareConfig::graph_node_gap_us, range(0, 1e6)},
    {"graph_launch_us", "us", "host time of one graph launch", &HardwareConfig::graph_launch_us,
     range(0, 1e6)},
    {"gemm_floor_us", "us", "fixed time of one dense product, small kernels beside it included",
     &HardwareConfig::gemm_floor_us, range(0, 1e6)},
    {"moe_floor_us", "us", "fixed time of one expert block", &HardwareConfig::moe_floor_us,
     range(0, 1e6)},
    {"moe_read_gbps", "GB/s", "asymptotic weight rate of the expert block",
     &HardwareConfig::moe_read_gbps, range(1, 1e6)},
    {"collective_alpha_us", "us", "all-reduce: fixed part", &HardwareConfig::collective_alpha_us,
     range(0, 1e6)},
    {"collective_beta_us_per_kb", "us/KB", "all-reduce: part by size (1 KB = 1024 B)",
     &HardwareConfig::collective_beta_us_per_kb, range(0, 1e6)},
};

}  // namespace shiftpoint
