#!/usr/bin/env python3
"""Networks compiled for GPUs, run by the runtime on the stand-in: values against the processor's, order checked.

    cuda_networks.py SPRIG IMAGES CALLS LIBRARY FOLDER MODEL...

IMAGES is the tool that makes emulation images of a package's code, CALLS the one that calls a package in all ways, LIBRARY
the stand-in's folder. Each model runs on one GPU and with its layers dealt to 2 and to 4:
- once with every check on;
- in other orders without checks, which is quick, with the same bits;
- many calls in as many orders of what the kernels touched the first time, which has to be ordered in each of them.
Nothing may be complained of. Closes with `N passed, N failed`.
"""
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from counting import expect, finish
from packages import dealt, distance, layers, outputs

# Seeds of random orders: of one run of each with the same bits, and of one process with a dozen calls of each.
SEEDS_OF_BITS, SEEDS_OF_CALLS = (1, 2, 3), (4, 5)

sprig, images, calls, library, folder, *models = sys.argv[1:]
folder = pathlib.Path(folder)
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)


def run(what, *command, **environment):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, env={**os.environ, **environment})
    expect(f'{what}: exit code {done.returncode}, {done.stdout}{done.stderr}', done.returncode == 0)
    expect(f'{what}: {done.stderr}', 'stand-in:' not in done.stderr)


def orders():
    """Of a run each: its name, and what the stand-in is told."""
    yield 'every check', {'ORDER': 'random', 'SEED': '7'}
    for order in ('eager', 'lazy'):
        yield order, {'ORDER': order, 'CHECKS': 'none'}
    for seed in SEEDS_OF_BITS:
        yield f'random {seed}', {'ORDER': 'random', 'SEED': str(seed), 'CHECKS': 'none'}


for model in map(pathlib.Path, models):
    name, dims = (model.stem, []) if model.suffix == '.mlir' else (model.parent.name, ['--dim', 'batch=2'])
    run(f'{name} on the processor', sprig, 'run', model, *dims, '--random-inputs', 7, '--output-dir',
        folder / f'{name}.cpu')
    right, first = outputs(folder / f'{name}.cpu'), None
    names = [] if model.suffix == '.mlir' else layers(sprig, model, *dims, scratch=folder)
    for count in (1, 2, 4) if names else (1,):
        devices = 'cuda:' + ','.join(map(str, range(count)))
        package, code = folder / f'{name}.{count}.sprig', folder / f'{name}.{count}'
        # Without a toolkit: the PTX in the package is what runs.
        run(f'{name} compiles for {devices}', sprig, 'compile', model, *dims, '--target', 'cuda:sm_90', '--devices', devices,
            *dealt(names, count), '-o', package, '-q', CUDA_HOME='')
        run(f'{name} has images', images, package, '-o', code)

        def play(what, settings, *command):
            run(f'{name}, {devices}, {what}', *command, LD_LIBRARY_PATH=library, SPRIG_STANDIN_IMAGES=str(code),
                SPRIG_STANDIN_DEVICES=f'sm_90x{count}', **{f'SPRIG_STANDIN_{key}': value for key, value in settings.items()})

        for order, settings in orders():
            made, what = folder / f'{name}.{count}.{order}', f'{name}, {devices}, {order}'
            play(order, settings, sprig, 'run', package, *dims, '--devices', devices, '--random-inputs', 7, '--output-dir', made)
            found = outputs(made)
            far = distance(found, right)
            expect(f"{what}: {far} from the processor's", far < 1e-4)
            first = first or found
            expect(f'{what}: other bits', found == first)
        for seed in SEEDS_OF_CALLS if names else ():
            settings = {'ORDER': 'random', 'SEED': str(seed), 'EFFECTS': 'once', 'CHECKS': 'order,bounds,unwritten,host,pinned'}
            play(f'calls, random {seed}', settings, calls, package, devices)
finish()
