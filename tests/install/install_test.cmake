# install_test.cmake: installs the build into a fresh prefix, then builds and runs a user's project
# against it: by find_package, by pkg-config, and under LD_PRELOAD of the installed library.
#   cmake -DBUILD=... -DSOURCE=... -DWORK=... -DCXX=... -DLIBDIR=lib -P install_test.cmake
# SPDX-License-Identifier: MIT
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0)
    string(REPLACE ";" " " command "${ARGN}")
    message(FATAL_ERROR "${command}\ngave ${result}:\n${output}")
  endif()
  set(run_output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
set(prefix "${WORK}/prefix")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}")

# A prefix is useful only if nothing in it points back into the build.
file(GLOB_RECURSE texts "${prefix}/*.cmake" "${prefix}/*.pc" "${prefix}/*.h" "${prefix}/*.hpp")
foreach(text ${texts})
  file(READ "${text}" content)
  foreach(folder "${BUILD}/" "${SOURCE}/alloc" "${SOURCE}/base" "${SOURCE}/pools")
    string(FIND "${content}" "${folder}" place)
    if(NOT place EQUAL -1)
      message(FATAL_ERROR "${text} refers to ${folder}")
    endif()
  endforeach()
endforeach()

run("${CMAKE_COMMAND}" -S "${SOURCE}/tests/install/user" -B "${WORK}/user"
    "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${CXX}" -DCMAKE_BUILD_TYPE=Release)
run("${CMAKE_COMMAND}" --build "${WORK}/user")
run("${CMAKE_CTEST_COMMAND}" --test-dir "${WORK}/user" --output-on-failure)
message(STATUS "find_package: all programs work")

find_program(pkg_config NAMES pkg-config pkgconf)
if(NOT pkg_config)
  message(STATUS "skipped pkg-config: it is not installed")
  return()
endif()
set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig")
run("${pkg_config}" --cflags --libs drey)
separate_arguments(flags UNIX_COMMAND "${run_output}")
foreach(program calls_drey uses_pools uses_surfaces)
  run("${CXX}" -std=c++20 "${SOURCE}/tests/install/user/${program}.cpp" -o "${WORK}/${program}" ${flags})
  run("${WORK}/${program}")
endforeach()
message(STATUS "pkg-config: all programs work")

# A header of another layout than the library's must not link: here it is renamed.
if(flags MATCHES "DREY_STATIC_HIT=1")
  execute_process(COMMAND "${CXX}" -std=c++20 -Ddrey_inline_abi_1=drey_inline_abi_of_another_version
                          "${SOURCE}/tests/install/user/uses_surfaces.cpp" -o "${WORK}/mismatched"
                          ${flags}
                  RESULT_VARIABLE result ERROR_VARIABLE errors OUTPUT_QUIET)
  if(result EQUAL 0 OR NOT errors MATCHES "drey_inline_abi_of_another_version")
    message(FATAL_ERROR "a program with another layout was linked:\n${errors}")
  endif()
  message(STATUS "a program with another layout does not link")
endif()
