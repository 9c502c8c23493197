#!/usr/bin/env python3
"""Calls that are handed over ahead: what is simulated is what null devices' own clock says, to the nanosecond.

    simulate_ahead.py SPRIG FOLDER EXAMPLE

Steps of training are the calls: on one null device and on two, where uploads decide and where arithmetic does, a few
and more than the simulator plays. Closes with `N passed, N failed`.
"""
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from counting import expect, finish

sprig, folder, example = sys.argv[1], *map(pathlib.Path, sys.argv[2:4])
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
config = folder / 'train.json'
config.write_text(json.dumps({**json.loads((example / 'train.json').read_text()), 'drop_last': True}))
data = example / 'data'
package = folder / 'two.sprig'


def run(*arguments):
    done = subprocess.run([sprig, *map(str, arguments), '-q'], capture_output=True, text=True)
    expect(f'{arguments}: {done.returncode} {done.stderr}', done.returncode == 0)
    return done.stdout


run('compile', example / 'model.onnx', '--train', config, '--samples', 1437, '--devices', 'null:0,null:1', '--place',
    'hidden=null:0', '--place', 'out=null:1', '--cpu', 'native', '-o', package)
one = [example / 'model.onnx', '--devices', 'null:0']
programs = {'one': ([*one, '--config', config], [*one, '--train', config], []),
            'two': ([package], [package, '--entry', 'train_step', '--dim', 'batch=32'],
                    ['--link', 'host-null:1=20us,1GB/s', '--link', 'null:0-null:1=3us,2GB/s'])}
for name, (trained, simulated, links) in programs.items():
    for link in ('2us,1GB/s', '50us,1GB/s', '30us,200MB/s', '1us,20GB/s'):
        for calls in (1, 2, 7, 300) if link == '50us,1GB/s' else (12,):
            given = [*links, '--link', f'host-null:0={link}', '--format', 'json']
            steps = json.loads(run('train', *trained, *given, '--steps', calls, '--x', data / 'train-images-idx3-ubyte',
                                   '--y', data / 'train-labels-idx1-ubyte'))
            played = json.loads(run('simulate', *simulated, *given, '--calls', calls))['simulations'][0]
            ns, told = played['calls']['total_ns'], steps['simulated_seconds'] * 1e9
            expect(f'{name} over {link}: {calls} calls take {ns} ns, the clock says {told}', abs(ns - told) < 1e-2)
            # Each moment is of one kind; what many calls take is what the parts of all take.
            shares = [played['verdict'][part + '_share'] for part in ('computation', 'exposed_copy', 'data', 'hand_off')]
            expect(f'{name} over {link}: {shares}', len(shares) == 4 and abs(sum(shares) - 1) < 1e-6)
            expect(f'{name} over {link}: second copies', played['calls']['ahead'] == (calls > 1))
finish()
