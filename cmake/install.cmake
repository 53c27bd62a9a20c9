# Installation: the program, the library with its headers, the data that ships with Facet, and what
# find_package(facet) and pkg-config need to use the library.
#
# The library is static unless BUILD_SHARED_LIBS is on. Its interface may still change with every
# version, so a shared one would promise compatibility that is not there; and a program that links
# it statically carries what it was tested with. The price is that its users must link what it uses
# inside: facetConfig.cmake finds those libraries again, and with pkg-config it takes --static.
include(CMakePackageConfigHelpers)

install(TARGETS facet EXPORT facetTargets)
install(TARGETS facet_program)
install(DIRECTORY include/facet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(folder courses vehicles models)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${folder})
    install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_DATADIR}/facet)
  endif()
endforeach()

# ---- find_package(facet) -----------------------------------------------------------------------
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/facet)
install(EXPORT facetTargets NAMESPACE facet:: DESTINATION ${package_folder})
configure_package_config_file(cmake/facetConfig.cmake.in facetConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(facetConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/facetConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/facetConfigVersion.cmake DESTINATION ${package_folder})

# ---- pkg-config --------------------------------------------------------------------------------
# The prefix is found from the place of the file, so that an installed tree can be moved.
set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH FACET_PREFIX_FROM_PKGCONFIG
  ${CMAKE_INSTALL_PREFIX}/${pkgconfig_folder} ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" FACET_PREFIX_FROM_PKGCONFIG ${FACET_PREFIX_FROM_PKGCONFIG})
configure_file(cmake/facet.pc.in facet.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/facet.pc DESTINATION ${pkgconfig_folder})
