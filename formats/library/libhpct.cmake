# SPDX-License-Identifier: Apache-2.0
# libhpct, shared and static, of all of the library's sources, with SQL where SQLite is; and the files for pkg-config.
# record/program has those for CMake: find_package(hpct) finds both.
find_package(Threads REQUIRED)
set(library_parts $<TARGET_FILE:hpct_blame> $<TARGET_FILE:hpct_timeline> $<TARGET_FILE:hpct_store> ${IBERTY_LIBRARY})
set(library_targets hpct_formats_library hpct_blame hpct_timeline hpct_store)
if(SQLITE3_FOUND)
  set(library_sql $<TARGET_OBJECTS:hpct_formats_sql>)
  list(PREPEND library_parts $<TARGET_FILE:hpct_formats_sql>)
  list(APPEND library_targets hpct_formats_sql)
else()
  set(library_sql library/no_sql.c)
  add_library(hpct_formats_no_sql STATIC library/no_sql.c)
  target_link_libraries(hpct_formats_no_sql PRIVATE hpct_flags)
  set_target_properties(hpct_formats_no_sql PROPERTIES POSITION_INDEPENDENT_CODE ON)
  list(PREPEND library_parts $<TARGET_FILE:hpct_formats_no_sql>)
  list(APPEND library_targets hpct_formats_no_sql)
endif()

# Shared: the version script says what is seen from outside.
set(map ${CMAKE_CURRENT_SOURCE_DIR}/library/libhpct.map)
if(NOT HPCT_PORTABLE)
  add_library(hpct_library SHARED $<TARGET_OBJECTS:hpct_formats_library> ${library_sql})
  set_target_properties(hpct_library PROPERTIES OUTPUT_NAME hpct SOVERSION 0 VERSION ${PROJECT_VERSION}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib LINKER_LANGUAGE C LINK_DEPENDS ${map})
  target_link_libraries(hpct_library PRIVATE hpct_blame hpct_timeline hpct_flags Threads::Threads m)
  if(SQLITE3_FOUND)
    target_link_libraries(hpct_library PRIVATE PkgConfig::SQLITE3)
  endif()
  target_link_options(hpct_library PRIVATE -Wl,--exclude-libs,ALL -Wl,--version-script=${map} -Wl,--no-undefined)
  install(TARGETS hpct_library LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

# Static: one object, in which only what hpct_read.h declares has a name. A portable one holds what it uses.
set(LIBHPCT_PRIVATE " -llmdb -lzstd -ldw -lelf") # no Requires.private: who links the shared one has not their headers
set(LIBHPCT_LIBS "")
if(SQLITE3_FOUND)
  string(APPEND LIBHPCT_PRIVATE " -lsqlite3")
endif()
if(HPCT_PORTABLE)
  set(LIBHPCT_PRIVATE "")
  set(LIBHPCT_LIBS " -lpthread -ldl -lm") # there is no other that brings them
  foreach(name lmdb dw elf zstd z bz2 lzma sqlite3)
    find_library(archive_${name} lib${name}.a)
    if(archive_${name})
      list(APPEND library_parts ${archive_${name}})
    endif()
  endforeach()
endif()
set(archive ${CMAKE_BINARY_DIR}/lib/libhpct.a)
set(object ${CMAKE_CURRENT_BINARY_DIR}/libhpct.o)
add_custom_command(OUTPUT ${archive} ${object}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/lib
  COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${object} -Wl,-u,hpct_sql
    -Wl,--whole-archive $<TARGET_FILE:hpct_formats_library> -Wl,--no-whole-archive -Wl,--start-group ${library_parts} -Wl,--end-group
  COMMAND ${CMAKE_OBJCOPY} --strip-debug --wildcard --keep-global-symbol=hpct_* ${object}
  COMMAND ${CMAKE_COMMAND} -E remove -f ${archive}
  COMMAND ${CMAKE_AR} rcsD ${archive} ${object}
  DEPENDS ${library_targets} VERBATIM)
add_custom_target(hpct_library_static ALL DEPENDS ${archive})
install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(HPCT_PORTABLE)
  set(shared ${CMAKE_BINARY_DIR}/lib/libhpct.so.${PROJECT_VERSION})
  portable_shared(hpct_library ${shared} ${object} ${map} libhpct.so.0)
  if(TARGET hpct_library)
    add_dependencies(hpct_library hpct_library_static) # both need the object, which is made once
    install(FILES ${shared} DESTINATION ${CMAKE_INSTALL_LIBDIR})
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/lib) # a fresh tree has none until something is built
    foreach(name libhpct.so.0 libhpct.so)
      file(CREATE_LINK libhpct.so.${PROJECT_VERSION} ${CMAKE_BINARY_DIR}/lib/${name} SYMBOLIC)
      install(FILES ${CMAKE_BINARY_DIR}/lib/${name} DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endforeach()
  endif()
endif()

install(FILES library/hpct_read.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
file(RELATIVE_PATH HPCT_PREFIX_FROM_PC ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(library/libhpct.pc.in libhpct.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/libhpct.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The Python package over the shared library, where the first Python here that looks below the prefix finds it; else where
# Debian's would.
if(TARGET hpct_library)
  set(python_place "")
  if(NOT HPCT_PORTABLE)
    execute_process(COMMAND python3 -c "import sys; print(next((p[len(sys.argv[1]) + 1:] for p in sys.path
      if p.startswith(sys.argv[1] + '/') and p.endswith('-packages')), ''))" ${CMAKE_INSTALL_PREFIX}
      OUTPUT_VARIABLE python_place OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(NOT python_place)
    set(python_place lib/python3/dist-packages)
  endif()
  set(HPCT_PYTHON_PLACE ${python_place} CACHE STRING "Where the Python package is installed, below the prefix")
  install(DIRECTORY python/hpct DESTINATION ${HPCT_PYTHON_PLACE} FILES_MATCHING PATTERN "*.py" PATTERN "py.typed"
    PATTERN "__pycache__" EXCLUDE)
endif()
