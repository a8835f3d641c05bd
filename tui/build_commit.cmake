# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=DIR -DOUT=FILE -P build_commit.cmake : FILE defines HPCT_COMMIT, the commit that is being built, "changed"
# where files differ from it. Without git it is what HPCT_COMMIT in the environment says. Runs with every make, and writes
# only what is new, so that one file is compiled again after a commit.
set(commit "$ENV{HPCT_COMMIT}")
find_program(GIT git)
if(NOT commit AND GIT AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${GIT} rev-parse --short=12 HEAD WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE commit
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${GIT} diff-index --quiet HEAD -- WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE is_changed
    OUTPUT_QUIET ERROR_QUIET)
  if(commit AND is_changed)
    string(APPEND commit ", changed")
  endif()
endif()
string(REGEX REPLACE "[^0-9a-zA-Z., +~-]" "" commit "${commit}")
if(NOT commit)
  set(commit "not known")
endif()
set(text "#define HPCT_COMMIT \"${commit}\"\n")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT "${old}" STREQUAL "${text}")
  file(WRITE ${OUT} "${text}")
endif()
