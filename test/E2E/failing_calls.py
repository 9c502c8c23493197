#!/usr/bin/env python3
"""Makes one call of the system after the other fail in `sprig run`, `compile` and `train` (test/inject), and looks at the end.

    failing_calls.py SPRIG LIBRARY FOLDER EXAMPLE [--samples N] [--seed N] [--kinds KIND,...]

Of each kind of call N are drawn, with some of its errors. A command must end by exit code 2 to 5 with one error, or as
if nothing had been: an interrupted call (EINTR) and a short one are no errors. No file is left half written, and a training
that failed goes on with --resume to the bits of one that was never disturbed. Closes with `N passed, N failed`.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from counting import expect, finish

# Kinds of test/inject/Inject.c that concern files and memory, with errors that are theirs.
ERRORS = {
    'malloc': ['ENOMEM'], 'mmap': ['ENOMEM'], 'mprotect': ['ENOMEM'], 'thread': ['EAGAIN'],
    'open': ['EMFILE', 'EINTR', 'EACCES'], 'read': ['EIO', 'EINTR', 'short'], 'write': ['ENOSPC', 'EINTR', 'short'],
    'fsync': ['EIO', 'EINTR'], 'rename': ['ENOSPC', 'EINTR'], 'mkdir': ['ENOSPC', 'EINTR'], 'ftruncate': ['EIO', 'EINTR'],
}
HARMLESS = {'EINTR', 'short'}

parser = argparse.ArgumentParser()
parser.add_argument('sprig')
parser.add_argument('library', type=pathlib.Path)
parser.add_argument('folder', type=pathlib.Path)
parser.add_argument('example', type=pathlib.Path)
parser.add_argument('--samples', type=int, default=2)
parser.add_argument('--seed', type=int, default=1)
parser.add_argument('--kinds', default=','.join(ERRORS))
options = parser.parse_args()
data = options.example / 'data'
shutil.rmtree(options.folder, ignore_errors=True)
options.folder.mkdir(parents=True)
random.seed(options.seed)


def run_model(out):
    return ['run', options.example / 'model.onnx', '--dim', 'batch=3', '--random-inputs', '1', '-q', '--output-dir', out]


def compile_model(out):
    return ['compile', options.example / 'model.onnx', '--dim', 'batch=3', '--cpu', 'x86-64-v3', '--no-cache', '-q',
            '-o', out / 'model.sprig']


def train(out):
    return ['train', options.example / 'model.onnx', '--config', options.example / 'train.json', '--epochs', '1', '-q',
            '--x', data / 'train-images-idx3-ubyte', '--y', data / 'train-labels-idx1-ubyte', '--resume',
            '--checkpoint', out / 'run', '--every', '20', '--metrics', out / 'metrics.jsonl', '-o', out / 'out.safetensors']


def fresh(name):
    out = options.folder / name
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    return out


def execute(command, out, **inject):
    return subprocess.run([options.sprig, *map(str, command(out))], capture_output=True, text=True, errors='replace', timeout=120,
                          env=os.environ | {'LD_PRELOAD': str(options.library)} | inject)


def files(out):
    """Bytes of each file; of metrics what does not depend on the clock."""
    found = {}
    for path in sorted(out.rglob('*')):
        if path.is_file():
            content = path.read_bytes()
            if path.suffix == '.jsonl':
                rows = [json.loads(line) for line in content.splitlines()]
                content = [{key: row[key] for key in row if 'seconds' not in key} for row in rows]
            found[str(path.relative_to(out))] = content
    return found


def results(found, without):
    """All but the checkpoints before the last one: the one that failed is not there later."""
    last = max(int(step) for step in re.findall(r'step-(\d+)/', ' '.join(found)))
    return {name: content for name, content in found.items()
            if name != without and (not name.startswith('run/') or f'step-{last}/' in name)}


def counts(command):
    """How many calls of each kind a run makes that nothing disturbs."""
    out = fresh('counted')
    execute(command, out)  # kernels come from the cache by now
    out = fresh('counted')
    stem = options.folder / 'counts'
    done = execute(command, out, INJECT_COUNTS=str(stem))
    expect(f'{command.__name__}: undisturbed: {done.returncode} {done.stderr}', done.returncode == 0)
    process = min(options.folder.glob('counts.*'), key=lambda path: int(path.suffix[1:]))
    calls = {name.rstrip(b'\0').decode(): number for name, number in struct.iter_unpack('16sQ', process.read_bytes())}
    for path in options.folder.glob('counts.*'):
        path.unlink()
    return calls, done.stdout, files(out)


def check(command, kind, call, error, stdout, whole):
    what = f'{command.__name__}: {kind}:{call}:{error}'
    out = fresh('disturbed')
    try:
        done = execute(command, out, INJECT=f'{kind}:{call}:{error}')
    except subprocess.TimeoutExpired:
        return expect(f'{what}: does not end', False)
    text = f'{what}: exit code {done.returncode}: {done.stderr[:300]}'
    left = [str(path) for path in out.rglob('*') if '.tmp-' in path.name]
    expect(f'{what}: left behind: {left}', not left or done.returncode < 0)
    if done.returncode == 0:
        expect(f'{text}: other files', files(out) == whole)
        return expect(f'{text}: another output', command is not run_model or done.stdout == stdout)
    expect(text, done.returncode in (2, 3, 4, 5) and error not in HARMLESS and done.stderr.count('error: ') == 1)
    for name, content in files(out).items():
        if command is not train or name == 'out.safetensors':
            expect(f'{text}: half of {name}', content == whole.get(name))
    if command is train:
        again = execute(command, out)
        expect(f'{text}: goes on: {again.returncode} {again.stderr[:300]}', again.returncode == 0)
        # A training goes on without metrics where they cannot be written.
        lost = 'metrics.jsonl' if 'metrics.jsonl: cannot write' in done.stderr else None
        expect(f'{text}: goes on to other files', results(files(out), lost) == results(whole, lost))


for command in (run_model, compile_model, train):
    calls, stdout, whole = counts(command)
    for kind in options.kinds.split(','):
        drawn = random.sample(range(1, calls[kind] + 1), min(options.samples, calls[kind]))
        for number, call in enumerate(sorted(drawn)):
            check(command, kind, call, ERRORS[kind][(number + options.seed) % len(ERRORS[kind])], stdout, whole)
finish()
