# SPDX-License-Identifier: Apache-2.0
# For portable.cmake: programs are linked with libraries that have the symbols of glibc 2.28 alone.
set(stubs ${CMAKE_BINARY_DIR}/glibc_2.28)
execute_process(COMMAND python3 ${CMAKE_SOURCE_DIR}/store/portable/glibc_stub.py ${CMAKE_C_COMPILER} ${stubs} 2.28
  RESULT_VARIABLE stubs_failed)
execute_process(COMMAND ${CMAKE_C_COMPILER} -std=gnu11 -D_GNU_SOURCE -O2 -fPIE -c -o ${stubs}/start.o
  ${CMAKE_SOURCE_DIR}/store/portable/glibc_2_28.c RESULT_VARIABLE start_failed)
execute_process(COMMAND ${CMAKE_C_COMPILER} -std=gnu11 -D_GNU_SOURCE -O2 -fPIC -fvisibility=hidden -DHPCT_SHARED -c
  -o ${stubs}/shared.o ${CMAKE_SOURCE_DIR}/store/portable/glibc_2_28.c RESULT_VARIABLE shared_failed)
if(stubs_failed OR start_failed OR shared_failed)
  message(FATAL_ERROR "the libraries with glibc 2.28's symbols cannot be made in ${stubs}")
endif()
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libc_nonshared.a OUTPUT_VARIABLE nonshared
  OUTPUT_STRIP_TRAILING_WHITESPACE)

# dlopen and pthread_create were in libraries of their own before 2.34, under the versions that libc has them under since.
set(old_libraries "${stubs}/libdl.so.2 ${stubs}/libpthread.so.0 ${stubs}/librt.so.1")
if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
  string(APPEND old_libraries " ${stubs}/ld-linux-aarch64.so.1")
endif()
set(CMAKE_C_LINK_EXECUTABLE "<CMAKE_C_COMPILER> <FLAGS> <CMAKE_C_LINK_FLAGS> <LINK_FLAGS> -pie -nodefaultlibs -Wl,--wrap=__libc_start_main -L${stubs} \
<OBJECTS> ${stubs}/start.o -o <TARGET> -Wl,-rpath,'$ORIGIN/../lib/hpct' <LINK_LIBRARIES> \
-Wl,--no-as-needed ${stubs}/libc.so.6 ${old_libraries} -Wl,--as-needed ${stubs}/libm.so.6 ${nonshared} -lgcc -lgcc_eh")
