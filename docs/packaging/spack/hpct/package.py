# SPDX-License-Identifier: Apache-2.0
# hpct for Spack: copy this folder into a repository of yours (`spack repo create`), and
# set `git` to where hpct comes from.
from spack.package import *


class Hpct(CMakePackage):
    """Records call-path traces of CPU threads and GPU streams of unmodified
    programs, and reads them in a terminal: timeline, profiles of any window,
    blame for idle GPUs and waiting threads, comparisons, SQL."""

    homepage = "https://hpct.invalid"
    git = "https://hpct.invalid/hpct.git"

    license("Apache-2.0")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("sql", default=True, description="hpct-sql, and the extension of SQLite")
    variant("loops", default=True, description="Loops of x86-64 code (capstone)")
    variant("pfm", default=True, description="Names of hardware events (libpfm4)")
    variant("papi", default=False, description="PAPI's presets and components")
    variant("cuda", default=False, description="NVIDIA GPUs (CUPTI)")
    variant("opencl", default=False, description="OpenCL")
    variant("level_zero", default=False, description="Intel GPUs (Level Zero)")

    depends_on("c", type="build")
    depends_on("cmake@3.16:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("lmdb@0.9")
    depends_on("zstd")
    depends_on("zlib-api")
    depends_on("elfutils")
    depends_on("ncurses+termlib")
    depends_on("binutils+libiberty")
    depends_on("xxhash")
    depends_on("sqlite@3.34:", when="+sql")
    depends_on("capstone@4:", when="+loops")
    depends_on("libpfm4", when="+pfm")
    depends_on("papi", when="+papi")
    depends_on("cuda", when="+cuda")
    depends_on("opencl-headers", type="build", when="+opencl")
    depends_on("oneapi-level-zero", type="build", when="+level_zero")

    conflicts("%gcc@:7", msg="hpct needs C11 and builtins of gcc 8")
    conflicts("platform=darwin", msg="hpct records Linux programs")

    def setup_build_environment(self, env):
        if self.spec.satisfies("+cuda"):
            env.set("CUDA_HOME", self.spec["cuda"].prefix)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(join_path(self.prefix.bin, "hpct"))("--version", "--build")
