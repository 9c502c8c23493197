"""same_registers.py REMARKS INSPECTED: what `compile -v` says of kernels and what `inspect --format json` reads in cubins."""
import json
import re
import sys

said = sorted(re.findall(r'codegen: (sm_\d+): kernel_(\w+): (\d+) registers, (\d+) bytes of shared memory, (\d+) of stack.* (\d+)% of', open(sys.argv[1]).read()))
read = sorted((image['architecture'], k['kernel'], *(str(n) for n in (k['registers'], k['shared_bytes'], k['stack_bytes'], int(100 * k['occupancy']))))
              for image in json.load(open(sys.argv[2]))['gpu_kernels'] for k in image['kernels'])
assert said and said == read, f'{said}\n{read}'
