"""Prints a chain of as many layers of one width as the argument says, as text of the nn dialect."""
import sys

layers = int(sys.argv[1])
t, w = "tensor<8x64xf32>", "tensor<64x64xf32>"
lines = [f"func.func @main(%v0: {t}, %w: {w}) -> {t} {{"]
for i in range(layers):
    lines += [f"  %p{i} = nn.matmul %v{i}, %w : {t}, {w}", f"  %v{i + 1} = nn.relu %p{i} : {t}"]
print("\n".join(lines + [f"  return %v{layers} : {t}", "}"]))
