#!/usr/bin/env python3
"""against_interpreter.py SPRIG FOLDER: runs each NAME.mlir on NAME/input_K.npy, checks the results of compiled code against
the interpreter's, which computes in double precision, and that code compiled and run in other ways gives the same bits. The
last line is `N passed, N failed`."""
import filecmp
import pathlib
import re
import shutil
import subprocess
import sys

sprig, folder = sys.argv[1], pathlib.Path(sys.argv[2])
VARIANTS = (['--O0'], ['--threads', '2'], ['--cpu', 'x86-64-v3'], ['--O0', '--cpu', 'x86-64-v3'], None)


class Wrong(Exception):
    pass


def call(*command):
    done = subprocess.run([sprig, *map(str, command)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise Wrong(f"{' '.join(map(str, command[:2]))}: {(done.stdout + done.stderr).strip()[-400:]}")


def run(program, data, out, *options):
    shutil.rmtree(out, ignore_errors=True)
    inputs = [f'--input=x{i}={data}/input_{i}.npy' for i in range(len(list(data.glob('input_*.npy'))))]
    call('run', program, *inputs, '--output-dir', out, *options)
    return sorted(path.name for path in out.glob('*.npy'))


def check(model):
    data, out, other = folder / model.stem, folder / 'out', folder / 'other'
    names = run(model, data, out, '--threads', '1')
    for name in names:
        shutil.copy(out / name, data / f"output_{re.sub('[^0-9]', '', name)}.npy")
    call('check', model, '--data', data, '--interpreter', '--rtol', '1e-4', '--atol', '1e-5')
    for variant in VARIANTS:
        program = model
        if variant is None:
            program, variant = folder / 'package.sprig', []
            call('compile', model, '--cpu', 'x86-64-v3', '-o', program)
        if run(program, data, other, *variant) != names or filecmp.cmpfiles(out, other, names, shallow=False)[0] != names:
            raise Wrong(f"other bits with {' '.join(variant) or 'a package for x86-64-v3'}")


passed = failed = 0
for model in sorted(folder.glob('*.mlir')):
    try:
        check(model)
        passed += 1
    except Wrong as wrong:
        failed += 1
        print(f'FAIL {model.stem}: {wrong}')
print(f'{passed} passed, {failed} failed')
sys.exit(1 if failed or not passed else 0)
