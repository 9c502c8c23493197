"""Prints a network of linear layers in MLIR, with weights from a seed: network.py ACTIVATION SIZE SIZE ..."""
import random
import struct
import sys

activation, sizes = sys.argv[1], [int(size) for size in sys.argv[2:]]
random.seed(len(sizes))


def constant(name, *shape):
    count = 1
    for size in shape:
        count *= size
    values = struct.pack(f'<{count}f', *(random.gauss(0, shape[-1] ** -0.5) for _ in range(count)))
    kind = 'tensor<' + ''.join(f'{size}x' for size in shape) + 'f32>'
    print(f'  %{name} = nn.constant dense<"0x{values.hex().upper()}"> : {kind}')
    return kind


print(f'func.func @main(%x: tensor<1x{sizes[0]}xf32> {{nn.name = "x"}}) -> (tensor<1x{sizes[-1]}xf32> {{nn.name = "y"}}) {{')
value = 'x'
for i, (inner, outer) in enumerate(zip(sizes, sizes[1:])):
    weight, bias = constant(f'w{i}', outer, inner), constant(f'b{i}', outer)
    print(f'  %h{i} = nn.linear %{value}, %w{i}, %b{i} : tensor<1x{inner}xf32>, {weight}, {bias}')
    value = f'h{i}'
    if i + 2 < len(sizes):
        print(f'  %a{i} = nn.{activation} %h{i} : tensor<1x{outer}xf32>')
        value = f'a{i}'
print(f'  return %{value} : tensor<1x{sizes[-1]}xf32>\n}}')
