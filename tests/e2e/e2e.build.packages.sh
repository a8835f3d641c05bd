#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh installs what is missing; a package that this release's apt does not know is left out with a line, and all
# others are installed. apt, dpkg, cmake and make are stubs that write down what they are asked for.
. "$(dirname -- "$0")/expect.sh"
mkdir stubs tree
cp "$HPCT_SOURCE/build.sh" tree/
stub() { printf '#!/bin/sh\n%s\n' "$2" >"stubs/$1" && chmod +x "stubs/$1"; }
stub dpkg-query 'exit 0'
stub dpkg 'echo amd64'
stub id 'echo 0'
stub cmake 'exit 0'
stub make 'exit 0'
stub apt-cache 'for p; do :; done; [ "$p" != libze-dev ] && [ "$p" != libotf2-trace-dev ]'
stub apt-get "echo \"\$*\" >>'$work/asked'; case \"\$*\" in *install*libze-dev*) echo 'E: Unable to locate package' >&2 && exit 100 ;; esac"
built() { PATH=$work/stubs:$PATH tree/build.sh build; }
code "a package that apt does not know is no reason to stop" 0 built
check "it is said" grep -q 'apt has no libze-dev here' err
check "what it knows is installed" grep -q 'install.* liblmdb-dev ' asked
check "what it does not is not asked for" [ -z "$(grep install asked | grep -oE 'libze-dev|libotf2')" ]
stub apt-cache 'exit 0'
code "apt's own failure stops" 100 built
