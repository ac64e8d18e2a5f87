# drey_options.cmake: the switches of the build, and what every target is compiled with.
# Sets no global flags but the dialect and the output folders; targets link `drey_flags`.
option(DREY_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(DREY_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(DREY_TRAINER "Build the DQN trainer" ${PROJECT_IS_TOP_LEVEL})
option(DREY_NATIVE "Compile all of the trainer for this machine alone; its kernels never need it" OFF)
option(DREY_ASSERTS "Check DREY_ASSERT at run time" OFF)
option(DREY_SECURE "Check every free for interior and double frees, at a cost on the hit path" OFF)
option(DREY_WERROR "Treat warnings as errors" OFF)
option(DREY_CUDA "Build what needs nvcc: kernels and the tests that run them" OFF)
set(DREY_SANITIZE "none" CACHE STRING "none, address or thread")
set_property(CACHE DREY_SANITIZE PROPERTY STRINGS none address thread)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
string(REPLACE "-O2" "-O3" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
# Functions and lines, for profiles and stacks; variables cost a third of the build's time.
string(REGEX REPLACE "-g( |$)" "-g1\\1" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")

find_package(Threads REQUIRED)

# The sanitizer owns malloc: the override is not built then.
if(DREY_SANITIZE STREQUAL "none")
  set(DREY_OVERRIDE ON)
else()
  set(DREY_OVERRIDE OFF)
endif()

add_library(drey_flags INTERFACE)
target_compile_options(drey_flags INTERFACE -Wall -Wextra -Wshadow
                       $<$<NOT:$<COMPILE_LANGUAGE:C>>:-Wnon-virtual-dtor> -Wcast-qual
                       $<$<BOOL:${DREY_WERROR}>:-Werror>)
target_compile_definitions(drey_flags INTERFACE $<$<BOOL:${DREY_ASSERTS}>:DREY_ASSERTS=1>
                           $<$<BOOL:${DREY_SECURE}>:DREY_SECURE=1>)
target_link_libraries(drey_flags INTERFACE Threads::Threads)
if(DREY_SANITIZE STREQUAL "address")
  target_compile_options(drey_flags INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer
                         -fno-sanitize-recover=undefined)
  target_link_options(drey_flags INTERFACE -fsanitize=address,undefined)
elseif(DREY_SANITIZE STREQUAL "thread")
  target_compile_options(drey_flags INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(drey_flags INTERFACE -fsanitize=thread)
endif()

# For the trainer only: libdrey.so itself stays portable, so that it can be copied and run under Valgrind.
add_library(drey_native INTERFACE)
if(DREY_NATIVE)
  target_compile_options(drey_native INTERFACE -march=native)
endif()
