#!/usr/bin/env python3
"""Checks how `sprig compile` refuses broken models: bad_models.py SPRIG FOLDER

FOLDER holds the models and expected.json: for each the exit codes that are right and what the error has to mention
(`a|b`: either). Besides, each refusal must be one `error:` block, within 2 seconds and 1 GB of memory.
The last line is `N passed, N failed`.
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

SECONDS = 2.0
MEGABYTES = 1024


def run(command):
    """(exit code, stderr, seconds, peak MB) of one process."""
    with tempfile.TemporaryFile() as err:
        start = time.monotonic()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (60, 60)))
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        return child.returncode, err.read().decode(errors='replace'), seconds, usage.ru_maxrss / 1024


def complaint(expected, code, text, seconds, megabytes):
    if code not in expected['exit']:
        return f"exit code {code}, expected {' or '.join(map(str, expected['exit']))}: {text.strip()[:200]}"
    lower = text.lower()
    for mention in expected['mentions']:
        if not any(word.lower() in lower for word in mention.split('|')):
            return f"the error does not mention {mention!r}: {text.strip()[:200]}"
    if sum(line.startswith('error:') for line in text.splitlines()) != 1:
        return f'not one error block: {text.strip()[:200]}'
    if seconds > SECONDS:
        return f'took {seconds:.1f} s, at most {SECONDS} s'
    if megabytes > MEGABYTES:
        return f'took {megabytes:.0f} MB, at most {MEGABYTES} MB'
    return None


def main():
    sprig, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    passed = failed = 0
    for name, expected in json.loads((folder / 'expected.json').read_text()).items():
        path = folder / name
        if path.is_dir():
            path /= 'model.onnx'
        wrong = complaint(expected, *run([sprig, 'compile', str(path), '-o', os.devnull, '--dim', 'batch=1']))
        if wrong:
            failed += 1
            print(f'FAIL {name}: {wrong}')
        else:
            passed += 1
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
