"""What NVIDIA's machine code consists of, from nvdisasm's listing: for gpu_kernels.py.

`sass.py NVDISASM CUBIN` prints it of each kernel.
"""
import re
import subprocess
import sys

INSTRUCTION = re.compile(r'\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)(.*);')
TARGET = re.compile(r'`\((\.L_x_\d+)\)')
# Products and sums in one, of scalars, pairs and matrices.
MATH = {'FFMA', 'FFMA2', 'DFMA', 'HFMA2', 'HMMA', 'DMMA', 'IMMA', 'QMMA', 'HGMMA', 'QGMMA', 'IGMMA', 'UTCHMMA', 'UTCQMMA'}
WIDE = re.compile(r'\.(128|256|ENL2)')


def parse(listing):
    """Of each kernel its instructions as (name, rest), and where its labels are among them."""
    code, current = {}, None
    for line in listing.splitlines():
        if m := re.match(r'\s*\.section\s+\.text\.(\w+)', line):
            current = code.setdefault(m[1], ([], {}))
        elif re.match(r'\s*\.section\s', line):
            current = None
        elif current and (m := re.match(r'(\.L_x_\d+):', line)):
            current[1][m[1]] = len(current[0])
        elif current and (m := INSTRUCTION.match(line)):
            current[0].append((m[1], m[2]))
    return code


def math(instructions):
    return sum(name.split('.')[0] in MATH for name, _ in instructions)


def innermost(instructions, labels):
    """The loops that no other is inside of."""
    loops = set()
    for at, (name, rest) in enumerate(instructions):
        target = TARGET.search(rest) if name.startswith('BRA') else None
        # What jumps to itself stands behind a kernel's end.
        if target and labels.get(target[1], at) < at:
            loops.add((labels[target[1]], at + 1))
    return [l for l in loops if not any(m != l and l[0] <= m[0] and m[1] <= l[1] for m in loops)]


def share(part, whole):
    return round(part / whole, 3) if whole else None


def figures(instructions, labels):
    real = [i for i in instructions if not i[0].startswith('NOP')]
    regions = [[i for i in instructions[first:end] if not i[0].startswith('NOP')] for first, end in innermost(instructions, labels)]
    hot = max(regions, key=math, default=real)
    if not math(hot):
        hot = real
    loads = [name for name, _ in real if name.startswith('LDG') and name != 'LDGDEPBAR']
    stores = [name for name, _ in real if name.startswith('STG')]
    return {'math': share(math(hot), len(hot)) or None, 'loads': share(sum(bool(WIDE.search(n)) for n in loads), len(loads)),
            'stores': share(sum(bool(WIDE.search(n)) for n in stores), len(stores))}


def kernels(nvdisasm, cubin):
    done = subprocess.run([nvdisasm, '-c', cubin], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f'error: {nvdisasm} -c {cubin}: exit code {done.returncode}\n{done.stderr}')
    return {name: figures(*code) for name, code in parse(done.stdout).items()}


if __name__ == '__main__':
    for name, found in kernels(*sys.argv[1:3]).items():
        print(f'{name}: ' + ', '.join(f'{what} {value}' for what, value in found.items()))
