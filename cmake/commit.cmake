# Writes the commit of the source into a small C file, and leaves the file as it is while that is the
# same: a new commit compiles this file and links the program, and no more.
#
# cmake -DSOURCE=DIR -DOUT=FILE -P commit.cmake
set(commit "unknown")
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --show-prefix
    OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE outside ERROR_QUIET)
  if(outside EQUAL 0 AND prefix STREQUAL "") # the root of its own repository, not inside another's
    execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --exclude=* --abbrev=40
      OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
    if(failed EQUAL 0 AND found MATCHES "^[0-9a-f]+(-dirty)?$")
      set(commit ${found})
    endif()
  endif()
endif()
set(text "// Written by cmake/commit.cmake.\n#include \"program/commit.h\"\n
const char *program_commit(void) { return \"${commit}\"; }\n")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT text STREQUAL "${before}")
  file(WRITE ${OUT} "${text}")
endif()
