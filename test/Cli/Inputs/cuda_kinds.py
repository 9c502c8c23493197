#!/usr/bin/env python3
"""Kinds of models on a GPU that the stand-in plays, every check on: values against the processor's.

    cuda_kinds.py SPRIG IMAGES LIBRARY FOLDER MODEL DATA

IMAGES is the tool that makes emulation images of a package's code, LIBRARY the stand-in's folder; both are - for the machine's own GPU.
MODEL is a network of floats, DATA samples of it. Quantised by `sprig quantize` in each mode, it runs on both and gives the
same: with the products that the model describes, in floats on a GPU, so ties of quantisers may go the other way. Closes with
`N passed, N failed`.
"""
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from counting import expect, finish
from packages import distance, outputs

sprig, images, library, folder, model, data = sys.argv[1:]
folder = pathlib.Path(folder)
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)

# Name, flags of `quantize`, and how far results may be apart, in parts of the largest.
KINDS = [
    ('static', [], 0.02),
    ('static-i8', ['--activations', 'i8', '--symmetric'], 0.02),
    ('static-4', ['--bits', '4'], 0.02),
    ('dynamic', ['--mode', 'dynamic'], 0.02),
    ('weights', ['--mode', 'weights'], 1e-5),
    ('weights-4', ['--mode', 'weights', '--bits', '4'], 1e-5),
    ('weights-4-level-4', ['--mode', 'weights', '--bits', '4', '--accuracy-level', '4'], 1e-4),
]


def run(what, *command, **environment):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, env={**os.environ, **environment})
    expect(f'{what}: exit code {done.returncode}, {done.stdout}{done.stderr}', done.returncode == 0)
    expect(f'{what}: {done.stderr}', 'stand-in:' not in done.stderr)


# Without a toolkit: the PTX in the package is what runs on the stand-in.
compiling, running = ({'CUDA_HOME': ''}, {'LD_LIBRARY_PATH': library, 'SPRIG_STANDIN_ORDER': 'random'}) if images != '-' else ({}, {})
for name, flags, bar in KINDS:
    quantised, package, code = (folder / f'{name}{end}' for end in ('.onnx', '.sprig', '.images'))
    made, right = folder / f'{name}.cuda', folder / f'{name}.cpu'
    run(f'{name}: quantised', sprig, 'quantize', model, '--data', data, *flags, '-q', '-o', quantised)
    run(f'{name}: compiled', sprig, 'compile', quantised, '--dim', 'batch=3', '--target', 'cuda:sm_90', '-q', '-o', package,
        **compiling)
    if images != '-':
        run(f'{name}: has images', images, package, '-o', code)
        running['SPRIG_STANDIN_IMAGES'] = str(code)
    # The range of a whole tensor is that of all samples, so its number stands.
    dims = [] if name == 'dynamic' else ['--dim', 'batch=3']
    run(f'{name}: on a GPU', sprig, 'run', package, '--devices', 'cuda:0', *dims, '--random-inputs', 7, '--output-dir',
        made, **running)
    run(f'{name}: on the processor', sprig, 'run', quantised, '--dim', 'batch=3', '--random-inputs', 7, '--output-dir', right)
    far = distance(outputs(made), outputs(right))
    expect(f"{name}: {far} from the processor's", far < bar)
finish()
