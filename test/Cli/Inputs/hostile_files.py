#!/usr/bin/env python3
"""Gives commands the files beside models that others may have written or put in place: profiles to compare, metrics to go on
with, kernels in the cache, devices for files, a disk that is full.

    hostile_files.py SPRIG FOLDER EXAMPLES

Closes with `N passed, N failed`.
"""
import copy
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from counting import expect, finish

sprig, folder, examples = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
digits, train = examples / 'digits' / 'model.onnx', examples / 'train_digits'
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)


def run(*arguments, limit=None):
    def may_not_grow():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        return subprocess.run([sprig, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL, preexec_fn=may_not_grow if limit else None)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, -1, '', 'does not end')


def refused(what, words, done, code=3):
    expect(f'{what}: exit code {done.returncode}: {done.stderr[:300]}', done.returncode == code)
    expect(f'{what}: {done.stderr[:300]!r}, expected {words!r}', words in done.stderr and done.stderr.count('error:') == 1)


# Profiles that are none: each names a place in a sound one and what stands there instead.
sound = json.loads(run('profile', digits, '--calls', 3, '--random-inputs', 1, '--format', 'json').stdout)
(folder / 'sound.json').write_text(json.dumps(sound))
entry, output = ('profiles', 0), ('profiles', 0, 'outputs', 0)
NESTED = '[' * 100000 + ']' * 100000
for path, value, words in [
        (('kind',), 5, 'expected what'), (('kind',), None, 'expected what'), (('profiles',), 5, 'not a whole profile'),
        (('profiles',), {'a': 1}, 'not a whole profile'), (('profiles',), [], 'one has'), (entry, [], 'not a whole profile'),
        ((*entry, 'outputs'), {'a': 1}, 'not a whole profile'), ((*entry, 'rows'), [1], 'not a whole profile'),
        ((*entry, 'calls'), 'many', 'not a whole profile'), ((*entry, 'plain_call_quartiles_ns'), [0, 0, 0], 'ns'),
        ((*entry, 'plain_call_quartiles_ns'), [1], 'not a whole profile'), ((*output, 'max_abs'), 'inf', 'finite'),
        ((*output, 'max_abs'), 'much', 'expected a number'), ((*output, 'samples', 0), None, 'expected a number'),
        ((*output, 'name'), 5, 'not a whole profile'), (('machine',), 'NESTED', 'nested deeper than 64')]:
    other = copy.deepcopy(sound)
    other['profiles'][0]['outputs'][0]['digest'] = '0'  # so that samples are looked at
    at = other
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    (folder / 'other.json').write_text(json.dumps(other).replace('"NESTED"', NESTED))
    refused(f'{path} = {value}', words, run('profile', '--compare', folder / 'sound.json', folder / 'other.json'))
other = copy.deepcopy(sound)
other['profiles'][0]['outputs'][0].update(digest='0', samples=[])
(folder / 'other.json').write_text(json.dumps(other))
fewer = run('profile', '--compare', folder / 'sound.json', folder / 'other.json')
expect(f'fewer samples: {fewer.returncode} {fewer.stdout}', fewer.returncode == 1 and 'no claim on speed' in fewer.stdout)

# Metrics that a run is to go on with.
data = train / 'data'
steps = ['train', train / 'model.onnx', '--config', train / 'train.json', '--x', data / 'train-images-idx3-ubyte', '--y',
         data / 'train-labels-idx1-ubyte', '-q', '--checkpoint', folder / 'run', '--metrics', folder / 'run.jsonl']
expect('the first epoch', run(*steps, '--epochs', 1).returncode == 0)
lines = (folder / 'run.jsonl').read_text().splitlines(keepends=True)
for step in ('1e300', '0.5', '-1', '18446744073709551615', '9223372036854775808', '"0"', NESTED):
    (folder / 'run.jsonl').write_text(lines[0].replace('"step":0', f'"step":{step}') + ''.join(lines[1:]))
    refused(f'step {step[:30]}', 'run.jsonl: line 1 is not of metrics', run(*steps, '--epochs', 2, '--resume'))
(folder / 'run.jsonl').write_text(''.join(lines))
expect('the second epoch', run(*steps, '--epochs', 2, '--resume').returncode == 0)

# Devices have no end.
for arguments in (['run', '/dev/zero'], ['run', digits, '--input', '/dev/zero'], ['inspect', '/dev/full'],
                  ['train', *steps[1:3], '/dev/zero', *steps[4:]], ['profile', '--compare', '/dev/zero', '/dev/zero']):
    refused(arguments, 'is a device, expected a file', run(*arguments))


# A pipe that nobody writes to is not waited for; one that somebody writes to will do where a file is named.
pipe = folder / 'pipe'
os.mkfifo(pipe)
for arguments in (['run', pipe], ['inspect', pipe], ['run', digits, '--input', pipe], ['compile', pipe, '-o', folder / 'x.sprig'],
                  ['train', *steps[1:3], pipe, *steps[4:]], ['profile', '--compare', pipe, pipe]):
    refused(arguments, 'pipe: is a pipe that nobody writes to, expected a file', run(*arguments))
writer = subprocess.Popen(['sh', '-c', f'sleep 0.2; cat {digits} > {pipe}'])
named = run('run', pipe, '--random-inputs', 1, '--dim', 'batch=1')
expect(f'a pipe for a model: {named.returncode}: {named.stderr}', named.returncode == 0 and writer.wait() == 0)
last = max((folder / 'run').glob('step-*'), key=lambda path: int(path.name[5:]))
for name in ('manifest.json', 'arrays.safetensors'):
    kept = (last / name).read_bytes()
    (last / name).unlink()
    os.mkfifo(last / name)
    holder = os.open(last / name, os.O_RDWR)  # a writer that never writes
    refused(f'a pipe as {name}', f'{name}: is a pipe, expected a file', run(*steps, '--epochs', 3, '--resume'))
    os.close(holder)
    (last / name).unlink()
    (last / name).write_bytes(kept)
expect('the third epoch', run(*steps, '--epochs', 3, '--resume').returncode == 0)

# A name that readers would end in the middle.
(folder / 'nul.onnx').write_bytes(digits.read_bytes().replace(b'probabilities', b'probabil\0ties'))
refused('a name with a NUL', "the name of an output has a NUL after 'probabil'", run('run', folder / 'nul.onnx', '--random-inputs', 1))

# What stands where a kernel should. (A root's test may give it away.)
def compile_with(cache):
    return run('compile', digits, '--dim', 'batch=1', '--cache', cache, '-v', '-o', folder / 'x.sprig')


cache = folder / 'cache'
expect('compiles', compile_with(cache).returncode == 0)
package = (folder / 'x.sprig').read_bytes()
kept = {path.name: path.read_bytes() for path in (cache / 'kernels').iterdir()}
header = next(iter(kept.values()))[:8]
for what, put in {
        'empty': lambda path: path.write_bytes(b''),
        'cut off': lambda path: path.write_bytes(kept[path.name][:-1]),
        'longer': lambda path: path.write_bytes(kept[path.name] + b'x'),
        'a size of 2^64': lambda path: path.write_bytes(header + b'\xff' * 16),
        'another kernel': lambda path: path.write_bytes(kept[path.name][::-1]),
        'a pipe': lambda path: os.mkfifo(path),
        'a link': lambda path: path.symlink_to('/dev/zero'),
        'a link to itself': lambda path: path.symlink_to(path),
        'a folder': lambda path: path.mkdir(),
        'unreadable': lambda path: path.touch(0)}.items():
    shutil.rmtree(cache)
    (cache / 'kernels').mkdir(0o700, parents=True)
    cache.chmod(0o700)
    for name in kept:
        put(cache / 'kernels' / name)
    done = compile_with(cache)
    expect(f'cache: {what}: {done.returncode} {done.stderr[:300]}', done.returncode == 0 and 'error:' not in done.stderr)
    expect(f'cache: {what}: the same package', (folder / 'x.sprig').read_bytes() == package)
if os.geteuid() == 0:
    shutil.rmtree(cache)
    cache.mkdir(0o700)
    os.chown(cache, 65534, -1)
    done = compile_with(cache)
    expect(f'cache of another user: {done.stderr}', done.returncode == 0 and 'belongs to user 65534' in done.stderr)
    expect('the same package', (folder / 'x.sprig').read_bytes() == package and not list(cache.iterdir()))

# Where the result cannot be kept it is printed all the same.
whole = run('run', digits, '--random-inputs', 1, '-q', '--no-cache')
full = run('run', digits, '--random-inputs', 1, '-q', '--no-cache', '--output-dir', folder / 'out', limit=1)
refused('full disk', 'File too large', full, code=5)
expect(f'its result: {full.stdout!r}', full.stdout == whole.stdout and 'first values' in whole.stdout)
finish()
