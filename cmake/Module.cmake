# shiftpoint_module(name [LINK libs...]): every .cpp of this folder except *_test.cpp becomes the
# library shiftpoint_<name>; the *_test.cpp become the program test_<name>, one ctest a test case.
# Adding a policy is therefore one file (and one line in the registry table), no CMake edit.
function(shiftpoint_module name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  if(sources)
    add_library(shiftpoint_${name} STATIC ${sources})
    target_link_libraries(shiftpoint_${name} PUBLIC shiftpoint_flags ${ARG_LINK})
  else()
    add_library(shiftpoint_${name} INTERFACE)
    target_link_libraries(shiftpoint_${name} INTERFACE shiftpoint_flags ${ARG_LINK})
  endif()
  if(tests)
    shiftpoint_test(test_${name} SOURCES ${tests} LINK shiftpoint_${name})
  endif()
endfunction()

# shiftpoint_test(program SOURCES files... [LINK libs...] [LABELS labels...])
# A test case that prints "SKIPPED:" (see test_support/catch.h) is reported as skipped by ctest.
function(shiftpoint_test program)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  add_executable(${program} ${ARG_SOURCES})
  target_link_libraries(${program} PRIVATE ${ARG_LINK} shiftpoint_test_support shiftpoint_catch)
  catch_discover_tests(${program} TEST_PREFIX "${program}: " PROPERTIES
    LABELS "${ARG_LABELS}" SKIP_REGULAR_EXPRESSION "SKIPPED:")
endfunction()
