#!/usr/bin/env python3
"""Networks compiled for GPUs, run by the runtime on the stand-in: values against the processor's, order checked.

    cuda_networks.py SPRIG IMAGES LIBRARY FOLDER MODEL...

IMAGES is the tool that makes emulation images of a package's code, LIBRARY the stand-in's folder. Each model runs in
several orders, its layers dealt to 2 and to 4 GPUs too, with the same bits and no complaint of the stand-in's. Closes with `N passed, N failed`.
"""
import array
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from counting import expect, finish

sprig, images, library, folder, *models = sys.argv[1:]
folder = pathlib.Path(folder)
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)


def run(what, *command, **environment):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, env={**os.environ, **environment})
    expect(f'{what}: exit code {done.returncode}, {done.stdout}{done.stderr}', done.returncode == 0)
    return done


def outputs(made):
    """The arrays of f32 in a folder of .npy files of version 1, by name."""
    arrays = {}
    for file in sorted(made.glob('*.npy')):
        data = file.read_bytes()
        arrays[file.name] = array.array('f', data[10 + int.from_bytes(data[8:10], 'little'):])
    return arrays


def distance(a, b):
    """The largest difference, in parts of the largest value of the second."""
    scale = max(map(abs, b))
    return max(abs(x - y) for x, y in zip(a, b, strict=True)) / scale


def layers(model, dims):
    """The names by which --place knows the layers of a model."""
    told = run(f'{name} tells its layers', sprig, 'compile', model, *dims, '--devices', 'null:0,1', '--explain-placement', '-o',
               folder / 'explained.sprig', '-q').stderr
    rows = told[told.find('\nlayer '):].splitlines()[2:]
    return [row.split('  ')[0] for row in rows if '  ' in row]


for model in map(pathlib.Path, models):
    name, dims = (model.stem, []) if model.suffix == '.mlir' else (model.parent.name, ['--dim', 'batch=2'])
    run(f'{name} on the processor', sprig, 'run', model, *dims, '--random-inputs', 7, '--output-dir',
        folder / f'{name}.cpu')
    right, first = outputs(folder / f'{name}.cpu'), None
    expect(f'{name} has outputs', right)
    names = [] if model.suffix == '.mlir' else layers(model, dims)
    for count in (1, 2, 4) if names else (1,):
        # Neighbouring layers lie on different GPUs.
        devices = 'cuda:' + ','.join(map(str, range(count)))
        places = [f'--place={layer}=cuda:{i % count}' for i, layer in enumerate(names) if count > 1]
        package, code = folder / f'{name}.{count}.sprig', folder / f'{name}.{count}'
        # Without a toolkit: the PTX in the package is what runs.
        run(f'{name} compiles for {devices}', sprig, 'compile', model, *dims, '--target', 'cuda:sm_90', '--devices', devices,
            *places, '-o', package, '-q', CUDA_HOME='')
        run(f'{name} has images', images, package, '-o', code)
        for order in ('eager', 'lazy', 'random') if count == 1 else ('random',):
            made, what = folder / f'{name}.{count}.{order}', f'{name}, {devices}, {order}'
            done = run(what, sprig, 'run', package, *dims, '--devices', devices, '--random-inputs', 7, '--output-dir', made,
                       LD_LIBRARY_PATH=library, SPRIG_STANDIN_IMAGES=str(code), SPRIG_STANDIN_ORDER=order,
                       SPRIG_STANDIN_SEED=str(2 + count), SPRIG_STANDIN_DEVICES=f'sm_90x{count}')
            expect(f'{what}: {done.stderr}', 'stand-in:' not in done.stderr)
            found = outputs(made)
            expect(f'{what}: outputs {list(found)}', list(found) == list(right))
            for output in found:
                far = distance(found[output], right[output])
                expect(f"{what}: {output} is {far} from the processor's", far < 1e-4)
            first = first or found
            expect(f'{what}: other bits', found == first)
finish()
