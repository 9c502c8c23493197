"""Counts the instructions of one call of a package: instructions-per-call.py PROGRAM FILE.sprig.

PROGRAM is call-package. The count is the difference of two runs under callgrind, whose processor has AVX2 and no
AVX-512, so it is that of the x86-64-v3 code; it does not depend on the machine's load.
"""
import pathlib
import re
import subprocess
import sys
import tempfile


def instructions(program, package, calls):
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(['valgrind', '--tool=callgrind', f'--callgrind-out-file={folder}/out', program, package, str(calls)],
                                capture_output=True, text=True)
        if result.returncode:
            sys.exit(result.stderr)
        return int(re.search(r'^(?:summary|totals): (\d+)', (pathlib.Path(folder) / 'out').read_text(), re.M)[1])


program, package = sys.argv[1:]
first, more = 1, 3
print((instructions(program, package, more) - instructions(program, package, first)) // (more - first))
