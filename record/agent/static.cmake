# SPDX-License-Identifier: Apache-2.0
# libhpct-agent.a and libhpct-agent-memleak.a: the agents' own objects for hpct-link to put into static programs.
# Links all into one object in which only the names for ld --wrap stay global. Its code is in one section, whose
# frames call paths hide, and its constructor runs before the program's.

# The names of agent.map, without hpct.h's functions (not wrapped) and wrappers of libraries: MPI, GPU runtimes, dlsym.
string(REPLACE ";" " " names "${map}")
string(REGEX REPLACE "/\\*[^*]*\\*/" "" names "${names}")
string(REGEX REPLACE ".*global:" "" names "${names}")
string(REGEX REPLACE "local:.*" "" names "${names}")
string(REGEX MATCHALL "[A-Za-z_0-9]+" names "${names}")
string(REPLACE ";" " " memory_names "${memory_calls}")
string(REGEX MATCHALL "[A-Za-z_0-9]+" memory_names "${memory_names}")
list(REMOVE_ITEM names ${memory_names})
list(FILTER names EXCLUDE REGEX "^(cl[A-Z]|cupti|nccl|ze[A-Z]|Initialize|hpct|GOMP|omp|_ZN|dlsym$)")
list(SORT names COMPARE STRING)
set(header "/* Made of agent.map. */\n#define AGENT_WRAPS(X)")
foreach(name IN LISTS names)
  string(APPEND header " X(${name})")
endforeach()
string(APPEND header "\n#define AGENT_MEMORY_WRAPS(X)")
set(renamed)
set(renamed_memory)
set(kept)
foreach(name IN LISTS memory_names)
  string(APPEND header " X(${name})")
  string(APPEND renamed_memory "${name} __wrap_${name}\n")
  string(APPEND kept "__wrap_${name}\n")
endforeach()
foreach(name IN LISTS names)
  string(APPEND kept "__wrap_${name}\n")
  if(NOT name STREQUAL "__libc_start_main")
    string(APPEND renamed "${name} __wrap_${name}\n")
  endif()
endforeach()
file_put(${CMAKE_CURRENT_BINARY_DIR}/base/agent_names.h "${header}\n")
foreach(name start stop mark mark_begin mark_end range_begin range_end)
  string(APPEND kept "hpct_agent_${name}\n")
endforeach()
foreach(name start stop start_ stop_)
  string(APPEND kept "hpctoolkit_sampling_${name}\n")
endforeach()
set(lists ${CMAKE_CURRENT_BINARY_DIR}/static)
file_put(${lists}/kept "${kept}")
file_put(${lists}/hpct-agent.names "${renamed}")
file_put(${lists}/hpct-agent-memleak.names "${renamed}${renamed_memory}")
add_library(hpct_agent_names INTERFACE)
target_include_directories(hpct_agent_names INTERFACE ${CMAKE_BINARY_DIR})

# agent_archive NAME FLAGS OBJECT...
function(agent_archive name flags)
  set(own hpct_${name}_static)
  add_library(${own} OBJECT base/real_static.c wrap/wrap_start.c)
  target_link_libraries(${own} PRIVATE hpct_flags hpct_agent_names)
  target_compile_definitions(${own} PRIVATE HPCT_STATIC=${flags})
  target_compile_options(${own} PRIVATE -fno-stack-protector -ftls-model=initial-exec -fno-builtin)
  set_target_properties(${own} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
  set(objects "$<FILTER:${ARGN},EXCLUDE,/(real_loaded|wrap_dlsym|wrap_start)[.]c[.]o>;$<TARGET_OBJECTS:${own}>")
  set(one ${CMAKE_CURRENT_BINARY_DIR}/static/${name}.o)
  set(archive ${CMAKE_BINARY_DIR}/lib/hpct/lib${name}.a)
  add_custom_command(OUTPUT ${archive}
    COMMAND ${CMAKE_C_COMPILER} -nostdlib -r -o ${one} "${objects}"
    COMMAND ${CMAKE_OBJCOPY} --strip-debug --redefine-syms=${lists}/${name}.names
      --rename-section .text=hpct_agent --rename-section .text.unlikely=hpct_agent
      --rename-section .text.startup=hpct_agent --rename-section .text.hot=hpct_agent
      --rename-section .init_array=.init_array.00000 ${one}
    COMMAND ${CMAKE_OBJCOPY} --keep-global-symbols=${lists}/kept ${one}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
    COMMAND ${CMAKE_AR} rcs ${archive} ${one}
    DEPENDS "${objects}" ${lists}/${name}.names ${lists}/kept COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(${name}-archive ALL DEPENDS ${archive})
  add_dependencies(${name}-archive ${own} hpct_agent_core hpct_agent hpct_agent_memleak)
  install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR}/hpct)
endfunction()
set(shared $<TARGET_OBJECTS:hpct_agent_core> $<TARGET_OBJECTS:hpct_agent>)
agent_archive(hpct-agent 1 "${shared}")
agent_archive(hpct-agent-memleak 3 "${shared};$<FILTER:$<TARGET_OBJECTS:hpct_agent_memleak>,INCLUDE,/(live_blocks|alloc_tally|wrap_memory)[.]c[.]o>")
