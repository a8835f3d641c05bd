# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# pythons.sh - sourced by e2e.python.*.sh: `pythons` lists the CPython interpreters of this machine that can be read,
# the system's and those of pyenv, one of each version and place, and those that HPCT_PYTHONS names.
pythons() {
	local python
	for python in /usr/bin/python3 /usr/local/bin/python3 "${PYENV_ROOT:-${HOME:-/root}/.pyenv}"/versions/*/bin/python3 \
		${HPCT_PYTHONS-}; do
		[ -x "$python" ] && "$python" -c '
import sys, sysconfig
known = sys.implementation.name == "cpython" and (3, 8) <= sys.version_info[:2] <= (3, 15)
sys.exit(not known or bool(sysconfig.get_config_var("Py_GIL_DISABLED") or sysconfig.get_config_var("Py_DEBUG")))' \
			2>/dev/null && printf '%s\n' "$python"
	done
}
[ -n "$(pythons)" ] || skip "no CPython 3.8 to 3.15 is installed"
