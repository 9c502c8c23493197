"""Prints residual blocks with constant 3x3 filters of `CHANNELS HEIGHT WIDTH`, as text of the nn dialect."""
import random
import sys

channels, height, width = map(int, sys.argv[1:])
random.seed(11)
filters = f"tensor<{channels}x{channels}x3x3xf32>"
t = f"tensor<2x{channels}x{height}x{width}xf32>"


def nested(shape):
    if not shape:
        return f"{random.uniform(-0.1, 0.1):.4f}"
    return "[" + ", ".join(nested(shape[1:]) for _ in range(shape[0])) + "]"


print(f"nn.param @w = dense<{nested([channels, channels, 3, 3])}> : {filters}")
print(f'func.func @main(%x: {t} {{nn.name = "x"}}) -> {t} {{')
print(f"  %w = nn.get_param @w : {filters}")
conv = "{groups = 1 : i64, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>}"
at = "x"
for i in range(3):
    print(f"  %a{i} = nn.conv %{at}, %w {conv} : {t}, {filters}\n  %b{i} = nn.relu %a{i} : {t}")
    print(f"  %c{i} = nn.conv %b{i}, %w {conv} : {t}, {filters}\n  %d{i} = nn.add %c{i}, %b{i} : {t}, {t}")
    print(f"  %e{i} = nn.relu %d{i} : {t}")
    # The second convolution reads what the residual is: only a third may lie over it.
    print(f"  %f{i} = nn.conv %e{i}, %w {conv} : {t}, {filters}\n  %g{i} = nn.add %f{i}, %b{i} : {t}, {t}")
    at = f"g{i}"
print(f"  %h = nn.conv %{at}, %w {conv} : {t}, {filters}\n  return %h : {t}\n}}")
