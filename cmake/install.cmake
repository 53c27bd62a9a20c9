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

# facet_install(COMPONENT library): its archives, its targets and its pkg-config file.
function(facet_install component library)
  install(TARGETS ${library} ${library}_shared EXPORT ${component}Targets)
  install(EXPORT ${component}Targets NAMESPACE facet:: DESTINATION ${package_folder}
    FILE facet-${component}.cmake)
  configure_file(cmake/${library}.pc.in ${library}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${library}.pc DESTINATION ${pkgconfig_folder})
endfunction()

facet_install(runtime facet)
if(FACET_STUDY)
  facet_install(study facet_study)
  install(TARGETS facet_program)
endif()

configure_package_config_file(cmake/facetConfig.cmake.in facetConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(facetConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/facetConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/facetConfigVersion.cmake DESTINATION ${package_folder})

install(DIRECTORY courses vehicles models results DESTINATION ${CMAKE_INSTALL_DATADIR}/facet)
