# Joins the objects of a library's kernels, compiled once per level, into one object in which every
# function is there once per level and once as an entry that leads to the chosen one. Run by
# facet_levels (cmake/levels.cmake):
#
#   cmake -DOUT=file.o -DLEVELS=a|b -DOBJECTS_a=x.o|y.o -DOBJECTS_b=... -DCC= -DNM= -DOBJCOPY=
#         -P join_levels.cmake
#
# A function f of level L becomes f_L, and f itself an entry: one jump through a table that isa_fill
# (src/runtime/base/isa.c) fills before main. A level without a function takes that of the level
# below it.
cmake_minimum_required(VERSION 3.25)
string(REPLACE "|" ";" LEVELS "${LEVELS}")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code)
  if(code)
    message(FATAL_ERROR "failed: ${ARGN}")
  endif()
endfunction()

# ---- What each object defines, and the highest level of each name --------------------------------
set(names "")
foreach(level ${LEVELS})
  string(REPLACE "|" ";" objects_${level} "${OBJECTS_${level}}")
  set(at 0)
  foreach(object ${objects_${level}})
    execute_process(COMMAND ${NM} -g --defined-only -P ${object} OUTPUT_VARIABLE listed)
    string(REGEX MATCHALL "[^\n]+" listed "${listed}")
    foreach(line ${listed})
      if(NOT line MATCHES "^([A-Za-z0-9_]+) T ")
        message(FATAL_ERROR "kernels may share functions alone, found ${line} in ${object}")
      endif()
      list(APPEND names ${CMAKE_MATCH_1})
      list(APPEND names_${level} ${CMAKE_MATCH_1})
      list(APPEND names_${level}_${at} ${CMAKE_MATCH_1})
      set(top_${CMAKE_MATCH_1} ${level})
    endforeach()
    math(EXPR at "${at} + 1")
  endforeach()
endforeach()
list(REMOVE_DUPLICATES names)

# ---- Each object with the level's suffix on its names --------------------------------------------
# Within a level, functions call each other directly. But an object that is there up to this level
# alone also runs at the levels above: what has a version there it calls through the entry.
set(joined "")
foreach(level ${LEVELS})
  set(at 0)
  foreach(object ${objects_${level}})
    list(GET names_${level}_${at} 0 first)
    set(map "")
    foreach(name ${names_${level}})
      if(top_${first} STREQUAL level AND NOT top_${name} STREQUAL level)
        continue()
      endif()
      string(APPEND map "${name} ${name}_${level}\n")
    endforeach()
    set(renamed ${OUT}.${level}.${at}.o)
    file(WRITE ${OUT}.${level}.${at}.map "${map}")
    run(${OBJCOPY} --redefine-syms=${OUT}.${level}.${at}.map ${object} ${renamed})
    list(APPEND joined ${renamed})
    math(EXPR at "${at} + 1")
  endforeach()
endforeach()

# ---- The entries ---------------------------------------------------------------------------------
set(entries "")
set(table "")
set(count 0)
foreach(name ${names})
  set(hidden ".hidden ${name}\n")
  if(name MATCHES "^facet_") # public
    set(hidden "")
  endif()
  math(EXPR at "8 * ${count}")
  math(EXPR count "${count} + 1")
  string(APPEND entries ".globl ${name}\n${hidden}.type ${name}, @function\n${name}:\n"
    ".cfi_startproc\nendbr64\njmp *chosen+${at}(%rip)\n.cfi_endproc\n.size ${name}, .-${name}\n")
endforeach()
foreach(level ${LEVELS})
  foreach(name ${names})
    if(name IN_LIST names_${level})
      set(level_${name} ${level})
    elseif(NOT level_${name})
      message(FATAL_ERROR "${name} has no level ${level} and none below it")
    endif()
    string(APPEND table ".long ${name}_${level_${name}} - table\n")
  endforeach()
endforeach()
file(WRITE ${OUT}.s ".text\n${entries}
.type fill, @function
fill:
.cfi_startproc
endbr64
lea chosen(%rip), %rdi
lea table(%rip), %rsi
mov $${count}, %edx
jmp isa_fill
.cfi_endproc
.size fill, .-fill
.hidden isa_fill
.section .init_array.00101, \"aw\", @init_array
.balign 8
.quad fill
.section .rodata.levels, \"a\"
.balign 4
table:\n${table}
.local chosen
.comm chosen, 8*${count}, 8
.section .note.GNU-stack, \"\", @progbits\n")
run(${CC} -c -o ${OUT}.entries.o ${OUT}.s)
run(${CC} -r -nostdlib -o ${OUT} ${joined} ${OUT}.entries.o)
