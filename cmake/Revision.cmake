# The revision of the source tree, as a header made at build time (a commit needs no re-configure).
add_custom_target(shiftpoint_revision
  COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${CMAKE_SOURCE_DIR}
    -DOUTPUT=${CMAKE_BINARY_DIR}/generated/shiftpoint_revision.h
    -DVERSION=${PROJECT_VERSION} -P ${CMAKE_SOURCE_DIR}/cmake/WriteRevision.cmake
  BYPRODUCTS ${CMAKE_BINARY_DIR}/generated/shiftpoint_revision.h)
add_library(shiftpoint_build_info INTERFACE)
target_include_directories(shiftpoint_build_info INTERFACE ${CMAKE_BINARY_DIR}/generated)
add_dependencies(shiftpoint_build_info shiftpoint_revision)
