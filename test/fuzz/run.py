#!/usr/bin/env python3
"""Runs the fuzzers of a build: run.py BUILD [--seconds N] [--jobs N] [--seed N] [--keep FOLDER] [--only NAME...]

Each group of fuzzers gets --seconds, shared among its own. They start from the corpora of the repository and the seeds of the
build; --keep is a folder of corpora that grow from run to run. A finding's input stays in BUILD/fuzz/findings. Prints a
row for each fuzzer; the last line is `N passed, N failed`.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

GROUPS = [['npy', 'npz', 'safetensors', 'tensor-proto', 'idx', 'csv'], ['image', 'train-config', 'calibration', 'checkpoint'],
          ['package'], ['onnx-model'], ['nn-text']]
# LLVM and protobuf are not instrumented: containers that they fill look overflown, what they keep looks leaked, and what
# their code takes of an arena whose slab ours has poisoned stays poisoned.
UNINSTRUMENTED = ('onnx-model', 'nn-text', 'tensor-proto')

parser = argparse.ArgumentParser()
parser.add_argument('build', type=pathlib.Path)
parser.add_argument('--seconds', type=int, default=60)
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


def run(name, seconds):
    program = options.build / 'bin' / f'fuzz-{name}'
    if not program.exists():
        return False, f'FAIL {name}: {program} is not there'
    leaks = 0 if name in UNINSTRUMENTED else 1
    environment = {**os.environ,
                   'ASAN_OPTIONS': f'detect_container_overflow=0:detect_leaks={leaks}:allow_user_poisoning={leaks}',
                   'UBSAN_OPTIONS': 'print_stacktrace=1'}
    with tempfile.TemporaryDirectory() as scratch:
        kept = options.keep / name if options.keep else pathlib.Path(scratch)
        kept.mkdir(parents=True, exist_ok=True)
        folders = [kept, sources / 'corpus' / name, options.build / 'fuzz' / 'seeds' / name]
        log = findings.parent / f'{name}.log'
        with open(log, 'w') as out:
            code = subprocess.run([program, f'-max_total_time={seconds}', f'-seed={options.seed}', '-timeout=20',
                                   '-rss_limit_mb=2048', '-max_len=65536', '-print_final_stats=1',
                                   f'-artifact_prefix={findings / name}-', *[f for f in folders if f.is_dir()]],
                                  stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment).returncode
    text = log.read_text(errors='replace')
    figures = (f'{name}: {number(r"number_of_executed_units: +([0-9]+)", text)} executions in {seconds} s, '
               f'{number(r" cov: ([0-9]+)", text)} edges')
    if code == 0:
        return True, figures
    artifact = re.findall(r'Test unit written to (\S+)', text)
    reason = re.findall(r'SUMMARY: (.*)|(property does not hold: .*)', text)
    why = next((a or b for a, b in reversed(reason)), f'exit code {code}')
    again = f'{program} {artifact[-1]}' if artifact else f'see {log}'
    return False, f'FAIL {figures}: {why}\n     again: {again}'


jobs = [(name, max(1, options.seconds // len(group))) for group in GROUPS for name in group
        if not options.only or name in options.only]
passed = 0
# The longest first, so that no single one is left for the end.
with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
    for good, text in pool.map(lambda job: run(*job), sorted(jobs, key=lambda job: -job[1])):
        passed += good
        print(text, flush=True)
print(f'{passed} passed, {len(jobs) - passed} failed')
sys.exit(passed != len(jobs))
