# drey_install.cmake: what `cmake --install` puts where, so that a user's project finds drey by
# find_package(drey) and by pkg-config. Proved by tests/install.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(drey_installed_targets drey_base drey_os drey_alloc drey_pools)
if(DREY_OVERRIDE)
  list(APPEND drey_installed_targets drey_override drey_malloc drey_trace)
endif()
install(TARGETS ${drey_installed_targets} EXPORT drey-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}/drey
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT drey-targets NAMESPACE drey:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/drey)

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/drey-config.cmake.in" "${PROJECT_BINARY_DIR}/drey-config.cmake"
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/drey)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/drey-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
# Relative, so that `cmake --install --prefix` and a moved tree work: as the package config does.
file(RELATIVE_PATH drey_pc_prefix "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
if(NOT DREY_SECURE)
  set(drey_pc_definitions "-DDREY_STATIC_HIT=1")  # the package's libraries are archives
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/drey.pc.in" "${PROJECT_BINARY_DIR}/drey.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/drey-config.cmake"
              "${PROJECT_BINARY_DIR}/drey-config-version.cmake"
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/drey)
install(FILES "${PROJECT_BINARY_DIR}/drey.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
