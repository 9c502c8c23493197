"""Runs of the tool that is checked, the first argument, and whether two of them gave the same bytes."""
import filecmp
import os
import subprocess
import sys


def sprig(*arguments, seed=0):
    """Its output, and what was wrong with it or ''."""
    done = subprocess.run([sys.argv[1], *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env={**os.environ, 'SPRIG_NULL_SEED': str(seed)})
    return done.stdout, '' if done.returncode == 0 else done.stderr.strip()[:400] or f'exit code {done.returncode}'


def same(first, second):
    """Whether two folders of outputs are equal byte by byte."""
    names = sorted(f.name for f in first.iterdir())
    return names and filecmp.cmpfiles(first, second, names, shallow=False)[0] == names
