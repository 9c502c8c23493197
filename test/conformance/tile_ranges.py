#!/usr/bin/env python3
"""Checks what packages say that tiles touch: tile_ranges.py SPRIG CHECK-TILE-RANGES MODEL...

Compiles each model for batch 1 and 8, fused and not, with an empty second lane, as packages of one lane do not say it. Runs
the kernels tile by tile on operands of which a tile may only read what its ranges say. The last line is
`N passed, N failed`.
"""
import pathlib
import re
import subprocess
import sys
import tempfile


def main():
    sprig, check, models = sys.argv[1], sys.argv[2], [pathlib.Path(model) for model in sys.argv[3:]]
    passed = failed = 0
    for model in models:
        with tempfile.TemporaryDirectory() as folder:
            for batch in (1, 8):
                for fusion in ([], ['--O0']):
                    name = f'{model.parent.name}-{batch}{"".join(fusion)}'
                    package = pathlib.Path(folder) / f'{name}.sprig'
                    source = package.with_suffix('.mlir')
                    done = subprocess.run([sprig, 'compile', model, '--dim', f'batch={batch}', '--cpu', 'native', '--no-merge', *fusion,
                                           '--compile-to', 'schedule'], capture_output=True, text=True)
                    lane = '    exec.lane on @cpu {\n'
                    source.write_text(done.stdout.replace(lane, lane + '    }\n' + lane))
                    if done.returncode == 0:
                        done = subprocess.run([sprig, 'compile', source, '--compile-from', 'plan', '--cpu', 'native', '-o',
                                               package, '-q'], capture_output=True, text=True)
                    source.unlink()
                    if done.returncode != 0:
                        print(f'FAIL {name}: {done.stderr.strip()[:300]}')
                        failed += 1
                        continue
                    out = subprocess.run([check, package], capture_output=True, text=True).stdout
                    package.unlink()
                    counts = re.search(r'^(\d+) passed, (\d+) failed$', out, re.M)
                    print(out.replace(folder + '/', '').strip())
                    if not counts:
                        print(f'FAIL {name}: no closing line')
                        failed += 1
                        continue
                    passed, failed = passed + int(counts[1]), failed + int(counts[2])
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
