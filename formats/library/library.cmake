# SPDX-License-Identifier: Apache-2.0
# What libhpct is made of, and the tables of SQL stand on; libhpct.cmake makes the library of it.
folder_sources(library_sources library)
list(REMOVE_ITEM library_sources library/no_sql.c)
add_library(hpct_formats_library STATIC ${library_sources})
target_link_libraries(hpct_formats_library PUBLIC hpct_blame hpct_timeline hpct_flags)
set_target_properties(hpct_formats_library PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
