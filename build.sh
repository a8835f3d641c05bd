#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The one entry: ./build.sh [VERB], see `./build.sh help`. It installs what is missing from Debian's archive,
# lets CMake and make build into build/, and runs what the verb asks for. It knows nothing about the code.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"

# What each verb needs: verb group, then Debian packages.
packages='
build   gcc libc6-dev make cmake pkg-config
build   libdw-dev libelf-dev liblmdb-dev libzstd-dev zlib1g-dev libncurses-dev libiberty-dev libxxhash-dev libcapstone-dev libsqlite3-dev
build   libcmocka-dev libunwind-dev
build   libyajl-dev libprotobuf-c-dev protobuf-c-compiler libotf2-trace-dev
build   libze-dev opencl-headers libpfm4-dev libpapi-dev
test    pocl-opencl-icd ocl-icd-libopencl1 ocl-icd-opencl-dev
test    g++ gfortran openmpi-bin libopenmpi-dev mpich libmpich-dev musl-tools xz-utils sqlite3 python3 tmux zsh busybox faketime
test    golang-go zstd linux-perf otf2-tools rpm
test    valgrind
test    python3-numpy python3-pandas python3-venv python3-pip
test    environment-modules flake8 python3-yaml python3-jinja2 qemu-user procps util-linux dwz gdb libdebuginfod1 clang-14 llvm-14 lld-14 clang-19 llvm-19 bindfs rustc libomp-14-dev
aarch64 gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static
aarch64 libdw-dev:arm64 libelf-dev:arm64 liblmdb-dev:arm64 libzstd-dev:arm64 zlib1g-dev:arm64 libncurses-dev:arm64 libiberty-dev:arm64
aarch64 libxxhash-dev:arm64 libcapstone-dev:arm64 libcmocka-dev:arm64 libsqlite3-dev:arm64
package libbz2-dev liblzma-dev zstd binutils ncurses-bin ncurses-term python3 git
rpm     rpm
package-aarch64 libbz2-dev:arm64 liblzma-dev:arm64 libpfm4-dev:arm64
fuzz    clang-14 libclang-rt-14-dev
real    lammps openmpi-bin python3 nodejs golang-go gcc ffmpeg hpcc openjdk-17-jdk-headless x265 gromacs postgresql
real    ruby perl lua5.4 luajit g++ clang-14 r-base-core ocaml-nox rustc gfortran qemu-user openssl sqlite3 imagemagick chromium
lint    clang-format-14 clang-tidy-14 cppcheck
bench   python3 sqlite3 time binutils
compare binutils python3 llvm-14 python3.11-dbg librados2 librados2-dbg
'

say() { printf '%s\n' "build.sh: $*" >&2; }

# ensure GROUP... : installs the packages of these groups that are not there; silent when all are.
ensure() {
	command -v dpkg-query >/dev/null || return 0 # not a Debian: CMake will name what is missing
	local group wanted=() have missing=() package
	for group; do
		mapfile -t -O "${#wanted[@]}" wanted < <(
			awk -v g="$group" '$1 == g { for (i = 2; i <= NF; i++) print $i }' <<<"$packages")
	done
	have=$(dpkg-query -W -f '${db:Status-Status} ${binary:Package}\n' "${wanted[@]}" 2>/dev/null |
		sed -n "s/^installed //; T; s/:$(dpkg --print-architecture)\$//; p") || true
	for package in "${wanted[@]}"; do
		grep -qxF -- "$package" <<<"$have" || missing+=("$package")
	done
	[ ${#missing[@]} -eq 0 ] || install_known "${missing[@]}"
}

# apt_knows PACKAGE... : sets known. An older release lacks some: what needs them is left out, as configure's last line says.
apt_knows() {
	local package
	known=()
	for package; do
		if apt-cache show --no-all-versions "$package" >/dev/null 2>&1; then
			known+=("$package")
		else
			say "apt has no $package here: what needs it is left out"
		fi
	done
}

# Whoever may not install is not asked for what there is not; a fresh image has no lists yet.
install_known() {
	local known=("$@")
	! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null || apt_knows "$@"
	[ ${#known[@]} -eq 0 ] || install_packages "${known[@]}"
}

install_packages() {
	local as_root=() foreign= known
	[[ $* != *:arm64* ]] || foreign='dpkg --add-architecture arm64'
	if [ "$(id -u)" -ne 0 ]; then
		if ! command -v sudo >/dev/null || ! { sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; }; }; then
			say "these packages are missing and neither root nor sudo is at hand; run this, then try again:"
			printf '%sapt-get update && apt-get install -y --no-install-recommends %s\n' "${foreign:+$foreign && }" "$*" >&2
			exit 1
		fi
		as_root=(sudo)
	fi
	say "installing: $*"
	# shellcheck disable=SC2086
	[ -z "$foreign" ] || "${as_root[@]}" $foreign
	"${as_root[@]}" apt-get -q update
	apt_knows "$@"
	set -- "${known[@]}"
	[ $# -gt 0 ] || return 0
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 install -y \
		--no-install-recommends "$@"
}

# configure DIR [CMAKE OPTION...]
configure() {
	local dir=$1
	shift
	mkdir -p "$dir"
	cmake -S . -B "$dir" "$@" >"$dir/cmake.log" 2>&1 || { cat "$dir/cmake.log" >&2; exit 1; }
}

# make_in DIR [TARGET...]
make_in() { make -C "$1" --no-print-directory -j"$(nproc)" "${@:2}"; }

# compile DIR [CMAKE OPTION...]
compile() {
	configure "$@"
	make_in "$1"
}

# junit_count KEY : that count of the suite in $report, 0 without one
junit_count() {
	tr '\n\t' '  ' 2>/dev/null <"$report" | grep -o '<testsuite [^>]*>' | head -n 1 |
		sed -n "s/.* $1=\"\([0-9]*\)\".*/\1/p" | grep . || echo 0
}

# second_try DIR : what failed, when at most three e2e tests did, once more and alone; what then passes is named in
# $chance, for it is to be looked into. Those tests meet the machine as it is; no other test has a second try.
second_try() {
	local failed=$1/Testing/Temporary/LastTestsFailed.log first again
	first=$(sed 's/^[0-9]*://' "$failed" 2>/dev/null) || return 0
	[ -n "$first" ] && [ "$(wc -l <<<"$first")" -le 3 ] && ! grep -qv '^e2e\.' <<<"$first" || return 0
	say "once more and alone: ${first//$'\n'/ }"
	if ctest --test-dir "$1" --output-on-failure --rerun-failed -j1; then
		chance=$first
		return
	fi
	again=$(sed 's/^[0-9]*://' "$failed")
	chance=$(grep -vxF -- "$again" <<<"$first") || true
}

# run_tests DIR [CTEST OPTION...] : ctest, then one line with its own counts; fails if a test failed or none ran.
run_tests() {
	local dir=$1 status=0 report tests failed skipped chance=
	shift
	report=$PWD/$dir/tests.xml
	rm -f "$report"
	ctest --test-dir "$dir" --output-on-failure --no-tests=error -j"$(nproc)" --output-junit "$report" "$@" ||
		status=$?
	tests=$(junit_count tests) failed=$(junit_count failures) skipped=$(junit_count skipped)
	[ "$status" -eq 0 ] || second_try "$dir"
	[ -z "$chance" ] || failed=$((failed - $(wc -l <<<"$chance")))
	[ -z "$chance" ] || [ "$failed" -gt 0 ] || status=0
	local passed=$((tests - failed - skipped)) tail=
	[ "$skipped" -eq 0 ] || tail=", $skipped skipped"
	[ -z "$chance" ] || tail+="; these failed once and then passed alone, look why: ${chance//$'\n'/ }"
	printf '%d passed, %d failed%s\n' "$passed" "$failed" "$tail"
	[ "$status" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

verb_build() {
	ensure build
	compile build
	say "done; the programs are in build/bin, and \`build/bin/hpct\` lists what they answer"
}

# Builds what it shows and no test: whoever is new waits for this.
verb_demo() {
	ensure build
	configure build
	make_in build programs sample_phases
	PATH=$PWD/build/bin:$PATH
	local run=build/demo/phases.hpct columns=120 there=
	[ ! -t 0 ] || [ ! -t 1 ] || there=$(stty size 2>/dev/null) || true
	there=${there#* } # as wide as the terminal, if that is not as wide
	[ "${there:-0}" -lt 60 ] || [ "$there" -ge "$columns" ] || columns=$there
	mkdir -p build/demo
	show hpct-record -o "$run" --overwrite -- build/samples/phases
	show hpct-info "$run"
	show hpct-profile "$run" --view top-down --depth 8
	show hpct-view "$run" --print "${columns}x36" --depth 4
	if [ -t 0 ] && [ -t 1 ]; then
		show hpct-view "$run"
	fi
	say "the run is $run; look again with: build/bin/hpct-view $run; docs/tour.md goes through it"
}

# show COMMAND... : the command as one would type it, then what it prints.
show() {
	printf '\n$ %s\n' "$*"
	"$@"
}

# unpack NAME FILE PACKAGE... : packages into build/NAME, unless FILE is there; nothing is installed. A failure is said.
unpack() {
	local dir=$PWD/build/$1 file=$2 package
	shift 2
	[ ! -e "$dir/$file" ] && command -v apt-get >/dev/null || return 0
	mkdir -p "$dir/packages"
	(
		cd "$dir/packages" && apt-get -q download "$@" &&
			for package in *.deb; do dpkg -x "$package" "$dir" || exit; done
	) >"$dir/log" 2>&1 || say "these could not be unpacked, what needs them is left out: $*"
	rm -rf "$dir/packages"
}

verb_test() {
	ensure build test
	# Intel's offline compiler: installed it would be an OpenCL platform without a device for every program here.
	command -v ocloc >/dev/null || unpack ocloc usr/bin/ocloc intel-opencl-icd libigc1 libigdfcl1 libigdgmm12 \
		libopencl-clang14 libllvmspirvlib14
	compile build -DHPCT_WERROR=ON
	run_tests build # the layer check is one of them
}

verb_install() {
	ensure build
	configure build ${PREFIX:+"-DCMAKE_INSTALL_PREFIX=$PREFIX"}
	make_in build programs
	cmake --install build # DESTDIR is CMake's own
}

# verb_package [--aarch64 | --static] [DIRECTORY] : programs for any system with glibc 2.28, or for any at all
# (store/portable), to be unpacked and run anywhere, into DIRECTORY (dist). The same tree gives the same bytes: times are
# SOURCE_DATE_EPOCH's, else the last commit's.
verb_package() {
	local machine kind out version name build stage cross= options=()
	machine=$(uname -m)
	case ${1-} in
	--aarch64)
		shift
		machine=aarch64
		;;
	--static)
		shift
		kind=-static
		options=(-DHPCT_STATIC=ON)
		;;
	esac
	out=${1:-dist} build=build-package${kind-}
	ensure build package
	if [ "$machine" != "$(uname -m)" ]; then
		ensure aarch64 package-aarch64
		build=build-package-$machine cross=$machine-linux-gnu-
		options=("-DCMAKE_TOOLCHAIN_FILE=$PWD/tests/$machine/toolchain.cmake")
	fi
	version=$(version)
	name=hpct-$version-$machine${kind-} stage=$build/stage
	configure "$build" -DHPCT_PORTABLE=ON -DCMAKE_INSTALL_PREFIX=/opt/hpct "${options[@]}"
	make_in "$build" programs
	rm -rf "$stage"
	DESTDIR=$PWD/$stage cmake --install "$build" >"$build/install.log"
	mv "$stage/opt/hpct" "$stage/$name"
	rmdir "$stage/opt"
	if [ -z "${kind-}" ]; then
		package_libraries "$stage/$name" "$cross"
	else
		rm -f "$stage/$name"/lib/hpct/hpct-{ranks,agent-papi,agent-libunwind}*.so # nothing opens them
	fi
	package_terminals "$stage/$name/share/terminfo"
	cp LICENSE README.md CHANGELOG.md "$stage/$name/"
	package_licenses "$stage/$name/share/doc/hpct/licenses"
	package_strip "$stage" "$name" "$cross"
	mkdir -p "$out"
	package_pack "$stage" "$name" "$out/$name.tar.zst" -19 --long=27
	package_pack "$stage" "$name-debug" "$out/$name-debug.tar.zst" -3 # packed already
	tests/systems/archive.sh "$out/$name.tar.zst"
	say "$out/$name.tar.zst: $(du -h "$out/$name.tar.zst" | cut -f 1), unpack it anywhere and run bin/hpct"
}

# verb_deb [DIRECTORY] : what verb_package makes, also as Debian packages
verb_deb() {
	local out=${1:-dist} version
	version=$(version)
	verb_package "$out"
	docs/packaging/deb.sh "build-package/stage/hpct-$version-$(uname -m)" "$version-1" "$out"
	say "$(cd "$out" && ls -- *"_$version-1_"*.deb | xargs): tests/systems/deb.sh tries them"
}

# verb_rpm [DIRECTORY] : what verb_package makes, also as RPM packages
verb_rpm() {
	local out=${1:-dist} version
	version=$(version)
	ensure rpm
	verb_package "$out"
	docs/packaging/rpm.sh "build-package/stage/hpct-$version-$(uname -m)" "$version-1" "$out"
	say "$(cd "$out" && ls -- *"-$version-1."*.rpm | xargs)"
}

version() { sed -n 's/^project(hpct VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt; }

# package_libraries TREE CROSS : what the programs look for beside themselves
package_libraries() {
	local file path
	for file in libcapstone libpfm; do
		path=$("$2gcc" -print-file-name=$file.so)
		cp -L "$path" "$1/lib/hpct/$("$2objdump" -p "$path" | sed -n 's/^ *SONAME *//p')"
	done
}

# package_licenses DIRECTORY : the terms of what is linked into the programs, as Debian has them
package_licenses() {
	local package
	mkdir -p "$1"
	for package in liblmdb libzstd libdw libelf zlib1g libbz2 liblzma libncurses libiberty libxxhash libcapstone libsqlite3 \
		libyajl libprotobuf-c libpfm4 libc6; do
		cp "/usr/share/doc/$package-dev/copyright" "$1/$package"
	done
}

# package_terminals DIRECTORY : entries of common terminals, for images that have none
package_terminals() {
	local terminal
	mkdir -p "$1"
	for terminal in xterm xterm-256color screen screen-256color tmux tmux-256color linux vt100 dumb rxvt-unicode-256color; do
		! infocmp "$terminal" >/dev/null 2>&1 || infocmp -x "$terminal" | tic -x -o "$1" -
	done
}

# package_strip STAGE NAME CROSS : debug information into NAME-debug, found by build id
package_strip() {
	local file id
	while read -r file; do
		readelf -h "$file" >/dev/null 2>&1 || continue
		[[ $file != *.o && $file != *.a ]] || continue
		id=$(readelf -n "$file" | sed -n 's/.*Build ID: //p')
		if [ -n "$id" ]; then
			mkdir -p "$1/$2-debug/.build-id/${id:0:2}"
			"$3objcopy" --only-keep-debug --compress-debug-sections "$file" "$1/$2-debug/.build-id/${id:0:2}/${id:2}.debug"
		fi
		"$3strip" --strip-unneeded "$file"
	done < <(find "$1/$2" -type f \( -path '*/bin/*' -o -path '*/lib/*' \) | LC_ALL=C sort)
	"$3strip" --strip-debug --enable-deterministic-archives "$1/$2"/lib/hpct/*.a
}

# package_pack STAGE NAME FILE ZSTD-OPTION...
package_pack() {
	local epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
	tar -C "$1" --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=u+w,go-w,a+rX -cf - "$2" |
		zstd -q -T1 "${@:4}" -f -o "$3"
}

# The samples for NVIDIA GPUs and the floor they are held against, into build/cuda.
build_cuda() {
	local cuda source name
	cuda=$(dirname -- "$(dirname -- "$(readlink -f -- "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")")
	[ -x "$cuda/bin/nvcc" ] || { say "no nvcc: the CUDA part needs CUDA's toolkit and a GPU"; exit 1; }
	mkdir -p build/cuda
	cp samples/torch_*.py build/cuda/
	for source in samples/cuda_*.cu; do
		name=$(basename "$source" .cu)
		[ "build/cuda/$name" -nt "$source" ] ||
			"$cuda/bin/nvcc" -std=c++17 -O2 -g -lineinfo -arch=native -o "build/cuda/$name" "$source"
	done
	gcc -O2 -fPIC -shared -I"$cuda/include" -I"$cuda/extras/CUPTI/include" -o build/cuda/cuda_floor.so \
		tests/bench/cuda_floor.c -L"$cuda/lib64" -L"$cuda/extras/CUPTI/lib64" -L"$cuda/lib" -lcupti
}

# bench_view RECORDS : pictures and keys on a simulated run of so many records of 1000 threads (3 bytes each on disk)
bench_view() {
	local records run
	records=$(printf '%.0f' "$1") run=build/bench/view-$1.hpct
	[ -d "$run" ] || build/bin/hpct-simulate -o "$run" --shape cpu --streams 1000 --records "$records" --seed 3
	build/bench/view "$run"
	say "the run stays for the next time: $run"
}

verb_bench() {
	ensure build bench
	compile build
	if [ "${1-}" = cuda ]; then
		shift
		build_cuda
		exec python3 tests/bench/cuda.py --bin build/bin --samples build/cuda "$@"
	fi
	if [ "${1-}" = view ]; then
		bench_view "${2:-1e8}"
		return
	fi
	if [ "${1-}" = causes ]; then
		shift
		exec python3 tests/bench/causes.py --build build "$@"
	fi
	if [ "${1-}" = advise ]; then
		shift
		exec python3 tests/bench/advise.py --build build "$@"
	fi
	if [ "${1-}" = python ]; then
		shift
		exec python3 -B tests/bench/python.py --build build "$@"
	fi
	if [ "${1-}" = collect ]; then
		build/bench/store_bench
		build/bench/collect_bench
		return
	fi
	if [ "${1-}" = values ]; then
		shift
		exec build/bench/values_bench "$@"
	fi
	if [ "${1-}" = attach ]; then
		shift
		exec python3 tests/bench/attach.py --build build "$@"
	fi
	if [ "${1-}" = store ]; then
		shift
		if [ $# -eq 0 ]; then
			python3 tests/bench/jobs.py --build build
			build/bench/values_bench
			set -- 50:1000000 50:10000000 50:100000000 50:1000000000 1000:100000000 65536:16000000 \
				131072:32000000
		fi
		exec build/bench/scale_bench "$@"
	fi
	unpack lammps usr/lib/x86_64-linux-gnu/liblammps.so.0 liblammps0
	python3 -B tests/bench/bench.py --build build "$@"
	[ $# -gt 0 ] || { verb_bench collect && verb_bench store; }
}

# verb_compare [[OPTION...] FILE...] : lines and inlined calls of 10,000 addresses of large binaries, beside addr2line -i
verb_compare() {
	local file files=("$@")
	ensure build compare
	compile build
	if [ ${#files[@]} -eq 0 ]; then
		files=(build/bin/hpct-view)
		for file in /usr/bin/python3.11 /usr/lib/x86_64-linux-gnu/{librados.so.2,ceph/libceph-common.so.2}; do
			file=$(readelf -n "$file" | sed -n 's/.*Build ID: \(..\)\(.*\)/\/usr\/lib\/debug\/.build-id\/\1\/\2.debug/p')
			[ ! -e "$file" ] || files+=("$file")
		done
	fi
	tests/compare/lines.py --count 10000 "${files[@]}"
}

sources() { find record store timeline blame tui formats tests samples -name '*.[ch]' | sort; }
checked() { sources | grep '\.c$' | grep -v '^samples/'; }
# tidy [OPTION...] : of the files on stdin those that are built here
tidy() {
	grep -xFf <(sed -n "s|^ *\"file\": \"$PWD/\(.*\)\",*$|\1|p" build/compile_commands.json) |
		xargs -r -P "$(nproc)" -n 1 clang-tidy-14 -p build --quiet --config-file=tests/lint/clang-tidy.yaml "$@"
}

verb_format() {
	ensure lint
	sources | xargs -r clang-format-14 -i
	python3 tests/lint/modules.py --write
}

verb_lint() {
	ensure build test lint
	tests/lint/layers
	sources | xargs -r clang-format-14 --dry-run -Werror
	compile build -DHPCT_WERROR=ON
	checked | cppcheck --quiet --error-exitcode=1 --inline-suppr --suppressions-list=tests/lint/cppcheck.txt \
		--enable=warning,performance,portability --std=c11 -D_GNU_SOURCE -D__x86_64__ -I . -j"$(nproc)" --file-list=-
	checked | grep -v '^tests/' | tidy
	# A test goes on behind an assertion, as far as the analyzer knows.
	checked | grep '^tests/' | tidy '--checks=-clang-analyzer-*' --extra-arg=-Wno-sometimes-uninitialized
	say "lint found nothing"
}

# sanitized NAME SANITIZERS TESTS [TARGET...] : with only the targets built, if any are given. The agent is preloaded
# into programs that carry no sanitizer, so the tests that record stay out.
sanitized() {
	ensure build test
	configure "build-$1" -DHPCT_WERROR=OFF "-DHPCT_SANITIZE=$2" # their instrumentation confuses warnings
	make_in "build-$1" "${@:4}"
	run_tests "build-$1" -R "$3"
}

verb_asan() {
	ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1 HPCT_RANDOM=1 sanitized asan address,undefined '^(unit|golden)\.'
}

# Only what is inside programs has threads: readers share their work out to processes.
verb_tsan() {
	local targets
	targets=$(cd tests/unit && printf 'test_%s\n' record_*.c | sed 's/\.c$//')
	# shellcheck disable=SC2086 # words
	TSAN_OPTIONS=halt_on_error=1 sanitized tsan thread '^unit\.record\.' $targets
}

# Cross-compiled, and what needs nothing that qemu lacks is run: the unit tests of what is inside programs and of the
# store (emulated, the rest takes long and looks at this machine), then the agent in emulated programs. qemu reads no other
# process's memory (jit_objects, java_blobs), and the programs here are this machine's (target_check).
verb_aarch64() {
	ensure build aarch64
	compile build -DHPCT_WERROR=ON
	compile build-aarch64 -DHPCT_WERROR=ON "-DCMAKE_TOOLCHAIN_FILE=$PWD/tests/aarch64/toolchain.cmake"
	run_tests build-aarch64 -R '^unit\.(record|store\.(blob|codec|context|names))' -E '^unit\.record\.(target_check|jit_objects|java_blobs)$'
	run_tests build -R '^e2e\.record\.aarch64$'
}

# verb_stress [--python | --java] [SECONDS] | --stops N | --kills N | --cycles N : the tests run a part of it; HPCT_STRESS_SEED,
# HPCT_SEED repeat one
verb_stress() {
	local room=record test=stress
	ensure build test
	compile build
	if [ "${1-}" = --kills ]; then
		test=kills HPCT_KILLS=${2:-200}
		export HPCT_KILLS
		shift "$#"
	elif [ "${1-}" = --cycles ]; then
		test=cycles HPCT_CYCLES=${2:-1000}
		export HPCT_CYCLES
		shift "$#"
	elif [ "${1-}" = --stops ]; then
		room=python test=stops HPCT_STOPS=${2:-10000}
		export HPCT_STOPS
		shift "$#"
	elif [ "${1-}" = --python ]; then
		room=python
		shift
	elif [ "${1-}" = --java ]; then
		test=java_trace
		shift
	fi
	HPCT_BIN=$PWD/build/bin HPCT_SAMPLES=$PWD/build/samples HPCT_SOURCE=$PWD HPCT_POOL=$PWD/build/tests/pool \
		HPCT_STRESS_SECONDS=${1:-600} bash "tests/e2e/e2e.$room.$test.sh"
}

# verb_real [PROGRAM...] : what people run, bare and recorded, RATE= is in samples a second; then what they wait for
verb_real() {
	ensure build real
	compile build
	local failed=0 causes=("$@")
	tests/real/real.sh build/bin "$@" || failed=1
	tests/real/causes.sh build/bin "${causes[@]}" || failed=1
	return $failed
}

# verb_monkey [SECONDS] : random keys at the view under the sanitizers; HPCT_SEED repeats a game
verb_monkey() {
	ensure build test
	configure build-asan -DHPCT_WERROR=OFF -DHPCT_SANITIZE=address,undefined
	make_in build-asan test_tui_monkey
	ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1 HPCT_RANDOM=1 HPCT_MONKEY_SECONDS=${1:-300} \
		"$(find build-asan -name test_tui_monkey -type f)"
}

# verb_session : the pictures in docs/ and docs/session.cast anew, of runs that the tests state by hand, so that they are
# the same everywhere
verb_session() {
	ensure build bench
	compile build
	local picture
	for picture in readme picture-code picture-gauges picture-gauges-plot; do
		HPCT_BIN=$PWD/build/bin HPCT_GOLDEN_UPDATE=1 bash tests/golden/view.sh "$picture"
	done
	PATH=$PWD/build/bin:$PATH
	rm -rf build/session && mkdir -p build/session
	awk -f tests/golden/view_cfd.awk >build/session/cfd.tsv
	hpct-import --from tsv build/session/cfd.tsv -o build/session/cfd.hpct
	XDG_CONFIG_HOME=$PWD/build/session XDG_CACHE_HOME=$PWD/build/session \
		python3 docs/session.py record build/session/cfd.hpct
	say "docs/*.svg and docs/session.cast are new; look at the latter with: docs/session.py play"
}

# verb_fuzz [SECONDS] : each target that long, from the few inputs in tests/fuzz/corpus; what it found interesting
# stays in build-fuzz/corpus
verb_fuzz() {
	local seconds=${1:-30} target name entropic
	ensure build fuzz
	configure build-fuzz -DHPCT_FUZZ=ON -DCMAKE_C_COMPILER=clang-14 -DHPCT_SANITIZE=address,undefined,fuzzer-no-link
	make_in build-fuzz fuzz
	for target in build-fuzz/fuzz/fuzz_*; do
		name=${target##*/fuzz_} entropic=1
		case $name in
		record_rings | store_file | timeline_run) entropic=0 ;; # tens of thousands of features: it takes most of the time
		esac
		mkdir -p "build-fuzz/corpus/$name"
		UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 "$target" -max_total_time="$seconds" -entropic="$entropic" \
			-timeout=10 -rss_limit_mb=4096 -artifact_prefix=build-fuzz/ \
			"build-fuzz/corpus/$name" $([ ! -d "tests/fuzz/corpus/$name" ] || echo "tests/fuzz/corpus/$name")
	done
	say "fuzzing found nothing"
}

verb_help() {
	cat <<'END'
usage: ./build.sh [VERB]

  build    install what is missing, build everything into build/ (the default)
  demo     build, record a sample program, print its coverage, profile and timeline; opens it on a terminal
  test     build, then run every test; the last line counts them
  package  one archive for any x86-64 system with glibc 2.28 or later, into dist/; `tests/systems/try.sh` tries it;
           `package --aarch64`: one for aarch64, cross-compiled;
           `package --static`: one for systems of musl, whose programs need no C library
  deb      the archive, and Debian packages of the same programs; `tests/systems/deb.sh` tries them
  rpm      the archive, and RPM packages of the same programs
  install  install under PREFIX (default /usr/local), below DESTDIR if set
  bench    measure overhead beside perf and hpcrun, start-up, bytes per sample, time to the first screen, and all
           of `bench collect` and `bench store`;
           `bench collect`: what the collector spends on a record, its writer alone and from the rings on;
           `bench causes`: what it costs to record why threads wait: locks, conditions, pipes, MPI, OpenMP's regions;
           `bench python`: a sample of 30 Python frames, start-up, loops beside perf -X perf, of each interpreter given;
           `bench advise`: hpct-advise of 1e7 samples, and of a GPU binary of 800 MB (2 GB of disk), and bytes a record;
           `bench attach`: what measuring from outside costs, beside perf record -p where it is installed;
           `bench view 1e9`: pictures and keys of the view on a run of so many records (1e8);
           `bench cuda`: what recording costs on an NVIDIA GPU (docs/gpu.md)
           `bench store [STREAMS:RECORDS ...]`: what questions cost as runs grow, cold and warm, beside a scan,
           and what --jobs spares;
           `bench values [N]`: bytes of N figures over time (1e8), and what any window of them costs
  compare  inlined calls and lines of 10,000 addresses of large binaries (or of those given) beside addr2line -i;
           `compare --run RUN FILE`: of those that were sampled
  lint     layer check, clang-format, cppcheck, clang-tidy; warnings are errors
  format   rewrite the sources with clang-format, and docs/modules.md from their headers
  asan     unit and golden tests under the address and undefined-behaviour sanitizers
  tsan     unit tests of record/, which alone has threads, under the thread sanitizer
  aarch64  cross-compile into build-aarch64/, run unit tests and recorded programs under qemu-user
  stress   a storm under every kind of trouble for 600 seconds, or as many as are given; `stress --kills 200`: kill -9
           of programs and collectors at random moments; `stress --cycles 1000`: attaches and detaches so often, both ways;
           `stress --python`: interpreters of every CPython here; `stress --java`: Java machines whose stacks are asked for
           by each collector; `stress --stops 10000`: each thread stopped that often
           and its Python stack compared with an independent reader's
  real     what people run: lammps, python, node, go, java, ruby, R ... (installed on demand), bare and recorded: same
           output, whole stacks; and who made others wait: at a hot row of postgres under pgbench, for a slow rank
           of lammps, for the longest compile of make -j2 (real pgbench, real lammps, real make)
  monkey   random keys at the view under the sanitizers for 300 seconds, or as many as are given
  session  draw docs/*.svg and record docs/session.cast anew; docs/session.py play shows it
  fuzz     run each fuzz target for 30 seconds, or as many as are given
END
}

verb=${1:-build}
[ $# -eq 0 ] || shift
case $verb in
build | demo | test | package | deb | rpm | install | bench | compare | lint | format | asan | tsan | aarch64 | stress | real | monkey | session | fuzz | help) "verb_$verb" "$@" ;;
-h | --help) verb_help ;;
*)
	say "there is no verb '$verb'; ./build.sh help lists them"
	exit 2
	;;
esac
