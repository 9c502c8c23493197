#!/usr/bin/env python3
"""Kills `sprig train` at any moment, goes on with it, and compares the end with a run that was never killed.

    train_kill.py SPRIG FOLDER EXAMPLE [--kills N] [--set FIELD=JSON] [--trainer RANKS]

The run with kills is started again with --resume until it ends by itself; then a new one starts, until there were N kills.
With --trainer, SPRIG is `rank-programs`, whose mode `loop` trains by the class Trainer. Weights must be the same in every bit, metrics in every field but the time. Closes with `N passed, N failed`.
"""
import argparse
import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument('sprig')
parser.add_argument('folder', type=pathlib.Path)
parser.add_argument('example', type=pathlib.Path)
parser.add_argument('--kills', type=int, default=24)
parser.add_argument('--set', action='append', default=[])
parser.add_argument('--trainer', type=int, default=0)
options = parser.parse_args()
data = options.example / 'data'


def command(folder, *more):
    if options.trainer:
        return [options.sprig, 'loop', folder, str(options.trainer)]
    return [options.sprig, 'train', options.example / 'model.onnx', '--config', options.example / 'train.json',
            '--x', data / 'train-images-idx3-ubyte', '--y', data / 'train-labels-idx1-ubyte',
            '--eval-x', data / 't10k-images-idx3-ubyte', '--eval-y', data / 't10k-labels-idx1-ubyte', '-q',
            '--metrics', folder / 'metrics.jsonl', '--checkpoint', folder / 'checkpoints', '--every', '20', '--keep', '2',
            '-o', folder / 'out.safetensors', *[word for each in options.set for word in ('--set', each)], *more]


def timed(folder, *more):
    start = time.monotonic()
    subprocess.run(command(folder, *more), check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def fresh(name):
    folder = options.folder / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def lines(folder):
    rows = [json.loads(line) for line in (folder / 'metrics.jsonl').read_text().splitlines()]
    for row in rows:
        del row['seconds'], row['wait_seconds']
    return rows


whole = fresh('whole')
timed(whole)
length = timed(fresh('again'))  # kernels come from the cache by now
random.seed(1)
kills = runs = failed = during = 0
while kills < options.kills:
    folder = fresh('killed')
    runs += 1
    while True:
        process = subprocess.Popen(command(folder, '--resume'), stdout=subprocess.DEVNULL)
        try:
            code = process.wait(timeout=random.uniform(0.2, 1.0) * length)
        except subprocess.TimeoutExpired:
            # Every fifth end is Ctrl-C, which saves and exits with 130.
            polite = kills % 5 == 4
            process.send_signal(signal.SIGINT if polite else signal.SIGKILL)
            code = process.wait()
            if code == 0:  # over before the signal came
                break
            # The class handles signals while it trains alone.
            expected = [130] + [-signal.SIGINT] * bool(options.trainer) if polite else [-signal.SIGKILL]
            if code not in expected:
                sys.exit(f'exit code {code} after {"SIGINT" if polite else "SIGKILL"}')
            kills += 1
            during += any(path.name.startswith('.tmp-') for path in (folder / 'checkpoints').glob('.*'))
            if kills > 40 * options.kills:
                sys.exit('the run never ends')
            continue
        if code != 0:
            sys.exit(f'exit code {code} after {kills} kills')
        break
    same = (folder / 'out.safetensors').read_bytes() == (whole / 'out.safetensors').read_bytes()
    if not same or lines(folder) != lines(whole):
        failed += 1
        print(f'FAIL run {runs}: {"metrics" if same else "weights"} differ after kills')
        shutil.copytree(folder, options.folder / f'failed-{runs}', dirs_exist_ok=True)
print(f'{kills} kills, {during} of them while a checkpoint was being written, {runs} runs to the end')
print(f'{runs - failed} passed, {failed} failed')
sys.exit(1 if failed else 0)
