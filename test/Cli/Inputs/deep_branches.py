"""Writes a function of branches inside branches, as deep as told, by one predicate."""
import sys


def branch(depth):
    if depth == 0:
        return ["%r0 = nn.add %x0, %x0 : tensor<4xf32>, tensor<4xf32>"]
    types = f"%p{depth - 1} = %p{depth} : tensor<i1>, %x{depth - 1} = %x{depth} : tensor<4xf32>"
    return [
        f"%r{depth} = nn.cond %p{depth} with ({types}) -> tensor<4xf32> {{",
        *("  " + line for line in branch(depth - 1)),
        f"  nn.yield %r{depth - 1} : tensor<4xf32>",
        "} else {",
        f"  %e{depth} = nn.exp %x{depth - 1} : tensor<4xf32>",
        f"  nn.yield %e{depth} : tensor<4xf32>",
        "}",
    ]


depth = int(sys.argv[1])
print(f"func.func @main(%p{depth}: tensor<i1>, %x{depth}: tensor<4xf32>) -> tensor<4xf32> {{")
print("\n".join("  " + line for line in branch(depth)))
print(f"  return %r{depth} : tensor<4xf32>\n}}")
