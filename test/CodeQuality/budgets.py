"""Holds compiled networks to committed budgets: budgets.py BUILD MODELS [--write].

budgets.json names networks under MODELS with, for batch 1 and x86-64-v3, the instructions of one call (callgrind) and
the bytes of the package's code and of the whole file. More than 3% above a budget fails. Of train_digits it has the
instructions of a training step, loop included, without and with a file of metrics: code for x86-64-v2, since callgrind
lacks an instruction of later ones. More than 1% above fails. --write takes what is measured as the new budgets. Prints `FAIL name: reason` lines and closes with `N passed, N failed`.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DIGITS = HERE.parent.parent / 'examples/train_digits'
ROOM, STEP_ROOM = 1.03, 1.01


def measure(build, model, folder):
    package = folder / 'model.sprig'
    subprocess.run([build / 'bin/sprig', 'compile', model, '--dim', 'batch=1', '--cpu', 'x86-64-v3', '-q', '-o', package], check=True)
    count = subprocess.run([sys.executable, HERE / 'Inputs/instructions-per-call.py', build / 'bin/call-package', package],
                           check=True, capture_output=True, text=True)
    sections = json.loads(subprocess.run([build / 'bin/sprig', 'inspect', package, '--format', 'json'],
                                         check=True, capture_output=True, text=True).stdout)
    code = sum(s['bytes'] for s in sections['sections'] if s['kind'] == 'image')
    return {'instructions': int(count.stdout), 'code_bytes': code, 'package_bytes': package.stat().st_size}


def measure_steps(build, folder):
    """The difference of two runs, without and with metrics."""
    package, sprig, images = folder / 'steps.sprig', build / 'bin/sprig', DIGITS / 'data/train-images-idx3-ubyte'
    samples = int.from_bytes(images.read_bytes()[4:8], 'big')
    subprocess.run([sprig, 'compile', DIGITS / 'model.onnx', '--train', DIGITS / 'train.json', '--samples', str(samples),
                    '--cpu', 'x86-64-v2', '-q', '-o', package], check=True, stdout=subprocess.DEVNULL)

    def instructions(steps, *more):
        run = subprocess.run(['valgrind', '--tool=callgrind', f'--callgrind-out-file={folder}/out', sprig, 'train', package, '--x', images,
                              '--y', DIGITS / 'data/train-labels-idx1-ubyte', '--threads', '1', '-q', '--steps', str(steps), *more],
                             check=True, capture_output=True, text=True)
        return int(re.search(r'Collected : (\d+)', run.stderr)[1])

    first, more = 45, 135
    result = {}
    for name, flags in {'step_instructions': [], 'step_instructions_with_metrics': ['--metrics', folder / 'metrics.jsonl']}.items():
        result[name] = (instructions(more, *flags) - instructions(first, *flags)) // (more - first)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('models', type=pathlib.Path)
    parser.add_argument('--write', action='store_true', help='take what is measured as the new budgets')
    a = parser.parse_args()
    file = HERE / 'budgets.json'
    budgets, passed, failed = json.loads(file.read_text()), 0, 0
    for name, budget in budgets.items():
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            got = measure_steps(a.build, folder) if name == 'train_digits' else measure(a.build, a.models / name / 'model.onnx', folder)
        print(f'{name}: ' + ', '.join(f'{what} {n} ({n / budget[what]:.3f} of the budget)' if what in budget else f'{what} {n}' for what, n in got.items()), flush=True)
        if a.write:
            budgets[name] = got
            continue
        for what, n in got.items():
            if n <= budget[what] * (STEP_ROOM if what.startswith('step') else ROOM):
                passed += 1
            else:
                failed += 1
                print(f'FAIL {name} {what}: {n}, the budget is {budget[what]}')
    if a.write:
        file.write_text(json.dumps(budgets, indent=2) + '\n')
    print(f'{passed} passed, {failed} failed')
    return failed != 0


sys.exit(main())
