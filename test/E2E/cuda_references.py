#!/usr/bin/env python3
"""Shared networks and training references on a GPU that the stand-in plays, every check on: races inside of kernels, order
between commands, bounds, bytes that nothing has written.

    cuda_references.py BUILD SCRATCH [--steps N] [NAME...]

A network's outputs are within 1e-4 of the processor's, in parts of the largest. Of a training run the first N steps (2) are
taken; a loss is right when its relative distance from the reference is at most four times the largest spread of single
precision up to that step (1e-6 always). NAMEs are those of folders in models and training of SPRIG_SHARED_DIR
(../shared beside the checkout), which run in this order; all without.
Closes with `N passed, N failed`.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from counting import expect, finish
from packages import distance, outputs

parser = argparse.ArgumentParser()
for place in ('build', 'scratch'):
    parser.add_argument(place, type=pathlib.Path)
parser.add_argument('--steps', type=int, default=2)
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
    # Without a toolkit: the PTX in the package is what runs.
    environment = {**os.environ, 'CUDA_HOME': '', **environment}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, env=environment)
    if done.returncode or 'stand-in:' in done.stderr:
        raise Failed(f'{pathlib.Path(command[0]).name} {command[1]}: exit code {done.returncode}, {done.stderr.strip()}')


def compiled(name, model, *flags):
    """A package, and the environment in which it runs."""
    package, code = given.scratch / f'{name}.sprig', given.scratch / name
    run(sprig, 'compile', model, *flags, '--target', 'cuda:sm_90', '-o', package, '-q')
    run(images, package, '-o', code)
    return package, {'LD_LIBRARY_PATH': str(given.build / 'test/gpu/lib'), 'SPRIG_STANDIN_IMAGES': str(code),
                     'SPRIG_STANDIN_ORDER': 'random'}


def infer(folder):
    name, dims = folder.name, ('--dim', 'batch=1')
    package, environment = compiled(name, folder / 'model.onnx', *dims)
    right, made = given.scratch / f'{name}.cpu', given.scratch / f'{name}.cuda'
    run(sprig, 'run', folder / 'model.onnx', *dims, '--random-inputs', 7, '--output-dir', right)
    run(sprig, 'run', package, *dims, '--devices', 'cuda:0', '--random-inputs', 7, '--output-dir', made, **environment)
    far = distance(outputs(made), outputs(right))
    if not far < 1e-4:
        raise Failed(f'off by {far:.2g} of the largest value, expected below 1e-4')
    return f'{far / 1e-4:.2g} of what is allowed'


def train(case):
    config, reference = (json.loads((case / f'{part}.json').read_text()) for part in ('config', 'reference'))
    samples = config['batch'] * config['steps'] * config.get('accumulate', 1)
    package, environment = compiled(f'train-{case.name}', case / 'model.onnx', '--train', case / 'config.json', '--samples',
                                    samples)
    metrics = given.scratch / f'{case.name}.jsonl'
    run(sprig, 'train', package, '--config', case / 'config.json', '--devices', 'cuda:0', '--steps', given.steps, '--x',
        case / 'x.npy', '--y', case / 'y.npy', '--metrics', metrics, '-q', **environment)
    losses = [row['loss'] for row in map(json.loads, metrics.read_text().splitlines()) if 'loss' in row]
    if len(losses) != given.steps:
        raise Failed(f'{len(losses)} steps, expected {given.steps}')
    allowed = worst = 0
    for step, loss in enumerate(losses):
        allowed = max(allowed, 4 * reference['f32_spread'][step], 1e-6)
        distance = abs(loss - reference['losses_f64'][step]) / abs(reference['losses_f64'][step])
        if not distance <= allowed:
            raise Failed(f"step {step}: loss {loss}, expected {reference['losses_f64'][step]} within {allowed:.2g}")
        worst = max(worst, distance / allowed)
    return f'{worst:.2g} of what is allowed'


work = [(infer, folder) for folder in sorted((shared / 'models').iterdir()) if (folder / 'model.onnx').exists()]
work += [(train, case) for case in sorted((shared / 'training').iterdir()) if (case / 'config.json').exists()]
if given.names:
    known = {folder.name: (check, folder) for check, folder in work}
    if unknown := [name for name in given.names if name not in known]:
        sys.exit(f"error: there is no '{unknown[0]}': {', '.join(known)}")
    work = [known[name] for name in given.names]
for check, folder in work:
    began = time.monotonic()
    try:
        print(f'{folder.name}: {check(folder)}, {time.monotonic() - began:.0f} s', flush=True)
        expect(folder.name, True)
    except Failed as why:
        expect(f'{folder.name}: {why}', False)
finish()
