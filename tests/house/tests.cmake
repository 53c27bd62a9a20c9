# The house as hosts see it: what is installed, exported and declared, how large it is, what the
# runtime needs, and the hashes of its results. A sanitized archive would ask its users for the same
# sanitizers, so these tests are for the other builds.
set_tests_properties(house_golden PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME house_headers
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/house/test_headers.sh ${CMAKE_SOURCE_DIR})

# The changes that the tests must notice are changes of the code as it is.
add_test(NAME house_mutations COMMAND ${CMAKE_SOURCE_DIR}/tools/mutate --check)
add_test(NAME house_mutate COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/house/test_mutate.py)

if(NOT FACET_SANITIZE)
  add_test(NAME house_symbols COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/house/test_symbols.sh
    ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${CMAKE_NM} ${CMAKE_READELF})
  add_test(NAME house_size COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/house/test_size.sh
    ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${CMAKE_C_COMPILER})
  add_test(NAME house_runtime_alone COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/house/test_runtime_alone.sh
    ${CMAKE_COMMAND} ${CMAKE_SOURCE_DIR} ${CMAKE_C_COMPILER})
  add_test(NAME install COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/install/test_install.sh
    ${CMAKE_COMMAND} ${CMAKE_BINARY_DIR} ${CMAKE_C_COMPILER} ${CMAKE_NM})
  set_tests_properties(house_runtime_alone install PROPERTIES TIMEOUT 300)
endif()

# What docs/your-robot.md types and runs. Its lines of C and Python take no sanitizer.
set(your_robot_compiler ${CMAKE_C_COMPILER})
if(FACET_SANITIZE)
  set(your_robot_compiler "")
endif()
add_test(NAME house_your_robot COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/house/test_your_robot.py
  ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${your_robot_compiler})
set_tests_properties(house_your_robot PROPERTIES SKIP_RETURN_CODE 77)
