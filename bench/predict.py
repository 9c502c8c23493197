"""Compares what `sprig simulate` predicts with what `sprig bench` measures: predict.py [options] MODEL[@BATCHES]...

MODEL is an ONNX file, a package, or a folder with model.onnx; MODEL@1,64 asks for these batches (packages and models without
a batch: none). With --train it is a folder with a training configuration, config.json, too, whose step is compared. Measured is
the quickest call of all rounds; rounds go over all cells in turn, so that a slow moment of the machine hits each of them once.
Prints a table in Markdown and, for each number of threads, how many cells are predicted within 10, 20 and 30 % of what was
measured: |predicted / measured - 1|. Calibrate first, on a machine that nobody else uses.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def sprig(*words):
    done = subprocess.run([str(arguments.sprig), *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"sprig {' '.join(map(str, words))}: exit code {done.returncode}\n{done.stderr.strip()}")
    return done.stdout


def document(*words):
    return json.loads(sprig(*words, '--format', 'json', '-q'))


class Cell:
    """A network at a batch on so many threads, compiled for them."""

    def __init__(self, model, batch, threads, folder):
        self.name = model.parent.name if model.stem == 'model' else model.stem
        self.batch, self.threads, self.measured = batch, threads, math.inf
        dims = ['--dim', f'{arguments.dim}={batch}'] if batch else []
        package = model
        if model.suffix != '.sprig':
            package = folder / f'{len(list(folder.iterdir()))}.sprig'
            sprig('compile', model, *dims, '--threads', threads, '--cpu', 'native', '-o', package, '-q')
            dims = []
        self.words = [package, *dims, '--threads', threads]
        self.predicted = document('simulate', *self.words)['simulations'][0]['call_ns'] / 1e3

    def measure(self, seconds):
        self.measured = min(self.measured, document('bench', *self.words, '--seconds', seconds)['entries'][0]['min_us'])

    ratio = property(lambda self: self.predicted / self.measured)


class Step(Cell):
    """A network's training step. The quarter of its calls that were quickest count, as `sprig profile` has them without its clock."""

    def __init__(self, folder, threads):
        self.name, self.batch, self.threads, self.measured = folder.name, None, threads, math.inf
        self.words = [folder / 'model.onnx', '--train', folder / 'config.json', '--threads', threads]
        self.predicted = document('simulate', *self.words)['simulations'][0]['call_ns'] / 1e3

    def measure(self, seconds):
        profile = document('profile', *self.words, '--seconds', seconds)['profiles'][0]
        self.measured = min(self.measured, profile['plain_call_quartiles_ns'][0] / 1e3)


def cells_of(given, threads, folder):
    if arguments.train:
        yield Step(pathlib.Path(given), threads)
        return
    model, _, batches = given.partition('@')
    model = pathlib.Path(model)
    if model.is_dir():
        model /= 'model.onnx'
    for batch in batches.split(',') if batches else arguments.batch or [None]:
        yield Cell(model, batch, threads, folder)


def figure(us):
    return f'{us:,.0f}' if us >= 1000 else f'{us:.3g}'


def count_within(cells):
    parts = [f'within {p} % are {sum(abs(c.ratio - 1) <= p / 100 for c in cells)} of {len(cells)}' for p in (10, 20, 30)]
    mean = math.exp(sum(math.log(c.ratio) for c in cells) / len(cells))
    worst = max(cells, key=lambda c: abs(math.log(c.ratio)))
    at = f' at batch {worst.batch}' if worst.batch else ''
    return ', '.join(parts) + f'; geometric mean {mean:.2f}, furthest {worst.ratio:.2f} ({worst.name}{at})'


def main():
    if arguments.calibrate:
        sprig('devices', '--calibrate')
    measured = document('devices')['cpu'].get('measured')
    if not measured:
        sys.exit("predict.py: this machine was never measured; --calibrate, or 'sprig devices --calibrate', does so")
    with tempfile.TemporaryDirectory() as folder:
        cells = []
        for threads in arguments.threads:
            for given in arguments.models:
                for cell in cells_of(given, threads, pathlib.Path(folder)):
                    cells.append(cell)
                    print('.', end='', file=sys.stderr, flush=True)
        for _ in range(arguments.rounds):
            for cell in cells:
                cell.measure(arguments.seconds / arguments.rounds)
                print('.', end='', file=sys.stderr, flush=True)
        print(file=sys.stderr)
    if arguments.json:
        keys = 'name', 'batch', 'threads', 'predicted', 'measured', 'ratio'
        arguments.json.write_text(json.dumps({'calibration': measured, 'cells': [{k: getattr(c, k) for k in keys} for c in cells]}, indent=1) + '\n')
    print('| network | batch | threads | predicted us | measured us | predicted / measured |\n|---|---|---|---|---|---|')
    for c in cells:
        print(f"| {c.name} | {c.batch or ''} | {c.threads} | {figure(c.predicted)} | {figure(c.measured)} | {c.ratio:.2f} |")
    for threads in arguments.threads:
        print(f"\n{threads} thread{'s' * (threads > 1)}: {count_within([c for c in cells if c.threads == threads])}")


def numbers(text):
    return [int(word) for word in text.split(',')]


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument('models', nargs='+', metavar='MODEL[@BATCHES]')
parser.add_argument('--threads', type=numbers, default=[1], metavar='N[,N]', help='threads to compile for and to run on (default 1)')
parser.add_argument('--batch', type=lambda text: text.split(','), metavar='N[,N]', help='batches of models that name none (default: none)')
parser.add_argument('--dim', default='batch', help='the dimension that is the batch (default batch)')
parser.add_argument('--seconds', type=float, default=4, help='how long to measure each cell, over all rounds (default 4)')
parser.add_argument('--rounds', type=int, default=4, help='turns over all cells (default 4)')
parser.add_argument('--train', action='store_true', help="each MODEL is a folder with model.onnx and config.json: its training step")
parser.add_argument('--calibrate', action='store_true', help="run 'sprig devices --calibrate' first")
parser.add_argument('--sprig', type=pathlib.Path, default=ROOT / 'build/bin/sprig', help='default build/bin/sprig')
parser.add_argument('--json', type=pathlib.Path, metavar='FILE', help='write the cells and the calibration there, too')
arguments = parser.parse_args()
if not arguments.sprig.exists():
    parser.error(f'needs {arguments.sprig}, but there is none: scripts/stages/build makes it, --sprig names another')
if __name__ == '__main__':
    main()
