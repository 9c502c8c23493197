"""What the stand-in finds when the runtime's orderings are dropped, one at a time: waits of streams for events, edges of
graphs, waits of the host, accesses to peers. Each program is a package that `cuda-calls` calls in all ways; a drop is found
when the stand-in complains in one of the orders, or tells that copies go by way of the host. For scripts/gpu-mutate."""
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test"))
from packages import dealt, layers

KINDS = ("wait", "edge", "sync", "peer")
# The second where the first finds nothing, and so on.
ORDERS = (("lazy", 1), ("eager", 1), ("random", 1), ("random", 2), ("random", 3))


def inference(sprig, scratch):
    return 1, [ROOT / "examples/digits/model.onnx", "--dim", "batch=2"]


def training(sprig, scratch):
    folder = ROOT / "examples/train_digits"
    return 1, [folder / "model.onnx", "--train", folder / "train.json", "--samples", "1437"]


def on_two(sprig, scratch):
    model = [ROOT / "examples/digits/model.onnx", "--dim", "batch=2"]
    return 2, [*model, *dealt(layers(sprig, *model, scratch=scratch), 2)]


def training_on_two(sprig, scratch):
    """The layers of a step on either GPU: values, gradients and states cross."""
    _, model = training(sprig, scratch)
    # An operation that has no layer of its own is not to be placed.
    names = [name for name in dict.fromkeys(layers(sprig, *model, scratch=scratch)) if name != "layer"]
    return 2, [*model, *dealt(names, 2)]


PROGRAMS = {"orderings of inference": inference, "orderings of training": training, "orderings over two GPUs": on_two,
            "orderings of training over two GPUs": training_on_two}


class Program:
    def __init__(self, name, build, scratch):
        self.name, self.build, self.scratch = name, build, scratch / name.replace(" ", "-")
        self.scratch.mkdir(parents=True, exist_ok=True)
        sprig = build / "bin/sprig"
        self.count, flags = PROGRAMS[name](sprig, self.scratch)
        self.devices = "cuda:" + ",".join(map(str, range(self.count)))
        self.package = self.scratch / "package.sprig"
        self.do(sprig, "compile", *flags, "--target", "cuda:sm_90", "--devices", self.devices, "-q", "-o", self.package)
        self.do(build / "bin/sprig-package-images", self.package, "-o", self.scratch)

    def do(self, *command, **environment):
        done = subprocess.run([*map(str, command)], capture_output=True, text=True,
                              env={**os.environ, "CUDA_HOME": "", **environment})
        if done.returncode:
            sys.exit(f"error: {self.name}: '{pathlib.Path(command[0]).name}' ends with exit code {done.returncode}: {done.stderr}")

    def call(self, drop, order, seed):
        """What the stand-in reports of a run."""
        file = self.scratch / f"{drop}.json"
        file.unlink(missing_ok=True)
        settings = {"IMAGES": self.scratch, "DEVICES": f"sm_90x{self.count}", "ORDER": order, "SEED": seed, "REPORT": file,
                    "EFFECTS": "once", "CHECKS": "order,bounds,unwritten,host,pinned", "DROP": drop}
        # A run that goes wrong may fail: what is complained of counts.
        subprocess.run([self.build / "bin/cuda-calls", self.package, self.devices], capture_output=True,
                       env={**os.environ, "LD_LIBRARY_PATH": str(self.build / "test/gpu/lib"),
                            **{f"SPRIG_STANDIN_{key}": str(value) for key, value in settings.items() if value}})
        try:
            return json.loads(file.read_text())
        except FileNotFoundError:
            sys.exit(f"error: {self.name}: cuda-calls has broken down, with '{drop}' dropped, {order} {seed}")

    def is_found(self, report):
        return bool(report["complaints"]) or report["counts"]["copies by way of the host"] > 0


def name_of(kind, dropped):
    """Without the numbers of what was dropped."""
    text = re.sub(r"'kernel [^']*'", "a kernel", re.sub(r" \(.*\)$", "", dropped))
    return f"{kind}: " + re.sub(r"stream \d+ of cuda:\d+|graph \d+ in ", "a stream", text)


def measure(name, build, scratch):
    """The row that scripts/gpu-mutate judges: each drop is a mutant, by its number."""
    program = Program(name, build, scratch)
    for order, seed in ORDERS:
        if program.is_found(report := program.call("", order, seed)):
            sys.exit(f"error: {name}: fails as it is, {order} {seed}: {report['complaints'][:1]}")
    mutants, survivors = 0, {}
    for kind in KINDS:
        for number in itertools.count(1):
            for order, seed in ORDERS:
                report = program.call(f"{kind}={number}", order, seed)
                if not report["dropped"] or program.is_found(report):
                    break
            else:
                survivors.setdefault(name_of(kind, report["dropped"]), []).append(number)
            if not report["dropped"]:
                break
            mutants += 1
    return {"row": name, "mutants": mutants, "endless": 0, "survivors": survivors}
