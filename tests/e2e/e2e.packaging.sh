#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What packages are made of: Debian's four, and RPM's, hold every file once and work together, and are the same bytes when
# made again;
# the module file leads to wherever the tree lies; the recipes for Spack and conda are well formed.
. "$(dirname -- "$0")/expect.sh"
DESTDIR=$work/stage cmake --install "$HPCT_BIN/.." --prefix /opt/hpct >log 2>&1 || fail "install: $(tail -n 3 log)"
mv stage/opt/hpct tree
find tree -name '*.so' -o -path 'tree/bin/*' -type f | xargs strip 2>/dev/null
export SOURCE_DATE_EPOCH=1700000000 DEB_COMPRESSION=none RPM_PAYLOAD=w0.ufdio

if command -v dpkg-deb >/dev/null; then
	for out in once again; do
		"$HPCT_SOURCE/docs/packaging/deb.sh" tree 0.1.0-1 $out >log 2>&1 || fail "deb.sh: $(tail -n 3 log)"
		find tree -exec touch -h -d '2001-02-03 04:05' {} + # files of another time
	done
	same "the packages" "hpct hpct-agent hpct-dev hpct-doc" "$(for deb in once/*.deb; do dpkg-deb -f "$deb" Package; done | sort | xargs)"
	for deb in once/*.deb; do
		same_file "made again" "$deb" "again/${deb##*/}"
		dpkg-deb -x "$deb" root
		dpkg-deb -c "$deb" | awk '$1 !~ /^d/ { print $6 }' >>files
		same "${deb##*/}: its sums" "" "$(dpkg-deb -e "$deb" control && cd root && md5sum -c --quiet ../control/md5sums 2>&1)"
	done
	same "no file is in two of them" "" "$(sort files | uniq -d)"
	# bin, lib and include as they were; of share what Debian has elsewhere has moved.
	(cd tree && find bin lib include ! -type d | sort) >wanted
	sed -nE 's,^[.]/usr/((bin|lib|include)/.*),\1,p' files | sort >got
	same_file "what is in them" wanted got
	for page in tree/share/man/man1/*.1; do
		check "${page##*/} is there, packed" grep -qx "./usr/share/man/man1/${page##*/}.gz" files
	done
	check "zsh's completion" grep -qx ./usr/share/zsh/vendor-completions/_hpct files
	for package in hpct hpct-agent hpct-dev hpct-doc; do
		check "$package: copyright and changelog" test "$(grep -cxE "./usr/share/doc/$package/(copyright|changelog.Debian.gz)" files)" = 2
	done
	mkdir -p tree/bin tree/odd && touch tree/odd/file
	check "what is in no package is refused" grep -q 'odd/file is in no package' \
		<("$HPCT_SOURCE/docs/packaging/deb.sh" tree 0.1.0-1 third 2>&1)
	rm -r tree/odd
	if [ ! -e tree/lib/libhpct.so.0 ]; then # of the archive's tree alone
		touch tree/lib/libhpct.so.0
		"$HPCT_SOURCE/docs/packaging/deb.sh" tree 0.1.0-1 library >log 2>&1 || fail "deb.sh: $(tail -n 3 log)"
		dpkg-deb -e library/hpct_*.deb control
		rm tree/lib/libhpct.so.0
		check "the loader learns of the shared library" grep -qx 'activate-noawait ldconfig' control/triggers
		check "what needs it depends on its package" grep -qx 'libhpct 0 hpct (= 0.1.0-1)' control/shlibs
	fi
	mkdir agent && dpkg-deb -x once/hpct-agent_*.deb agent
	PATH=$work/agent/usr/bin:/usr/bin:/bin code "hpct-agent alone records" 3 hpct-record -o alone.hpct -- "$samples/exits" return 3 0.1
	PATH=$work/root/usr/bin:/usr/bin:/bin
	same "all of them read it" 3 "$(info alone exit)"
	PATH=$HPCT_BIN:/usr/bin:/bin
fi

if command -v rpmbuild >/dev/null && command -v rpm2archive >/dev/null; then
	for out in once again; do
		"$HPCT_SOURCE/docs/packaging/rpm.sh" tree 0.1.0-1 $out >log 2>&1 || fail "rpm.sh: $(tail -n 3 log)"
		find tree -exec touch -h -d '2001-02-03 04:05' {} +
	done
	same "RPM's packages" "hpct hpct-agent hpct-dev hpct-doc" "$(rpm -qp --qf '%{NAME}\n' once/*.rpm 2>/dev/null | sort | xargs)"
	mkdir rpms
	for rpm in once/*.rpm; do
		same_file "made again" "$rpm" "again/${rpm##*/}"
		rpm2archive -n - <"$rpm" | tar -x -C rpms
		rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$rpm" 2>/dev/null | sed -n '/^d/d; s/^[^ ]* //p'
	done >rpm.files
	same "no file is in two of RPM's" "" "$(sort rpm.files | uniq -d)"
	(cd tree && find bin lib include ! -type d -printf '/usr/%p\n' | sed 's,lib/libhpct,lib64/libhpct,; s,lib/pkgconfig,share/pkgconfig,' | LC_ALL=C sort) >wanted
	LC_ALL=C grep -E '^/usr/(bin|lib|lib64|include|share/pkgconfig)/.' rpm.files | LC_ALL=C sort >got
	same_file "what is in RPM's" wanted got
	for page in tree/share/man/man1/*.1; do
		check "${page##*/} is in RPM's, packed" grep -qx "/usr/share/man/man1/${page##*/}.gz" rpm.files
	done
	same "what they need, beside RPM itself" "hpct-agent = 0.1.0-1|libc.so.6(GLIBC_2.28)(64bit)" \
		"$(rpm -qpR once/*.rpm 2>/dev/null | grep -v '^rpmlib(' | sort -u | paste -sd '|')"
	PATH=$work/rpms/usr/bin:/usr/bin:/bin
	code "RPM's hpct-agent records" 3 hpct-record -o rpm.hpct -- "$samples/exits" return 3 0.1
	same "RPM's hpct reads it" 3 "$(info rpm exit)"
	PATH=$HPCT_BIN:/usr/bin:/bin
fi
# Into a root of RPM's, by RPM's own rules; a package that has what it says it provides stands for the C library. No program
# runs there: tests/systems/rpm.sh does that.
if [ "$(id -u)" -eq 0 ] && command -v rpmbuild >/dev/null; then
	cat >glibc.spec <<-'SPEC'
		Name: glibc
		Version: 2.28
		Release: 1
		Summary: a name
		License: none
		BuildArch: noarch
		Provides: libc.so.6(GLIBC_2.28)(64bit)
		%description
		A name.
		%files
	SPEC
	rpmbuild -bb --quiet --define "_topdir $work/top" --define "_rpmdir $work" --define '_build_name_fmt glibc.rpm' glibc.spec >log 2>&1 ||
		fail "a package of a name: $(tail -n 1 log)"
	mkdir system
	system() { rpm --root "$work/system" --dbpath /var/lib/rpm "$@"; }
	system --initdb
	check "without a C library it is refused" grep -q 'GLIBC_2.28' <(system -i once/*.rpm 2>&1)
	system -i glibc.rpm 2>/dev/null
	code "installed by rpm" 0 system -i once/*.rpm
	same "verified by rpm" "" "$(system -V hpct hpct-agent hpct-dev hpct-doc 2>&1)"
	code "hpct-agent, which hpct needs, stays" 1 system -e hpct-agent
	code "removed by rpm" 0 system -e hpct hpct-agent hpct-dev hpct-doc
	same "nothing is left" "" "$(find system -name '*hpct*' | xargs)"
fi

# What makes the shared libraries of the archive: code for programs, with variables of threads, as a library.
if [ "$(uname -m)" = x86_64 ]; then
	cat >program.c <<-'END'
		#include <string.h>
		static __thread int number, errors[2];
		static __thread long kept = 7;
		long put(int value);
		long put(int value)
		{
			number = value;
			kept += number;
			if (number == 3)
				errors[1] = 100;
			return kept + errors[1];
		}
	END
	gcc -O2 -fPIE -c program.c 2>err || fail "gcc: $(cat err)"
	code "code for programs" 0 python3 "$HPCT_SOURCE/store/portable/relocatable.py" program.o library.o
	check "it was for programs" grep -q TPOFF32 <(readelf -rW program.o)
	gcc -shared library.o -o library.so 2>err || fail "a library of it: $(cat err)"
	same "it keeps what it is told" '12 115 120' "$(python3 -c 'import ctypes; f = ctypes.CDLL("./library.so").put; print(f(5), f(3), f(5))')"
	printf 'static __thread int x; int *where(void); int *where(void) { return &x; }\n' >address.c
	gcc -O2 -fPIE -c address.c
	code "an address of a thread's variable" 1 python3 "$HPCT_SOURCE/store/portable/relocatable.py" address.o no.o
	sentence "an address of a thread's variable"
	code "no object" 1 python3 "$HPCT_SOURCE/store/portable/relocatable.py" program.c no.o
fi

module=$(command -v modulecmd || find /usr/lib -name modulecmd.tcl 2>/dev/null | head -n 1)
if [ -n "$module" ]; then
	mv tree elsewhere
	(unset LOADEDMODULES _LMFILES_ MANPATH && MODULEPATH=$work/elsewhere/share/modulefiles "$module" sh load hpct) >loaded 2>err
	check "its module: $(head -n 1 err)" grep -qF "PATH=$work/elsewhere/bin:" loaded
	same "loaded, hpct is that one" "$work/elsewhere/bin/hpct" "$(. ./loaded >/dev/null 2>&1 && command -v hpct)"
	check "man finds its own pages, too" grep -qE "MANPATH='?$work/elsewhere/share/man:" loaded
	mv elsewhere tree
fi

if command -v python3 >/dev/null; then
	version=$(hpct --version | cut -d' ' -f2)
	python3 - "$HPCT_SOURCE/docs/packaging" "$version" >log 2>&1 <<'END' || fail "Spack's package: $(tail -n 1 log)"
import sys, types
place, version = sys.argv[1:]
said = []
spack = types.ModuleType("spack"); package = types.ModuleType("spack.package")
for name in "license version variant depends_on conflicts".split():
    setattr(package, name, lambda *words, _name=name, **options: said.append((_name, words, options)))
package.run_after = lambda *words: lambda function: function
package.on_package_attributes = lambda **options: lambda function: function
package.CMakePackage = type("CMakePackage", (), {})
sys.modules.update({"spack": spack, "spack.package": package})
exec(compile(open(place + "/spack/hpct/package.py").read(), "package.py", "exec"), {})
variants = {words[0] for name, words, _ in said if name == "variant"}
conditions = {options["when"].lstrip("+") for name, _, options in said if "when" in options}
assert conditions <= variants, conditions - variants
assert any(name == "version" and words[0] == version for name, words, _ in said), version
END
	! command -v flake8 >/dev/null || same "flake8 on Spack's package, as Spack has it" "" \
		"$(flake8 --isolated --max-line-length 99 --extend-ignore F403,F405 "$HPCT_SOURCE/docs/packaging/spack/hpct/package.py" 2>&1)"
	python3 -c 'import jinja2, yaml' 2>/dev/null && { python3 - "$HPCT_SOURCE/docs/packaging/conda/meta.yaml" "$version" >log 2>&1 <<'END' || fail "conda's recipe: $(tail -n 1 log)"
import os, sys, jinja2, yaml
recipe = yaml.safe_load(jinja2.Template(open(sys.argv[1]).read()).render(environ={}))
assert recipe["package"] == {"name": "hpct", "version": sys.argv[2]}, recipe["package"]
staged = os.path.normpath(os.path.join(os.path.dirname(sys.argv[1]), recipe["source"]["path"]))
assert staged.startswith(os.path.join(os.environ["HPCT_SOURCE"], "build-package", "stage")), staged
assert {"source", "build", "requirements", "test", "about"} <= set(recipe)
END
	}
	mkdir prefix
	cp LICENSE tree/ 2>/dev/null
	mkdir -p tree/share/terminfo/x && (cd tree && PREFIX=$work/prefix bash "$HPCT_SOURCE/docs/packaging/conda/build.sh") || fail "conda's build"
	same "conda's tree runs" "hpct $version" "$(prefix/bin/hpct --version)"
	check "without entries of terminals, which are ncurses's" [ ! -e prefix/share/terminfo ]
fi
