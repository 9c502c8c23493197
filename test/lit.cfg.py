# Configures lit for Sprig's suites; build/test/lit.site.cfg.py supplies the paths and then loads this file.
# Run with:  /usr/lib/llvm-22/bin/lit build/test            all suites
#            /usr/lib/llvm-22/bin/lit build/test/Import     one of them
import glob
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(__file__))
from own_home import OwnHome

config.name = "Sprig"
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "corpus", "oracle", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.sprig_build, "test")
config.test_format = OwnHome(config.test_exec_root, execute_external=False)

tools = os.path.join(config.sprig_build, "bin")
config.environment["PATH"] = os.pathsep.join([tools, config.llvm_tools, os.environ["PATH"]])
# Tests do not depend on the terminal.
config.environment["NO_COLOR"] = "1"
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

stand_in = os.path.join(config.sprig_build, "test", "gpu", "lib")
config.substitutions += [
    # A failure of the tool's own, which an internal error is not; a launcher has the codes of its ranks.
    (r"\bnot %sprig(?= (?!launch\b))", os.path.join(config.test_source_root, "refused") + " " + os.path.join(tools, "sprig")),
    ("%sprig-opt", os.path.join(tools, "sprig-opt")),
    ("%sprig", os.path.join(tools, "sprig")),
    ("%check-tile-ranges", os.path.join(tools, "check-tile-ranges")),
    ("%python", config.python),
    # Two files or folders that are there and differ: `not cmp` would also pass where one is missing.
    ("%differ", "sh -c 'diff -rq \"$0\" \"$1\" > /dev/null; test $? = 1'"),
    # GPUs that are not there (docs/cuda-stand-in.md).
    ("%stand-in-folder", stand_in),
    ("%stand-in", "env LD_LIBRARY_PATH=%s" % stand_in),
    # A program of the public headers, as far as the compiler's checks.
    ("%check-cxx", config.cxx + " -std=c++20 -fsyntax-only -I%s/include -I%s/runtime/include" % ((config.sprig_source,) * 2)),
    # Calls that fail on demand: `env INJECT=write:3:EIO %inject %sprig ...` (test/inject/Inject.c).
    ("%inject", "env LD_PRELOAD=%s/test/inject/inject.so" % config.sprig_build),
    ("%build", config.sprig_build),
    ("%examples", os.path.join(config.sprig_source, "examples")),
    ("%bench", os.path.join(config.sprig_source, "bench")),
    ("%inputs", os.path.join(config.test_source_root, "Inputs")),
]

# The folder of models and conformance cases that may stand beside the checkout.
shared = os.environ.get("SPRIG_SHARED_DIR", os.path.join(config.sprig_source, "..", "shared"))
if os.path.isdir(os.path.join(shared, "models")):
    config.available_features.add("shared")
    config.substitutions.append(("%shared", os.path.realpath(shared)))
else:
    lit_config.note("no shared folder at %s: tests that REQUIRE it are left out" % shared)

# NVIDIA's assembler, which makes cubins; looked for as the compiler does.
places = [os.environ["CUDA_HOME"] + "/bin"] if "CUDA_HOME" in os.environ else os.environ["PATH"].split(os.pathsep) + ["/usr/local/cuda/bin"]
if any(os.access(os.path.join(folder, "ptxas"), os.X_OK) for folder in places):
    config.available_features.add("ptxas")
    config.environment["CUDA_HOME"] = os.environ.get("CUDA_HOME", "/usr/local/cuda")

# Whether the runtime can have GPUs.
if config.runtime_cuda == "ON":
    config.available_features.add("runtime-cuda")

# Whether processes can be ranks.
if config.gloo == "ON":
    config.available_features.add("gloo")

# Whether ranks can talk by MPI, as this machine's mpirun starts them; it starts none for root, and no more than cores,
# unless it is told to.
mpirun = shutil.which("mpirun")
if mpirun and glob.glob(config.sprig_build + "/lib/libsprig_rt_mpi.so"):
    config.available_features.add("mpi")
    config.substitutions.append(("%mpirun", mpirun + " --allow-run-as-root --oversubscribe"))
else:
    lit_config.note("no mpirun, or no MPI when Sprig was built: tests of ranks by MPI are left out")

# Tests of code for other processors run in an emulator.
for folder in os.environ["PATH"].split(os.pathsep):
    if os.path.exists(os.path.join(folder, "qemu-x86_64")):
        config.available_features.add("qemu")
