"""A function in nn that joins many arguments: many_operands.py COUNT same|mixed. Rows of 4 elements, or of 1 to 5."""
import sys

count, kind = int(sys.argv[1]), sys.argv[2]
sizes = [4 if kind == 'same' else 1 + 7 * i % 5 for i in range(count)]
types = [f'tensor<3x{size}xf32>' for size in sizes]
result = f'tensor<3x{sum(sizes)}xf32>'
print(f'func.func @joined({", ".join(f"%x{i}: {t}" for i, t in enumerate(types))}) -> {result} {{')
print(f'  %0 = nn.concat {", ".join(f"%x{i}" for i in range(count))} axis = 1 : {", ".join(types)}')
print(f'  return %0 : {result}\n}}')
