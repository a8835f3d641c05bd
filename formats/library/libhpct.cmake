# SPDX-License-Identifier: Apache-2.0
# libhpct.so and libhpct.a: all of the library's sources, with SQL where SQLite is.
find_package(Threads REQUIRED)
set(map ${CMAKE_CURRENT_SOURCE_DIR}/library/libhpct.map)
if(SQLITE3_FOUND)
  set(library_sql $<TARGET_OBJECTS:hpct_formats_sql>)
else()
  set(library_sql library/no_sql.c)
endif()
add_library(hpct_library SHARED $<TARGET_OBJECTS:hpct_formats_library> ${library_sql})
# The version script says what is seen from outside.
set_target_properties(hpct_library PROPERTIES OUTPUT_NAME hpct SOVERSION 0 VERSION ${PROJECT_VERSION}
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib LINKER_LANGUAGE C LINK_DEPENDS ${map})
target_link_libraries(hpct_library PRIVATE hpct_blame hpct_timeline hpct_flags Threads::Threads m)
if(SQLITE3_FOUND)
  target_link_libraries(hpct_library PRIVATE PkgConfig::SQLITE3)
endif()
target_link_options(hpct_library PRIVATE -Wl,--exclude-libs,ALL -Wl,--version-script=${map} -Wl,--no-undefined)
install(TARGETS hpct_library LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES library/hpct_read.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
