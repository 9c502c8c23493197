#!/usr/bin/env python3
"""Training with the next step handed over while one is under way, beside training step by step.

    train_ahead.py SPRIG FOLDER EXAMPLE EXPORTS

Losses, metrics, progress, weights and checkpoints must be the same, also of runs that were gone on with, ended by a
loss that is not finite or failed; null devices' own clock says how long steps take. Closes with `N passed, N failed`.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from counting import expect, finish

sprig, folder, example, exports = sys.argv[1], *map(pathlib.Path, sys.argv[2:5])
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
data = example / 'data'
samples = ['--x', data / 'train-images-idx3-ubyte', '--y', data / 'train-labels-idx1-ubyte']
held = ['--eval-x', data / 't10k-images-idx3-ubyte', '--eval-y', data / 't10k-labels-idx1-ubyte']
DIGITS = [example / 'model.onnx', '--config', example / 'train.json', *samples]


def train(model, *flags):
    seed = {'SPRIG_NULL_SEED': '7'} if 'random' in flags else {}
    flags = [str(flag) for flag in flags if flag != 'random']
    done = subprocess.run([sprig, 'train', *model, '--format', 'json', *flags], capture_output=True, text=True,
                          env={**os.environ, **seed})
    return done.returncode, json.loads(done.stdout) if done.returncode == 0 else None, done.stderr


# What does not tell of time.
def timeless(progress):
    return [re.sub(r'  \S+ \S*samples/s.*', '', line) for line in progress.splitlines() if line.startswith('epoch')]


def metrics(name):
    lines = [json.loads(line) for line in (folder / f'{name}.jsonl').read_text().splitlines()]
    return [{k: v for k, v in line.items() if k not in ('seconds', 'wait_seconds')} for line in lines]


# 1437 samples: the last step of an epoch has 29. Evaluations are behind each epoch, checkpoints at odd places.
def interrupted_run(name, *flags):
    common = [*held, '--checkpoint', folder / name, '--every', 17, '--metrics', folder / f'{name}.jsonl', *flags]
    code, first, progress = train(DIGITS, *common, '--steps', 60)
    expect(f'{name}: 60 steps: {progress}', code == 0 and first['steps'] == 60)
    code, then, more = train(DIGITS, *common, '--steps', 112, '--resume', '-o', folder / f'{name}.safetensors')
    expect(f'{name}: 52 more: {more}', code == 0 and then['steps'] == 112)
    # It has waited no longer than it took, and no longer than its steps say.
    for run in (first, then):
        time = run['time']
        parts = time['wait_for_data_seconds'] + time['computation_seconds']
        expect(f'{name}: {time}', 0 <= time['wait_for_data_seconds'] and parts <= run['seconds'] * 1.001)
    lines = [json.loads(line) for line in (folder / f'{name}.jsonl').read_text().splitlines()]
    expect(f'{name}: each step ends behind the one before',
           all(a['seconds'] <= b['seconds'] for a, b in zip(lines, lines[1:])))
    kept = sorted(path.name for path in (folder / name).iterdir() if path.is_dir())
    arrays = (folder / name / 'step-112' / 'arrays.safetensors').read_bytes()
    weights = (folder / f'{name}.safetensors').read_bytes()
    return {'metrics': metrics(name), 'progress': timeless(progress + more), 'weights': weights, 'arrays': arrays,
            'kept': kept, 'loss': (first['loss'], then['loss'], then['epoch_loss'], then['eval_loss'])}


ways = {'processor': [], 'ahead': ['--devices', 'null:0'], 'loader': ['--devices', 'null:0', '--workers', 1],
        'random': ['random', '--devices', 'null:0'], 'both': ['--devices', 'cpu:0,null:0', '--place', 'out=null:0'],
        'by step': ['--devices', 'null:0', '--debug-nan']}
runs = {name: interrupted_run(name, *flags) for name, flags in ways.items()}
for name, run in runs.items():
    for what in run:
        expect(f'{name}: {what} as step by step on the processor', run[what] == runs['processor'][what])


# Of n steps by the devices' clock, over a link: their samples come beside the arithmetic of the step before.
def clock(link, steps, *flags):
    code, run, text = train(DIGITS, '--devices', 'null:0', '--link', f'host-null:0={link}', '--steps', steps, *flags)
    expect(f'{link}, {steps} steps: {text}', code == 0)
    return run['simulated_seconds'] * 1e9


def equal(a, b):
    return abs(a - b) < 1e-3


def arrays_ns(latency):
    return 2 * latency + 32 * 64 * 4 + 32 * 8  # over 1 GB/s


one, slow = clock('50us,1GB/s', 1), arrays_ns(50e3)
expect('a step takes its upload, the arithmetic and the loss', slow < one < slow + 100e3)
expect('uploads decide: u + c + (n - 1) u + d', equal(clock('50us,1GB/s', 12), one + 11 * slow))
expect('step by step: n (u + c + d)', equal(clock('50us,1GB/s', 12, '--debug-nan'), 12 * one))
expect('each checkpoint is between two steps',
       equal(clock('50us,1GB/s', 12, '--checkpoint', folder / 'each', '--every', 4), 3 * (one + 3 * slow)))
one, quick, dozen = clock('2us,1GB/s', 1), arrays_ns(2e3), clock('2us,1GB/s', 12)
step = (dozen - one) / 11
expect(f'arithmetic decides: {step} a step of {one}', quick < step < one - quick)
expect('u + c + (n - 1) c + d', equal(clock('2us,1GB/s', 23), one + 22 * step))
expect('step by step: n (u + c + d)', equal(clock('2us,1GB/s', 12, '--debug-nan'), 12 * one))
expect('no clock, no time', train(DIGITS, '--steps', 1)[1]['simulated_seconds'] == 0)

# A loss that is not finite, with a step behind it that nobody hears of.
for name in ('processor', 'ahead'):
    flags = [*ways[name], '--lr', '1e30', '-q', '--metrics', folder / f'nan-{name}.jsonl']
    code, _, text = train(DIGITS, *flags)
    expect(f'{name}: {code} {text}', code == 5 and re.match(r'error: step 1: the loss is (NaN|infinity)', text))
    expect(f'{name}: its metrics', [line['step'] for line in metrics(f'nan-{name}')] == [0, 1])
expect('the same losses', repr(metrics('nan-ahead')) == repr(metrics('nan-processor')))

# A step that fails is told, and the metrics of those before it are there. A sweep goes on with the same program.
(folder / 'config.json').write_text(json.dumps(
    {'loss': 'softmax_cross_entropy', 'optimizer': {'name': 'sgd', 'lr': 0.1}, 'batch': 4, 'steps': 8,
     'shuffle': False}))
rows = [[(i + k) % 6 for k in range(5)] for i in range(32)]
(folder / 'y.csv').write_text(''.join(','.join(map(str, row)) + '\n' for row in rows))
rows[21][2] = 77  # step 5
(folder / 'x.csv').write_text(''.join(','.join(map(str, row)) + '\n' for row in rows))
TOKENS = [exports / 'tied-dynamo-train.onnx', '--config', folder / 'config.json', '--x', folder / 'x.csv', '--y',
          folder / 'y.csv']
told = {}
for name in ('processor', 'ahead'):
    code, _, told[name] = train(TOKENS, *ways[name], '-q', '--metrics', folder / f'bad-{name}.jsonl')
    expect(f'{name}: {code} {told[name]}', code == 3 and told[name].startswith("error: step 5: entry 'train_step': "))
    expect(f'{name}: the steps before', [line['step'] for line in metrics(f'bad-{name}')] == list(range(5)))
expect('the same error', told['ahead'] == told['processor'])
expect('the same losses before it', metrics('bad-ahead') == metrics('bad-processor'))
sweeps = [train(DIGITS, *ways[name], '-q', '--steps', 8, '--sweep', 'lr=1e30,0.1,0.01')[1] for name in
          ('processor', 'ahead')]
found = [[run.get('failure', run.get('epoch_loss')) for run in sweep['runs']] for sweep in sweeps]
expect(f'sweeps: {found}', found[0] == found[1] and len(found[0]) == 3)
finish()
