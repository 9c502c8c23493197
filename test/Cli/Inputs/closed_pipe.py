"""Commands whose reader has closed its end of the pipe before they print: closed_pipe.py SPRIG SPRIG_OPT FOLDER EXAMPLES.

Each ends as without a reader it would, says nothing of it, and leaves the files that it writes."""
import os
import pathlib
import subprocess
import sys

sprig, sprig_opt, folder, examples = sys.argv[1:]
digits, training = f"{examples}/digits", f"{examples}/train_digits"
data = f"{training}/data/train"
train = [sprig, "train", f"{training}/model.onnx", "--config", f"{training}/train.json", "--x", f"{data}-images-idx3-ubyte",
         "--y", f"{data}-labels-idx1-ubyte", "--steps", "2"]
model = [f"{digits}/model.onnx", "--dim", "batch=1"]
commands = {
    "help": [sprig, "--help"],
    "help of a command": [sprig, "run", "--help"],
    "inspect": [sprig, "inspect", *model],
    "inspect as JSON": [sprig, "inspect", *model, "--format", "json"],
    "compile": [sprig, "compile", *model, "-o", f"{folder}/m.sprig"],
    "compile many": [sprig, "compile", model[0], "--dim", "batch=1,2,3,4,5,6,7,8", "--cpu", "x86-64-v3", "-o", f"{folder}/many.sprig"],
    # More than a buffer of text, and then calls to the system that fail for reasons of their own.
    "inspect and draw": [sprig, "inspect", f"{folder}/many.sprig", "--format", "json", "--memory-plot", f"{folder}/many.svg"],
    "compile to text": [sprig, "compile", *model, "--emit", "llvm"],
    "compile to bytes": [sprig, "compile", *model, "--emit", "object"],
    "compile to a pipe": [sprig, "compile", *model, "-o", "/dev/stdout"],
    "run": [sprig, "run", *model, "--random-inputs", "1"],
    "check": [sprig, "check", model[0], "--data", f"{digits}/data"],
    "bench": [sprig, "bench", *model, "--seconds", "0.01", "--format", "json"],
    "profile": [sprig, "profile", *model, "--calls", "3"],
    "simulate": [sprig, "simulate", *model],
    "train": [*train, "-o", f"{folder}/trained.onnx"],
    "the schema": [sprig, "train", "--config-help"],
    "ops": [sprig, "ops"],
    "sprig-opt": [sprig_opt, "--help"],
    "passes": [sprig_opt, "--canonicalize", f"{folder}/m.mlir"],
}
pathlib.Path(f"{folder}/m.mlir").write_text("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n")
for name, command in commands.items():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert done.returncode == 0 and "error" not in done.stderr and "roken pipe" not in done.stderr, (name, done)
assert all(os.path.getsize(f"{folder}/{file}") for file in ("m.sprig", "many.svg", "trained.onnx"))

# What is wrong stays wrong, and a failing check fails.
reader, writer = os.pipe()
os.close(reader)
os.close(os.dup(writer))
wrong = subprocess.run([sprig, "run", *model], stdout=writer, stderr=subprocess.PIPE, text=True)
assert wrong.returncode == 2 and "is not given" in wrong.stderr, wrong
differs = subprocess.run([sprig, "check", model[0], "--data", f"{digits}/data", "--rtol", "0", "--atol", "0"], stdout=writer)
assert differs.returncode == 1, differs

# Progress and warnings, too, may go nowhere.
silent = subprocess.run([*train, "-o", f"{folder}/silent.onnx"], stdout=subprocess.DEVNULL, stderr=writer)
assert silent.returncode == 0 and os.path.getsize(f"{folder}/silent.onnx"), silent
print("all end quietly")
