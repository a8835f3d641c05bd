# SPDX-License-Identifier: Apache-2.0
# hpct-simulate, and its library for tests that want a run without a process.
add_library(hpct_simulate STATIC simulate.c simulate_odd.c simulate_shapes.c simulate_waits.c)
target_link_libraries(hpct_simulate PUBLIC hpct_timeline)
add_executable(hpct-simulate main_simulate.c)
target_link_libraries(hpct-simulate PRIVATE hpct_simulate)
target_link_libraries(test_store_simulate PRIVATE hpct_simulate)

# Prints bytes and ns per record; ./build.sh bench runs it.
add_executable(store_bench bench/store_bench.c)
target_link_libraries(store_bench PRIVATE hpct_store)
set_target_properties(store_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)

# Prints bytes of figures over time, and ms of windows of them; ./build.sh bench values runs it.
add_executable(values_bench bench/values_bench.c)
target_link_libraries(values_bench PRIVATE hpct_store m)
set_target_properties(values_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)

# Prints ns per record of the whole collector, from rings to its store; ./build.sh bench runs it.
if(TARGET hpct_record)
  add_executable(collect_bench bench/collect_bench.c)
  target_link_libraries(collect_bench PRIVATE hpct_record)
  target_link_options(collect_bench PRIVATE -Wl,--wrap=vdso_clock_gettime)
  set_target_properties(collect_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endif()

# Where the bytes of a store are, by hand.
add_executable(store_account bench/store_account.c)
target_link_libraries(store_account PRIVATE hpct_store m)
set_target_properties(store_account PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)

# Windows with rollups and by brute force.
add_executable(roll_bench bench/roll_bench.c)
target_link_libraries(roll_bench PRIVATE hpct_simulate hpct_timeline)
set_target_properties(roll_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)

# What questions cost as records and streams grow: ./build.sh bench store.
add_executable(scale_bench bench/scale_bench.c)
target_link_libraries(scale_bench PRIVATE hpct_simulate hpct_timeline)
set_target_properties(scale_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
