# SPDX-License-Identifier: Apache-2.0
# -DHPCT_PORTABLE=ON: programs that run with glibc 2.28 and later and need no other library. What they use is linked
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
