# Installation: the program, both libraries with their headers, the data that ships with Facet, and
# what find_package(facet COMPONENTS runtime study) and pkg-config need to use them.
#
# Both libraries are installed static and shared. A program that links the static ones links what they
# use inside too: facetConfig.cmake finds those libraries again, and with pkg-config it takes --static.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/facet)
set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The prefix is found from the place of the file, so that an installed tree can be moved.
file(RELATIVE_PATH FACET_PREFIX_FROM_PKGCONFIG
  ${CMAKE_INSTALL_PREFIX}/${pkgconfig_folder} ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" FACET_PREFIX_FROM_PKGCONFIG ${FACET_PREFIX_FROM_PKGCONFIG})

# The shared libraries find each other, and the program them, from wherever the tree stands.
file(RELATIVE_PATH libraries_from_program
  ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})

# facet_install(COMPONENT library package): its archives, its targets and its pkg-config file. The
# shared library goes into this package, all else into libfacet-dev.
function(facet_install component library package)
  set_target_properties(${library}_shared PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS ${library} ${library}_shared EXPORT ${component}Targets
    LIBRARY COMPONENT ${package} NAMELINK_COMPONENT libfacet-dev ARCHIVE COMPONENT libfacet-dev)
  install(EXPORT ${component}Targets NAMESPACE facet:: DESTINATION ${package_folder}
    FILE facet-${component}.cmake COMPONENT libfacet-dev)
  configure_file(cmake/${library}.pc.in ${library}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${library}.pc DESTINATION ${pkgconfig_folder}
    COMPONENT libfacet-dev)
endfunction()

facet_install(runtime facet libfacet1)
if(FACET_STUDY)
  facet_install(study facet_study facet)
  set_target_properties(facet_program PROPERTIES
    INSTALL_RPATH "$ORIGIN/${libraries_from_program}")
  install(TARGETS facet_program COMPONENT facet)
endif()

configure_package_config_file(cmake/facetConfig.cmake.in facetConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(facetConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/facetConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/facetConfigVersion.cmake DESTINATION ${package_folder}
  COMPONENT libfacet-dev)

install(DIRECTORY courses vehicles models results DESTINATION ${CMAKE_INSTALL_DATADIR}/facet
  COMPONENT facet)
