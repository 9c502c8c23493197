"""Writes a 3x3 convolution with a constant filter as MLIR text: conv.py BATCH CHANNELS SIZE."""
import sys

batch, channels, size = map(int, sys.argv[1:])
x = f'tensor<{batch}x{channels}x{size}x{size}xf32>'
filter = ', '.join('[' + ', '.join('[' + ', '.join(
    '[' + ', '.join(f'{((o * 7 + i * 5 + r * 3 + c) % 11 - 5) / 8}' for c in range(3)) + ']' for r in range(3)) + ']'
    for i in range(channels)) + ']' for o in range(channels))
print(f'''func.func @main(%x: {x} {{nn.name = "x"}}) -> ({x} {{nn.name = "y"}}) {{
  %w = nn.constant dense<[{filter}]> : tensor<{channels}x{channels}x3x3xf32>
  %0 = nn.conv %x, %w {{strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>}} : {x}, tensor<{channels}x{channels}x3x3xf32>
  return %0 : {x}
}}''')
