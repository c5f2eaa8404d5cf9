# One interface target carries the flags of every C++ target of the project.
add_library(shiftpoint_flags INTERFACE)
target_compile_options(shiftpoint_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast
    -Woverloaded-virtual -Wimplicit-fallthrough -Wextra-semi>
  # GCC 12 reports std::string operator+ (its bug 105651).
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict>
  # Contraction to fused multiply-add would make results depend on the processor.
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>
  # Installed binaries and messages must not carry the path of the build machine.
  $<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=>)
if(SHIFTPOINT_WERROR)
  target_compile_options(shiftpoint_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
target_include_directories(shiftpoint_flags INTERFACE ${CMAKE_SOURCE_DIR})
if(SHIFTPOINT_STATIC)
  target_link_options(shiftpoint_flags INTERFACE -static)
endif()
