"""A function in nn that multiplies slices of its argument: many_slices.py COUNT SIZE STRIDE."""
import sys

count, size, stride = map(int, sys.argv[1:])
rows = (count - 1) * stride + size
print(f'func.func @slices(%x: tensor<{rows}x8xf32>, %w: tensor<8x8xf32>) -> tensor<{size}x8xf32> {{')
value = None
for i in range(count):
    print(f'  %s{i} = nn.slice %x starts = [{i * stride}, 0] sizes = [{size}, 8] steps = [1, 1] : tensor<{rows}x8xf32>')
    print(f'  %m{i} = nn.matmul %s{i}, %w : tensor<{size}x8xf32>, tensor<8x8xf32>')
    value, last = f'%y{i}', value
    pair = f'tensor<{size}x8xf32>'
    print(f'  {value} = nn.add %m{i}, {last or f"%s{i}"} : {pair}, {pair}')
print(f'  return {value} : tensor<{size}x8xf32>\n}}')
