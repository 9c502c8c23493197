"""Programs of two ranks in one package, of which the second says something else than the first: `split_damage.py
TWO.mlir FOLDER SPRIG`, where TWO.mlir is a split model after the phase schedule."""
import re
import subprocess
import sys

text = open(sys.argv[1]).read()
folder, sprig = sys.argv[2:]
at = text.index("exec.program @main_rank1")
head = text[at:text.index("\n", at)]
cases = [
    ("meshes", 'mesh_axes = ["data"]', 'mesh_axes = ["rows"]', "programs of ranks 0 and 1 do not belong together: meshes differ"),
    ("wholes", "output_pieces = [array<i64: 4, 10, 2, 0>]", "output_pieces = [array<i64: 5, 10, 2, 0>]",
     "programs of ranks 0 and 1 do not belong together: outputs differ"),
    ("names", 'outputs("probabilities"', 'outputs("odds"', "programs of ranks 0 and 1 do not belong together: outputs differ"),
    ("sizes", "input_pieces = [array<i64: 4, 1, 8, 8, 2, 0, 0, 0>]", "input_pieces = [array<i64: 5, 1, 8, 8, 2, 0, 0, 0>]",
     "has no program of rank 1 of 2 that takes image"),
    ("overlap", "output_pieces = [array<i64: 4, 10, 2, 0>]", "output_pieces = [array<i64: 4, 10, 1, 0>]",
     "has pieces of ranks 0 and 1 that overlap: programs of ranks do not belong together"),
    ("gap", "output_pieces = [array<i64: 4, 10, 2, 0>]", "output_pieces = [array<i64: 4, 10, 0, 0>]",
     "has pieces of 80 bytes together, expected 160: programs of ranks do not belong together"),
    ("outside", "output_pieces = [array<i64: 4, 10, 2, 0>]", "output_pieces = [array<i64: 4, 10, 3, 0>]",
     "'exec.program' op has 2 from 3 on of a dimension of 4 as output 0"),
]
def run(name, changed):
    path = f"{folder}/{name}"
    open(path + ".mlir", "w").write(changed)
    made = subprocess.run([sprig, "compile", path + ".mlir", "--compile-from", "plan", "--cpu", "native", "-o", path + ".sprig", "-q"],
                          capture_output=True, text=True)
    if made.returncode:
        return made
    return subprocess.run([sprig, "run", path + ".sprig", "--random-inputs", "1"], capture_output=True, text=True)
assert run("as-it-was", text).returncode == 0
for name, old, new, expected in cases:
    assert head.count(old) == 1, (name, head)
    ran = run(name, text[:at] + text[at:].replace(old, new, 1))
    assert ran.returncode == 3, (name, ran.returncode, ran.stderr)
    assert re.match("error: .*" + re.escape(expected), ran.stderr), (name, ran.stderr)
