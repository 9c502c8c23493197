#!/usr/bin/env python3
"""Runs the fuzzers of a build: run.py BUILD [--seconds N] [--jobs N] [--seed N] [--keep FOLDER] [--only NAME...]

Each makes its number of executions from EXECUTIONS, the same ones every time; with --seconds each group explores for that long
instead, shared among its own, and finds other things on other machines. They start from the corpora of the repository and the
seeds of the build; --keep is a folder of corpora that grow from run to run. A finding's input stays in BUILD/fuzz/findings.
Prints a row for each fuzzer; the last line is `N passed, N failed`.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

# About half a minute for each group of GROUPS, under sanitizers on two cores.
EXECUTIONS = {'npy': 50_000, 'npz': 45_000, 'safetensors': 30_000, 'tensor-proto': 50_000, 'idx': 50_000, 'csv': 45_000, 'cubin': 30_000,
              'image': 37_500, 'train-config': 45_000, 'calibration': 50_000, 'topology': 30_000, 'checkpoint': 32_500, 'package': 45_000,
              'onnx-model': 45_000, 'nn-text': 150_000}
# No fuzzer takes longer, however slow the machine is; what stops there says so.
LIMIT_SECONDS = 300
GROUPS = [['npy', 'npz', 'safetensors', 'tensor-proto', 'idx', 'csv', 'cubin'], ['image', 'train-config', 'calibration', 'topology', 'checkpoint'],
          ['package'], ['onnx-model'], ['nn-text']]
# LLVM and protobuf are not instrumented: containers that they fill look overflown, what they keep looks leaked, and what
# their code takes of an arena whose slab ours has poisoned stays poisoned.
UNINSTRUMENTED = ('onnx-model', 'nn-text', 'tensor-proto')

parser = argparse.ArgumentParser()
parser.add_argument('build', type=pathlib.Path)
parser.add_argument('--seconds', type=int)
parser.add_argument('--jobs', type=int, default=os.cpu_count())
parser.add_argument('--seed', type=int, default=1)
parser.add_argument('--keep', type=pathlib.Path)
parser.add_argument('--only', nargs='*')
options = parser.parse_args()
sources = pathlib.Path(__file__).resolve().parent
findings = options.build / 'fuzz' / 'findings'
findings.mkdir(parents=True, exist_ok=True)


def number(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def fixed_addresses():
    """What runs a program without address randomization: coverage and comparisons see addresses. Not permitted everywhere."""
    command = ['setarch', '-R']
    try:
        return command if subprocess.run([*command, 'true'], capture_output=True).returncode == 0 else []
    except OSError:
        return []


def run(name, seconds):
    """Whether fuzzer `name` found nothing, and its row; for `seconds`, or its EXECUTIONS where they are None."""
    program = options.build / 'bin' / f'fuzz-{name}'
    if not program.exists():
        return False, f'FAIL {name}: {program} is not there'
    leaks = 0 if name in UNINSTRUMENTED else 1
    environment = {**os.environ,
                   'ASAN_OPTIONS': f'detect_container_overflow=0:detect_leaks={leaks}:allow_user_poisoning={leaks}',
                   'UBSAN_OPTIONS': 'print_stacktrace=1'}
    with tempfile.TemporaryDirectory() as scratch:
        kept = options.keep / name if options.keep else pathlib.Path(scratch, 'corpus')
        kept.mkdir(parents=True, exist_ok=True)
        # A list, because a folder has another order in another file system.
        inputs = sorted(file for folder in (sources / 'corpus' / name, options.build / 'fuzz' / 'seeds' / name)
                        for file in folder.glob('*'))
        listed = pathlib.Path(scratch, 'inputs')
        listed.write_text(','.join(map(str, inputs)))
        extent = [f'-max_total_time={seconds}'] if seconds else [f'-runs={EXECUTIONS[name]}', f'-max_total_time={LIMIT_SECONDS}',
                                                                 '-reload=0']
        log = findings.parent / f'{name}.log'
        begin = time.monotonic()
        with open(log, 'w') as out:
            code = subprocess.run([*launcher, program, *extent, f'-seed={options.seed}', '-timeout=20', '-rss_limit_mb=2048',
                                   '-max_len=65536', '-print_final_stats=1', f'-artifact_prefix={findings / name}-',
                                   f'-seed_inputs=@{listed}', kept],
                                  stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment).returncode
        took = time.monotonic() - begin
    text = log.read_text(errors='replace')
    executions = number(r'number_of_executed_units: +([0-9]+)', text)
    figures = (f'{name}: {executions} executions in {took:.0f} s, {number(r" cov: ([0-9]+)", text)} edges, '
               f'{number(r" corp: ([0-9]+)", text)} inputs')
    if code == 0:
        early = not seconds and executions < EXECUTIONS[name]
        return True, figures + (f' (stopped by the limit of {LIMIT_SECONDS} s)' if early else '')
    artifact = re.findall(r'Test unit written to (\S+)', text)
    reason = re.findall(r'SUMMARY: (.*)|(property does not hold: .*)', text)
    why = next((a or b for a, b in reversed(reason)), f'exit code {code}')
    again = f'{program} {artifact[-1]}' if artifact else f'see {log}'
    return False, f'FAIL {figures}: {why}\n     again: {again}'


launcher = fixed_addresses()
jobs = [(name, options.seconds and max(1, options.seconds // len(group))) for group in GROUPS for name in group
        if not options.only or name in options.only]
# The groups of the fewest fuzzers last longest for each: they start first, so that no single one is left for the end.
jobs.reverse()
passed = 0
with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
    for good, text in pool.map(lambda job: run(*job), jobs):
        passed += good
        print(text, flush=True)
print(f'{passed} passed, {len(jobs) - passed} failed')
sys.exit(passed != len(jobs))
