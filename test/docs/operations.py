#!/usr/bin/env python3
"""Completeness of the dialects nn and kernel: operations.py SOURCE SPRIG_OPT (llvm-tblgen lies on the path)

Walks every operation that dialects/NN/*.td and dialects/Kernel/*.td define and names those that lack a summary, a description or an
example; whose example sprig-opt refuses or a kernel cannot be compiled of; that have neither a decomposition nor a scalar body nor
a kernel of their own; or that no test of their dialect under test/Dialect mentions. The last line is `N operations, M complaints`.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

DIALECTS = {'nn': 'NN', 'kernel': 'Kernel'}
# Structure and state: no arithmetic that a kernel could do.
NO_KERNEL = {'after', 'constant', 'dispatch', 'get_param', 'param', 'reshape', 'stop_gradient', 'yield', 'pack'}
COMPILE = ['--sprig-freeze', '--sprig-differentiate', '--sprig-decompose', '--sprig-unroll-scans', '--sprig-scans', '--sprig-layout', '--sprig-pack',
           '--sprig-fuse', '--sprig-emit-kernels']
# What only the layouts of GPUs make.
OF_GPUS = {'sum_parts', 'matmul_parts'}
COMPILE_FOR_GPUS = ['--sprig-fuse=target=cuda', '--sprig-emit-gpu-kernels']


def operations(tblgen, include, source, folder):
    done = subprocess.run([tblgen, '--dump-json', '-I', include, '-I', source, f'{source}/dialects/{folder}/{folder}Ops.td'],
                          capture_output=True, text=True, check=True)
    records = json.loads(done.stdout)
    for name in records['!instanceof']['Op']:
        record = records[name]
        if record['opDialect']['def'] == f'{folder}_Dialect':
            yield record


def run(sprig_opt, flags, text):
    done = subprocess.run([sprig_opt, *flags, '-'], input=text, capture_output=True, text=True, timeout=120)
    return done.returncode == 0, done.stdout, done.stderr.strip().split('\n')[0]


def complaints(dialect, record, sprig_opt, tests):
    name = record['opName']
    if not record['summary'].strip():
        yield 'has no summary'
    if not record['description'].strip():
        yield 'has no description'
    examples = re.findall(r'```mlir\n(.*?)```', record['description'], re.S)
    if not any(re.search(rf'\b{dialect}\.{name}\b', example) for example in examples):
        yield 'has no example'
    for example in examples:
        ok, _, error = run(sprig_opt, ['--verify-roundtrip'], example)
        if not ok:
            yield f'has an example that is refused: {error}'
        elif name not in NO_KERNEL:
            ok, out, error = run(sprig_opt, COMPILE_FOR_GPUS if name in OF_GPUS else COMPILE, example)
            if not ok:
                yield f'has an example of which no kernel can be made: {error}'
            elif not re.search(r'vector\.store|memref\.store|vector\.maskedstore|memref\.copy', out):
                yield 'has an example whose kernel stores nothing'
    if not re.search(rf'\b{dialect}\.{name}\b', tests):
        yield f'is in no test of test/Dialect/{DIALECTS[dialect]}'


def main():
    source, sprig_opt = sys.argv[1:]
    tblgen = shutil.which('llvm-tblgen')
    include = str(pathlib.Path(tblgen).resolve().parents[1] / 'include')
    count = found = 0
    for dialect, folder in DIALECTS.items():
        tests = ''.join(path.read_text() for path in sorted(pathlib.Path(source, 'test/Dialect', folder).glob('*.mlir')))
        for record in operations(tblgen, include, source, folder):
            count += 1
            for complaint in complaints(dialect, record, sprig_opt, tests):
                found += 1
                print(f'{dialect}.{record["opName"]} {complaint}')
    print(f'{count} operations, {found} complaints')
    return 1 if found or count < 90 else 0


sys.exit(main())
