#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Called by conda build in the tree: all of it into PREFIX, except what conda's ncurses brings.
set -euo pipefail
mkdir -p "$PREFIX"
cp -a bin lib include share "$PREFIX/"
rm -rf "$PREFIX/share/terminfo"
