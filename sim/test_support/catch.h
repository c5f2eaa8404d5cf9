// The one place that knows which Catch2 is installed (v2 on Debian 12, v3 on Debian 13), and how a
// test says that it was skipped: SHIFTPOINT_SKIP("reason") prints "SKIPPED: reason" and returns,
// and ctest reports the test case as skipped (cmake/Module.cmake).
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
// The name of v3, where Contains is about the elements of a range.
namespace Catch::Matchers {
inline auto ContainsSubstring(const std::string& part) {
  return Contains(part);
}
}  // namespace Catch::Matchers
#endif

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#define SHIFTPOINT_SKIP(reason)                        \
  do {                                                 \
    std::cout << "SKIPPED: " << (reason) << std::endl; \
    SUCCEED("skipped");                                \
    return;                                            \
  } while (false)

namespace shiftpoint::test {

// Root of this source tree.
inline std::filesystem::path source_dir() {
  return SHIFTPOINT_SOURCE_DIR;
}

// Folder of reference data that lies beside a checkout but is no part of it, or "" where it is
// absent: tests that need it skip with a printed reason. SHIFTPOINT_SHARED overrides the place.
inline std::filesystem::path shared_dir() {
  if (const char* set = std::getenv("SHIFTPOINT_SHARED")) {
    return std::filesystem::is_directory(set) ? set : "";
  }
  const std::filesystem::path beside = source_dir() / ".." / "shared";
  return std::filesystem::is_directory(beside) ? beside : std::filesystem::path();
}

}  // namespace shiftpoint::test
