#!/usr/bin/env python3
"""Runs commands that want threads where none can be started, and compares with where they can.

    without_threads.py SPRIG FOLDER EXAMPLES

Closes with `N passed, N failed`.
"""
import pathlib
import resource
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from counting import expect, finish

sprig, folder, examples = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
train = examples / 'train_digits'


def run(*command, threads=True):
    def no_threads():  # the C library gives each thread a stack of this size
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 45, resource.RLIM_INFINITY))
    done = subprocess.run([sprig, *map(str, command)], capture_output=True, text=True,
                          preexec_fn=None if threads else no_threads, timeout=300)
    return done.returncode, done.stdout, done.stderr


hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
if hard != resource.RLIM_INFINITY:
    print('1 passed, 0 failed (the limit of stacks cannot be raised here)')
    sys.exit()
digits = examples / 'digits' / 'model.onnx'
for batch in (1, 64):
    same = ('run', digits, '--random-inputs', 3, '--dim', f'batch={batch}', '--threads', 8, '--no-cache', '--format', 'json')
    code, text, _ = run(*same)
    alone, other, said = run(*same, threads=False)
    expect(f'run: {alone} {said}', code == 0 and alone == 0 and text == other)
    expect(f'run says {said!r}', 'the system starts only 1 of 8 threads' in said)
for name, threads in (('many', True), ('none', False)):
    code, _, said = run('compile', digits, '--dim', 'batch=1,8', '--no-cache', '--jobs', 8, '-o', folder / f'{name}.sprig',
                        threads=threads)
    expect(f'compile: {code} {said}', code == 0)
expect('the same package', (folder / 'many.sprig').read_bytes() == (folder / 'none.sprig').read_bytes())
for name, threads in (('many', True), ('none', False)):
    code, _, said = run('train', train / 'model.onnx', '--config', train / 'train.json', '--epochs', 1,
                        '--x', train / 'data' / 'train-images-idx3-ubyte', '--y', train / 'data' / 'train-labels-idx1-ubyte',
                        '--checkpoint', folder / f'run-{name}', '--threads', 4, '-o', folder / f'{name}.safetensors',
                        threads=threads)
    expect(f'train: {code} {said}', code == 0)
expect('the same weights', (folder / 'many.safetensors').read_bytes() == (folder / 'none.safetensors').read_bytes())
expect('a checkpoint', list((folder / 'run-none').glob('step-*')))
for command in (('bench', digits, '--seconds', '0.05', '--threads', 4), ('profile', digits, '--calls', 3, '--threads', 4)):
    code, _, said = run(*command, threads=False)
    expect(f'{command[0]}: {code} {said}', code == 0)
code, _, said = run('profile', digits, '--calls', 3, '--submit', threads=False)
expect(f'a queue needs a thread: {code} {said}', code in (0, 5) and 'internal' not in said)
code, _, said = run('devices', '--calibrate', threads=False)
expect(f'measuring: {code} {said}', code in (0, 5) and 'internal' not in said)
finish()
