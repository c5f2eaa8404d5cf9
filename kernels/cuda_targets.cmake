# The kernels: one .cu a variant. packed.cu is built for sm_90a instead of sm_90, because the
# assembler knows bulk multicast as fast there; every other architecture asked for stays as it is.
string(REPLACE "90-real" "90a-real" packed_architectures "${CMAKE_CUDA_ARCHITECTURES}")
add_library(shiftpoint_packed OBJECT
  verify_attention/packed.cu)
set_target_properties(shiftpoint_packed PROPERTIES CUDA_ARCHITECTURES "${packed_architectures}")
if(packed_architectures MATCHES "90a")
  target_compile_definitions(shiftpoint_packed PRIVATE SHIFTPOINT_PAIRS=1)
endif()
add_library(shiftpoint_kernels STATIC
  verify_attention/registry.cpp
  verify_attention/combine.cu
  verify_attention/extend_serial.cu
  verify_attention/flatten_split.cu
  verify_attention/packed_combine.cu
  verify_attention/split_scalar.cu
  verify_attention/split_vector.cu
  relocate_kv.cu
  $<TARGET_OBJECTS:shiftpoint_packed>)
target_include_directories(shiftpoint_packed PRIVATE ${CMAKE_SOURCE_DIR})
target_include_directories(shiftpoint_kernels PUBLIC ${CMAKE_SOURCE_DIR})
target_link_libraries(shiftpoint_kernels PUBLIC shiftpoint_flags shiftpoint_kernel_reference
  CUDA::cudart_static)
foreach(target shiftpoint_packed shiftpoint_kernels)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr --Werror=all-warnings>)
endforeach()
string(JOIN "," kernel_architectures ${CMAKE_CUDA_ARCHITECTURES})

# Verification and timing on the GPU of this machine.
add_library(shiftpoint_kernel_bench STATIC
  bench/cases.cpp
  bench/ceilings.cu
  bench/device_case.cpp
  bench/device_fill.cu
  bench/gather.cu
  bench/gpu_state.cpp
  bench/memory_bench.cpp
  bench/points.cpp
  bench/profile_file.cpp
  bench/timing.cpp
  bench/workload.cpp)
target_link_libraries(shiftpoint_kernel_bench PUBLIC shiftpoint_kernels
  PRIVATE shiftpoint_build_info fmt::fmt-header-only nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
target_compile_options(shiftpoint_kernel_bench PRIVATE
  $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings>)
target_compile_definitions(shiftpoint_kernel_bench PRIVATE
  SHIFTPOINT_CUDA_COMPILER="nvcc ${CMAKE_CUDA_COMPILER_VERSION}"
  SHIFTPOINT_CUDA_FLAGS="-O3 --expt-relaxed-constexpr ${kernel_architectures}")
add_executable(kernel_bench bench/main.cpp)
target_link_libraries(kernel_bench PRIVATE shiftpoint_kernel_bench fmt::fmt-header-only
  Boost::program_options)
# The program is carried to machines with another C++ runtime.
target_link_options(kernel_bench PRIVATE -static-libstdc++ -static-libgcc)

# Tests that need a card print SKIPPED without one.
shiftpoint_test(test_kernels_gpu
  SOURCES gpu_tests/verify_attention_gpu_test.cpp gpu_tests/relocate_kv_gpu_test.cpp
  LINK shiftpoint_kernel_bench
  LABELS gpu)
target_link_options(test_kernels_gpu PRIVATE -static-libstdc++ -static-libgcc)

add_executable(kernel_example examples/minimal.cpp)
target_link_libraries(kernel_example PRIVATE shiftpoint_kernels)
