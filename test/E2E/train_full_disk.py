#!/usr/bin/env python3
"""Lets no file grow while `sprig train` writes a checkpoint, and goes on with the run when they may again.

    train_full_disk.py SPRIG FOLDER EXAMPLE

The run must go on to its end and write its result, with exit code 5 and one error; the checkpoint before must stay, and
a run that goes on from there must end with the bits of one that was never disturbed. Metrics that cannot be written cost
nothing else. Closes with `N passed, N failed`.
"""
import os
import pathlib
import resource
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from counting import expect, finish

sprig, folder, example = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
data = example / 'data'
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)


def train(epochs, *more, limit=None):
    def may_not_grow():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    return subprocess.run(
        [sprig, 'train', example / 'model.onnx', '--config', example / 'train.json', '--epochs', str(epochs),
         '--x', data / 'train-images-idx3-ubyte', '--y', data / 'train-labels-idx1-ubyte', '-q', *more],
        capture_output=True, text=True, preexec_fn=may_not_grow if limit else None)


run = ['--checkpoint', folder / 'run', '--metrics', folder / 'run.jsonl']
train(4, '-o', folder / 'whole.safetensors', '--metrics', folder / 'whole.jsonl')
expect('first half', train(2, *run).returncode == 0)
for limit in (1, 1000, 100000):
    result = folder / f'result-{limit}'
    os.mkfifo(result)  # a pipe: may take more than files may grow
    reader = subprocess.Popen(['cat', result], stdout=subprocess.PIPE)
    stopped = train(4, *run, '--resume', '-o', result, limit=limit)
    expect(f'the result with a limit of {limit}', reader.communicate(timeout=60)[0] == (folder / 'whole.safetensors').read_bytes())
    expect(f'exit code {stopped.returncode} with a limit of {limit}: {stopped.stderr}', stopped.returncode == 5)
    expect(f'text {stopped.stderr!r}', stopped.stderr.startswith('error: ') and 'File too large' in stopped.stderr)
    expect('the checkpoint of the first half', [path.name for path in (folder / 'run').iterdir()].count('step-90') == 1)
    expect('nothing half written', not list((folder / 'run').glob('.tmp-*')))
# A device that is full from the start: the whole run, and a word.
full = train(4, '-o', folder / 'full.safetensors', '--metrics', '/dev/full')
expect(f'full metrics: {full.returncode} {full.stderr!r}', full.returncode == 5 and full.stderr.startswith(
    'error: /dev/full: cannot write: No space left on device\nnote: the training itself is done, its result is in'))
expect('its result', (folder / 'full.safetensors').read_bytes() == (folder / 'whole.safetensors').read_bytes())
full = train(1, '-o', folder / 'plot.safetensors', '--plot', '/dev/full')
expect(f'full plot: {full.returncode} {full.stderr!r}', full.returncode == 5 and (folder / 'plot.safetensors').exists())
expect('second half', train(4, *run, '--resume', '-o', folder / 'end.safetensors').returncode == 0)
expect('the same bits', (folder / 'end.safetensors').read_bytes() == (folder / 'whole.safetensors').read_bytes())
expect('a line for each step', len((folder / 'run.jsonl').read_text().splitlines()) == 180)
finish()
