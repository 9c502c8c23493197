#!/usr/bin/env python3
"""Runs what the documentation shows: examples.py SPRIG_OPT FILE.md...

Each ```mlir block is piped into sprig-opt with verification of the round trip. A block that shows a rejected form says so in
its first line, `// error: TEXT`, and must then be refused with that text. The last line is `N passed, N failed`.
"""
import pathlib
import re
import subprocess
import sys
import textwrap


def blocks(path):
    """(line number, text) of each ```mlir block."""
    text = path.read_text()
    for match in re.finditer(r'^( *)```mlir\n(.*?)^\1```', text, re.S | re.M):
        yield text.count('\n', 0, match.start()) + 1, textwrap.dedent(match[2])


def complaint(sprig_opt, block):
    wanted = re.match(r'// error: (.*)', block)
    done = subprocess.run([sprig_opt, '--verify-roundtrip', '-'], input=block, capture_output=True, text=True, timeout=60)
    if wanted:
        if done.returncode != 1 or wanted[1] not in done.stderr:
            return f'expected an error with {wanted[1]!r}, got exit code {done.returncode}: {done.stderr[:300]}'
    elif done.returncode != 0:
        return done.stderr[:300]
    return None


def main():
    sprig_opt, files = sys.argv[1], sys.argv[2:]
    passed = failed = 0
    for name in files:
        for line, block in blocks(pathlib.Path(name)):
            wrong = complaint(sprig_opt, block)
            if wrong:
                failed += 1
                print(f'FAIL {name}:{line}: {wrong}')
            else:
                passed += 1
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
