# System packages only; ./check and ./reproduce install what is missing.
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
if(SHIFTPOINT_STATIC)
  set(Boost_USE_STATIC_LIBS ON)
  set(ZLIB_USE_STATIC_LIBS ON)
endif()
if(POLICY CMP0167)
  cmake_policy(SET CMP0167 NEW) # Boost ships its own config file; the old module goes away
endif()
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(ZLIB REQUIRED)
if(SHIFTPOINT_STATIC)
  set(OPENSSL_USE_STATIC_LIBS ON)
endif()
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(Catch2 REQUIRED)

# Random123 ships headers only, without a CMake or pkg-config file.
find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)
add_library(random123 INTERFACE)
target_include_directories(random123 SYSTEM INTERFACE ${RANDOM123_INCLUDE_DIR})

# Catch2 v2 (Debian 12) has one header and no main; v3 has a library with main.
add_library(shiftpoint_catch INTERFACE)
if(TARGET Catch2::Catch2WithMain)
  target_link_libraries(shiftpoint_catch INTERFACE Catch2::Catch2WithMain)
else()
  add_library(shiftpoint_catch_main STATIC ${CMAKE_SOURCE_DIR}/sim/test_support/catch2_v2_main.cpp)
  target_link_libraries(shiftpoint_catch_main PRIVATE Catch2::Catch2)
  target_link_libraries(shiftpoint_catch INTERFACE Catch2::Catch2 shiftpoint_catch_main)
endif()
target_link_libraries(shiftpoint_catch INTERFACE shiftpoint_flags)
include(Catch)

find_package(Python3 COMPONENTS Interpreter)
# Debian's packages live with Debian's interpreter, whatever else is first on PATH.
if(EXISTS /usr/bin/python3)
  set(SHIFTPOINT_PYTHON /usr/bin/python3)
else()
  set(SHIFTPOINT_PYTHON ${Python3_EXECUTABLE})
endif()
