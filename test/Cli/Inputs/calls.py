# A program whose device takes T2, or COUNT calls of it between a front-end and a return as one program of three lanes,
# which spells out what may overlap. For simulate-calls.test: calls.py one T2 | COUNT last|each T1 T2 T3 (ns)
import sys

one = sys.argv[1] == "one"
count = 1 if one else int(sys.argv[1])
reads = lambda call: sys.argv[2] == "each" or call + 1 == count
names = ["device"] if one else ["front", "device", "back"]
lanes = {name: [] for name in names}
run = lambda name: f"exec.dispatch @{name}(%c, %{name}) : memref<1xf32>, memref<1xf32>"
for call in range(count):
    if one:
        lanes["device"] = [run("device")]
        continue
    issued, computed, read = 3 * call, 3 * call + 1, 3 * call + 2
    lanes["front"] += [run("front"), f"exec.record {issued}"]
    lanes["device"] += [f"exec.wait {issued}", run("device"), f"exec.record {computed}"]
    if reads(call):
        lanes["back"] += [f"exec.wait {computed}", run("back"), f"exec.record {read}"]
        lanes["front"].append(f"exec.wait {read}")

print('exec.device @d "cpu"\nexec.constant @c = dense<1.0> : tensor<1xf32>')
for name, ns in zip(names, sys.argv[-len(names):]):
    # A null device takes 100 ns and its flops at 100 a ns.
    print(f"""exec.kernel @{name}(%x: tensor<1xf32>) -> tensor<1xf32> attributes {{tiles = 1 : i64, flops = {100 * (int(ns) - 100)} : i64}} {{
  %0 = kernel.dispatch "{name}" (%a = %x : tensor<1xf32>) -> tensor<1xf32> {{
    %1 = nn.mul %a, %a : tensor<1xf32>, tensor<1xf32>
    kernel.yield %1 : tensor<1xf32>
  }}
  exec.yield %0 : tensor<1xf32>
}}""")
print("exec.program @main inputs() outputs() arena 256 {\n  %c = exec.buffer constant @c on @d : memref<1xf32>")
for i, name in enumerate(names):
    print(f"  %{name} = exec.buffer arena on @d at {64 * i} : memref<1xf32>")
for name in names:
    print("  exec.lane on @d {", *(f"    {command}" for command in lanes[name]), "  }", sep="\n")
print("}")
