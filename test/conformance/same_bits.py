#!/usr/bin/env python3
"""Checks that what must not change a bit does not: same_bits.py SPRIG BATCH MODEL...

Runs each model on the same random inputs: compiled in memory and as a package, on 1 and 2 threads, fused and not, with
code for each instruction set from x86-64-v3 up that this machine has, and on null devices, whose memory is not the host's
and whose order is the nastiest; all outputs must be equal byte by byte (docs/numerics.md). The last line is `N passed, N failed`.
"""
import filecmp
import os
import pathlib
import subprocess
import sys
import tempfile


def variants(folder, dim):
    """Name -> (arguments of a compilation to a package or None, arguments of the run, environment)."""
    result = {
        'compiled in memory': (None, [*dim, '--threads', '1'], {}),
        'two threads': (None, [*dim, '--threads', '2'], {}),
        'not fused': (None, [*dim, '--threads', '1', '--O0'], {}),
        'from a package': ([*dim, '--cpu', 'x86-64-v3'], [*dim, '--threads', '1'], {}),
        'x86-64-v3': (None, [*dim, '--threads', '1', '--cpu', 'x86-64-v3'], {}),
        'on null:0': (None, [*dim, '--threads', '1', '--devices', 'null:0'], {}),
        'on null:3, in pieces at random': (
            None, [*dim, '--threads', '1', '--devices', 'null:3'], {'SPRIG_NULL_SEED': '20'}),
    }
    flags = pathlib.Path('/proc/cpuinfo').read_text()
    if all(flag in flags for flag in ('avx512f', 'avx512bw', 'avx512cd', 'avx512dq', 'avx512vl')):
        result['x86-64-v4'] = (None, [*dim, '--threads', '2', '--cpu', 'x86-64-v4'], {})
        result['v3 code of a package with both'] = (
            [*dim, '--cpu', 'x86-64-v3,x86-64-v4'], [*dim, '--threads', '2'], {'SPRIG_CPU': 'x86-64-v3'})
    else:
        print('NOTE: this machine has no AVX-512: x86-64-v4 is left out')
    return result


def run(command, env):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env={**os.environ, **env})
    return None if done.returncode == 0 else f'exit code {done.returncode}: {done.stderr.strip()[:300]}'


def outputs(sprig, model, out, compilation, arguments, env):
    """Why the outputs did not come into the folder, or None."""
    out.mkdir()
    program = str(model)
    if compilation is not None:
        program = str(out) + '.sprig'
        wrong = run([sprig, 'compile', str(model), *compilation, '-o', program], {})
        if wrong:
            return wrong
    return run([sprig, 'run', program, *arguments, '--random-inputs', '7', '--output-dir', str(out)], env)


def main():
    sprig, batch, models = sys.argv[1], sys.argv[2], [pathlib.Path(m) for m in sys.argv[3:]]
    passed = failed = 0
    for model in models:
        name = model.parent.name
        with tempfile.TemporaryDirectory() as folder:
            folder, first = pathlib.Path(folder), None
            for i, (variant, (compilation, arguments, env)) in enumerate(variants(folder, ['--dim', f'batch={batch}']).items()):
                out = folder / str(i)
                wrong = outputs(sprig, model, out, compilation, arguments, env)
                files = sorted(f.name for f in out.iterdir())
                if not wrong and not files:
                    wrong = 'no outputs'
                if not wrong and first:
                    _, different, missing = filecmp.cmpfiles(first, out, files, shallow=False)
                    if different or missing or files != sorted(f.name for f in first.iterdir()):
                        wrong = f"{', '.join(different + missing) or 'the set of outputs'} differs from the first run's"
                elif not wrong:
                    first = out
                if wrong:
                    failed += 1
                    print(f'FAIL {name}, {variant}: {wrong}')
                else:
                    passed += 1
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
