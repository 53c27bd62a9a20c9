# Levels of instructions. The kernels of a portable x86-64 build are compiled once per level, and the
# library chooses one of them when it is loaded. Elsewhere, and with FACET_MARCH, there is one level
# and nothing to choose.
set(FACET_LEVELS "")
if(NOT FACET_MARCH AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(FACET_LEVELS sse2 avx2 avx512) # in the order of src/runtime/base/isa.c
  set(FACET_LEVEL_sse2 -msse2)
  set(FACET_LEVEL_avx2 -mavx2 -mfma -mtune=haswell)
  set(FACET_LEVEL_avx512 -mavx512f -mavx512vl -mavx512bw -mavx512dq -mfma -mtune=sapphirerapids
    -mprefer-vector-width=512)
endif()

# facet_levels(OBJECTS target SOURCES file... [WIDE file...])
#
# Moves these sources of an object library into kernels that are compiled once per level, if there
# are levels: all for sse2 and avx2, and those in WIDE, which gain from wider registers, for avx512
# as well. facet_objects_of(target) then names them beside the other objects.
function(facet_levels)
  cmake_parse_arguments(PARSE_ARGV 0 KERNELS "" "OBJECTS" "SOURCES;WIDE")
  set(target ${KERNELS_OBJECTS})
  if(NOT FACET_LEVELS)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(TRANSFORM KERNELS_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE leveled)
  list(REMOVE_ITEM sources ${leveled})
  set_target_properties(${target} PROPERTIES SOURCES "${sources}")

  set(out ${CMAKE_CURRENT_BINARY_DIR}/${target}.levels.o)
  set(objects "")
  set(depends ${CMAKE_CURRENT_SOURCE_DIR}/cmake/join_levels.cmake)
  foreach(level ${FACET_LEVELS})
    set(sources ${KERNELS_SOURCES})
    if(level STREQUAL avx512)
      set(sources ${KERNELS_WIDE})
    endif()
    if(NOT sources)
      continue()
    endif()
    add_library(${target}_${level} OBJECT ${sources})
    target_compile_options(${target}_${level} PRIVATE ${FACET_LEVEL_${level}})
    set_target_properties(${target}_${level} PROPERTIES FACET_LEVEL ${level})
    foreach(property INCLUDE_DIRECTORIES LINK_LIBRARIES)
      set_target_properties(${target}_${level} PROPERTIES
        ${property} $<TARGET_PROPERTY:${target},${property}>)
    endforeach()
    list(APPEND objects "-DOBJECTS_${level}=$<JOIN:$<TARGET_OBJECTS:${target}_${level}>,|>")
    list(APPEND depends $<TARGET_OBJECTS:${target}_${level}>)
  endforeach()
  list(JOIN FACET_LEVELS "|" levels)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} "-DLEVELS=${levels}" ${objects}
      -DCC=${CMAKE_C_COMPILER} -DNM=${CMAKE_NM} -DOBJCOPY=${CMAKE_OBJCOPY}
      -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/join_levels.cmake
    DEPENDS ${depends} VERBATIM)
  set_source_files_properties(${out} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
endfunction()

# All objects of an object library, its levels included.
function(facet_objects_of out target)
  set(objects $<TARGET_OBJECTS:${target}>)
  if(FACET_LEVELS)
    list(APPEND objects ${CMAKE_CURRENT_BINARY_DIR}/${target}.levels.o)
  endif()
  set(${out} ${objects} PARENT_SCOPE)
endfunction()
