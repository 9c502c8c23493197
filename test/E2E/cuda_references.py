#!/usr/bin/env python3
"""Shared networks and training references on a GPU that the stand-in plays, every check on: races inside of kernels, order
between commands, bounds, bytes that nothing has written. With --hardware on the machine's own GPU instead.

    cuda_references.py BUILD SCRATCH [--steps N] [--batch N,...] [--precision tf32] [--hardware] [--jobs N] [NAME...]

A network's outputs are within 1e-4 of the processor's, in parts of the largest (tf32: within 2e-2), and the same bits in two
processes. Of a training run the first N steps (2) are taken; a loss is right when its relative distance from the reference is
at most four times the largest spread of single precision up to that step (1e-6 always). NAMEs are those of folders in models
and training of SPRIG_SHARED_DIR (../shared beside the checkout), which run in this order; all without. --precision tf32 leaves
out training.
Closes with `N passed, N failed`.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from counting import expect, finish
from packages import distance, outputs

parser = argparse.ArgumentParser()
for place in ('build', 'scratch'):
    parser.add_argument(place, type=pathlib.Path)
parser.add_argument('--steps', type=int, default=2)
parser.add_argument('--batch', default='1')
parser.add_argument('--precision', choices=('f32', 'tf32'), default='f32')
parser.add_argument('--hardware', action='store_true')
parser.add_argument('--jobs', type=int, default=1)
parser.add_argument('names', nargs='*')
given = parser.parse_intermixed_args()
given.scratch.mkdir(parents=True, exist_ok=True)
shared = pathlib.Path(os.environ.get('SPRIG_SHARED_DIR', pathlib.Path(__file__).resolve().parents[2] / '../shared'))
if not (shared / 'models').is_dir():
    print(f'NOTE: {shared} has no models (SPRIG_SHARED_DIR): these tests are left out')
    finish()
sprig, images = given.build / 'bin/sprig', given.build / 'bin/sprig-package-images'


class Failed(Exception):
    pass


def run(*command, **environment):
    # Without a toolkit: the PTX in the package is what runs. On hardware the cubin is.
    environment = {**os.environ, **({} if given.hardware else {'CUDA_HOME': ''}), **environment}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, env=environment)
    if done.returncode or 'stand-in:' in done.stderr:
        raise Failed(f'{pathlib.Path(command[0]).name} {command[1]}: exit code {done.returncode}, {done.stderr.strip()}')


def compiled(name, model, *flags):
    """A package, and the environment in which it runs."""
    package, code = given.scratch / f'{name}.sprig', given.scratch / name
    target = ['--devices', 'cuda:0'] if given.hardware else ['--target', 'cuda:sm_90']
    run(sprig, 'compile', model, *flags, *target, '-o', package, '-q')
    if given.hardware:
        return package, {}
    run(images, package, '-o', code)
    return package, {'LD_LIBRARY_PATH': str(given.build / 'test/gpu/lib'), 'SPRIG_STANDIN_IMAGES': str(code),
                     'SPRIG_STANDIN_ORDER': 'random'}


def infer(folder, batch):
    name, dims, bar = f'{folder.name}-{batch}', ('--dim', f'batch={batch}'), {'f32': 1e-4, 'tf32': 2e-2}[given.precision]
    package, environment = compiled(name, folder / 'model.onnx', *dims, '--precision', given.precision)
    right = given.scratch / f'{name}.cpu'
    run(sprig, 'run', folder / 'model.onnx', *dims, '--random-inputs', 7, '--output-dir', right)
    found = []
    for turn in range(2 if given.hardware else 1):
        made = given.scratch / f'{name}.cuda{turn}'
        run(sprig, 'run', package, *dims, '--devices', 'cuda:0', '--random-inputs', 7, '--output-dir', made, **environment)
        found.append(outputs(made))
    far = distance(found[0], outputs(right))
    if not far < bar:
        raise Failed(f'off by {far:.2g} of the largest value, expected below {bar:g}')
    if found[0] != found[-1]:
        raise Failed('other bits in a second process')
    return f'{far / bar:.2g} of what is allowed'


def train(case, _):
    config, reference = (json.loads((case / f'{part}.json').read_text()) for part in ('config', 'reference'))
    steps = min(given.steps, config['steps'])
    samples = config['batch'] * config['steps'] * config.get('accumulate', 1)
    package, environment = compiled(f'train-{case.name}', case / 'model.onnx', '--train', case / 'config.json', '--samples',
                                    samples)
    metrics = given.scratch / f'{case.name}.jsonl'
    run(sprig, 'train', package, '--config', case / 'config.json', '--devices', 'cuda:0', '--steps', steps, '--x',
        case / 'x.npy', '--y', case / 'y.npy', '--metrics', metrics, '-q', **environment)
    losses = [row['loss'] for row in map(json.loads, metrics.read_text().splitlines()) if 'loss' in row]
    if len(losses) != steps:
        raise Failed(f'{len(losses)} steps, expected {steps}')
    allowed = worst = 0
    for step, loss in enumerate(losses):
        allowed = max(allowed, 4 * reference['f32_spread'][step], 1e-6)
        distance = abs(loss - reference['losses_f64'][step]) / abs(reference['losses_f64'][step])
        if not distance <= allowed:
            raise Failed(f"step {step}: loss {loss}, expected {reference['losses_f64'][step]} within {allowed:.2g}")
        worst = max(worst, distance / allowed)
    return f'{worst:.2g} of what is allowed'


batches = given.batch.split(',')
work = [(infer, folder, batch) for folder in sorted((shared / 'models').iterdir()) if (folder / 'model.onnx').exists()
        for batch in batches]
if given.precision == 'f32':
    work += [(train, case, '') for case in sorted((shared / 'training').iterdir()) if (case / 'config.json').exists()]
if given.names:
    known = {}
    for each in work:
        known.setdefault(each[1].name, []).append(each)
    if unknown := [name for name in given.names if name not in known]:
        sys.exit(f"error: there is no '{unknown[0]}': {', '.join(known)}")
    work = [each for name in given.names for each in known[name]]


def done(each):
    check, folder, batch = each
    name, began = f'{folder.name} at batch {batch}' if batch else folder.name, time.monotonic()
    try:
        print(f'{name}: {check(folder, batch)}, {time.monotonic() - began:.0f} s', flush=True)
        return None
    except Failed as why:
        return f'{name}: {why}'


with ThreadPoolExecutor(given.jobs) as pool:
    for each, failure in zip(work, pool.map(done, work)):
        expect(failure or each[1].name, not failure)
finish()
