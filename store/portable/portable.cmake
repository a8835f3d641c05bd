# SPDX-License-Identifier: Apache-2.0
# -DHPCT_PORTABLE=ON: programs and libraries that run with glibc 2.28 and later and need no other. What they use is linked
# statically, except what they open when they need it (capstone, libpfm), which ./build.sh package puts beside them.
# The agent is that way in every build.
# -DHPCT_STATIC=ON as well: programs that need no C library of the system at all, for those of musl. They open nothing.
if(HPCT_STATIC)
  set(static_dl ${CMAKE_BINARY_DIR}/static_dl.o)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -std=gnu11 -D_GNU_SOURCE -O2 -fPIE -c -o ${static_dl}
    ${CMAKE_SOURCE_DIR}/store/portable/static_dl.c RESULT_VARIABLE static_failed)
  if(static_failed)
    message(FATAL_ERROR "store/portable/static_dl.c cannot be compiled")
  endif()
  set(CMAKE_C_LINK_EXECUTABLE "<CMAKE_C_COMPILER> <FLAGS> <CMAKE_C_LINK_FLAGS> <LINK_FLAGS> -static-pie \
<OBJECTS> ${static_dl} -o <TARGET> <LINK_LIBRARIES> -lm")
else()
  include(store/portable/glibc.cmake)
endif()
set(CMAKE_SKIP_RPATH ON)
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
string(APPEND CMAKE_C_FLAGS " -DHPCT_PORTABLE -fPIE -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=.")

# portable_shared(TARGET FILE OBJECT MAP [SONAME]) : the library FILE of one relocatable object, which gives out what MAP says.
# The object is of code for programs, as Debian's archives are; relocatable.py makes it fit, on x86-64. Elsewhere there is none.
function(portable_shared target file object map)
  set(soname ${ARGN})
  if(HPCT_STATIC OR NOT CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    return()
  endif()
  if(soname)
    set(soname -Wl,-soname,${soname})
  endif()
  set(streams "")
  foreach(stream stdin stdout stderr)
    list(APPEND streams --redefine-sym ${stream}=hpct_own_${stream})
  endforeach()
  add_custom_command(OUTPUT ${file}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/lib
    COMMAND python3 ${CMAKE_SOURCE_DIR}/store/portable/relocatable.py ${object} ${object}.shared
    COMMAND ${CMAKE_OBJCOPY} ${streams} ${object}.shared
    COMMAND ${CMAKE_C_COMPILER} -shared -nodefaultlibs -o ${file} ${object}.shared ${stubs}/shared.o ${soname}
      -Wl,--version-script=${map} -Wl,--no-undefined -L${stubs} -Wl,--no-as-needed ${stubs}/libc.so.6 ${stubs}/libdl.so.2
      ${stubs}/libpthread.so.0 -Wl,--as-needed ${stubs}/libm.so.6 ${nonshared} -lgcc -lgcc_eh
    DEPENDS ${object} ${map} ${CMAKE_SOURCE_DIR}/store/portable/relocatable.py VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${file})
endfunction()
