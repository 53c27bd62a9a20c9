# facet_library(NAME OBJECTS target HEADERS folder [COPY library])
#
# Makes NAME (static) and NAME_shared from an object library. All objects are first joined into one,
# and what is not marked FACET_API becomes local to it: a program that links either library meets no
# name without the prefix facet_, whatever names it has itself.
#
# COPY names another such library whose insides this one uses. They go in as a private copy, its
# public functions included, so that no library exports anything private to another.
function(facet_library name)
  cmake_parse_arguments(PARSE_ARGV 1 LIBRARY "" "OBJECTS;HEADERS;COPY" "")
  set(object ${CMAKE_CURRENT_BINARY_DIR}/lib${name}.o)
  facet_objects_of(objects ${LIBRARY_OBJECTS})
  set(hide --localize-hidden)
  if(FACET_LEVELS) # a public function's levels are private
    list(TRANSFORM FACET_LEVELS REPLACE "(.+)" "--localize-symbol=*_\\1" OUTPUT_VARIABLE levels)
    list(APPEND hide --wildcard ${levels})
  endif()
  set(depends ${LIBRARY_OBJECTS})
  if(LIBRARY_COPY)
    facet_objects_of(copied ${LIBRARY_COPY}_objects)
    list(APPEND objects ${copied})
    list(APPEND hide --localize-symbols=${CMAKE_CURRENT_BINARY_DIR}/lib${LIBRARY_COPY}.symbols)
    list(APPEND depends ${CMAKE_CURRENT_BINARY_DIR}/lib${LIBRARY_COPY}.o)
  endif()
  add_custom_command(OUTPUT ${object} BYPRODUCTS ${CMAKE_CURRENT_BINARY_DIR}/lib${name}.symbols
    COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${object} ${objects}
    COMMAND ${CMAKE_OBJCOPY} ${hide} ${object}
    COMMAND ${CMAKE_NM} -g --defined-only -j ${object} > lib${name}.symbols
    DEPENDS ${objects} ${depends}
    WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}
    COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)

  foreach(kind STATIC SHARED)
    set(target ${name})
    if(kind STREQUAL SHARED)
      set(target ${name}_shared)
    endif()
    add_library(${target} ${kind} ${object})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE C
      VERSION ${PROJECT_VERSION} SOVERSION 1)
    target_include_directories(${target} PUBLIC
      $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
    if(FACET_SANITIZE) # whoever links a sanitized library needs the sanitizer too
      target_link_options(${target} PUBLIC -fsanitize=${FACET_SANITIZE})
    endif()
    add_library(facet::${target} ALIAS ${target})
  endforeach()
  install(DIRECTORY ${LIBRARY_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT libfacet-dev)
endfunction()
