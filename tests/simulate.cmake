# SPDX-License-Identifier: Apache-2.0
# hpct-simulate, and its library for tests that want a run without a process.
add_library(hpct_simulate STATIC simulate.c simulate_odd.c simulate_shapes.c)
target_link_libraries(hpct_simulate PUBLIC hpct_store)
add_executable(hpct-simulate main_simulate.c)
target_link_libraries(hpct-simulate PRIVATE hpct_simulate)
target_link_libraries(test_store_simulate PRIVATE hpct_simulate)
