# drey_module.cmake: drey_add_module() declares one layer in one call.
#
#   drey_add_module(NAME pools SOURCES vector_pool.cpp HEADERS include/drey/pools/vector_pool.hpp
#                   DEPENDS drey::alloc [FREESTANDING])
#
# makes the static library drey_<name>, alias drey::<name>. HEADERS are public: they live under
# include/, each must compile alone (target all_verify_interface_header_sets), and are installed.
# The layer's own folder is private to it, so an include that breaks the layering does not resolve.
# FREESTANDING layers (alloc, pools) have neither exceptions nor run-time type information.
function(drey_add_module)
  cmake_parse_arguments(PARSE_ARGV 0 module "FREESTANDING" "NAME" "SOURCES;HEADERS;DEPENDS")
  set(target "drey_${module_NAME}")
  if(module_SOURCES)
    add_library(${target} STATIC ${module_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:drey_flags>)
    target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(drey::${module_NAME} ALIAS ${target})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_link_libraries(${target} ${scope} ${module_DEPENDS})
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS "${CMAKE_CURRENT_SOURCE_DIR}/include"
                 FILES ${module_HEADERS})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${module_NAME}
                        VERIFY_INTERFACE_HEADER_SETS ON CXX_VISIBILITY_PRESET hidden)
  if(module_FREESTANDING)
    target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti)
  endif()
endfunction()
