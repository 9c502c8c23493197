#!/usr/bin/env python3
"""Ends `sprig train` by each signal that asks for it, and `sprig bench` by one.

    signals.py SPRIG FOLDER EXAMPLE

A run must leave a whole checkpoint of its last step and exit with 128 and the signal's number, also where the next step
is handed over already; under `nohup` (SIGHUP is ignored from the start) it must go on. Closes with `N passed, N failed`.
"""
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from counting import expect, finish

sprig, folder, example = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
data = example / 'data'
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)


def train(name, epochs, before=None, devices='cpu:0'):
    return subprocess.Popen(
        [sprig, 'train', example / 'model.onnx', '--config', example / 'train.json', '--epochs', str(epochs),
         '--x', data / 'train-images-idx3-ubyte', '--y', data / 'train-labels-idx1-ubyte', '--format', 'json',
         '--devices', devices, '--checkpoint', folder / name, '--metrics', folder / f'{name}.jsonl', '-o', folder / f'{name}.safetensors'],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=before)


def steps_begin(name):
    for _ in range(1200):
        if (folder / f'{name}.jsonl').exists() and (folder / f'{name}.jsonl').stat().st_size:
            return
        time.sleep(0.05)
    sys.exit(f'{name}: no step in a minute')


for number, devices in ((signal.SIGINT, 'cpu:0'), (signal.SIGTERM, 'null:0'), (signal.SIGHUP, 'cpu:0')):
    process = train(number.name, 100000, devices=devices)
    steps_begin(number.name)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    expect(f'{number.name}: exit code {process.returncode}: {err}', process.returncode == 128 + number)
    steps = json.loads(out)['steps']
    expect(f'{number.name}: {steps} steps, a checkpoint of the last', (folder / number.name / f'step-{steps}').is_dir())
    lines = (folder / f'{number.name}.jsonl').read_text().splitlines()
    expect(f'{number.name}: a line for each of them', [json.loads(line)['step'] for line in lines] == list(range(steps)))
    expect(f'{number.name}: the result', (folder / f'{number.name}.safetensors').stat().st_size > 0)

process = train('nohup', 3, lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
steps_begin('nohup')
process.send_signal(signal.SIGHUP)
out, err = process.communicate(timeout=60)
expect(f'nohup: exit code {process.returncode}: {err}', process.returncode == 0)

process = subprocess.Popen([sprig, 'bench', example / 'model.onnx', '--seconds', '60', '--dim', 'batch=1'],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
time.sleep(1)
process.send_signal(signal.SIGHUP)
process.communicate(timeout=60)
expect(f'bench: exit code {process.returncode}', process.returncode == 128 + signal.SIGHUP)
finish()
