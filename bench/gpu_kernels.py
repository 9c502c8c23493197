"""Compares what `sprig inspect` predicts of kernels with what Nsight Compute measures: gpu_kernels.py [options] MODEL@BATCHES...

MODEL is an ONNX file or a folder with model.onnx; MODEL@1,64 asks for these batches; or it is a package. Needs a GPU, and `ncu`
on the PATH. Each cell is compiled for the GPU that is there and run once under ncu, all of them in one session of it. Clocks and
caches are left as they are: kernels find what the one before left in the caches. A kernel's time is from its first to its last
instruction, without what its launch takes; `sprig bench` has the whole call, whose rest is what launches, copies and waiting take.
Prints a table in Markdown of each cell's kernels and one of all cells; --json keeps all, with hardware counters of traffic and
occupancy.
"""
import argparse
import collections
import csv
import io
import json
import math
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DURATION = 'gpu__time_duration.sum'
# Name in the results: the hardware's counter, of one pass with the others.
COUNTERS = {
    'occupancy': 'sm__warps_active.avg.pct_of_peak_sustained_active',
    'load_sectors': 'l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum',
    'store_sectors': 'l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum',
    'shared_waves': 'l1tex__data_pipe_lsu_wavefronts_mem_shared.sum',
    'device_bytes': 'dram__bytes.sum',
}
SCALES = {'ns': 1e-3, 'nsecond': 1e-3, 'us': 1, 'usecond': 1, 'ms': 1e3, 'msecond': 1e3, 's': 1e6, 'second': 1e6,
          'byte': 1, 'Kbyte': 1e3, 'Mbyte': 1e6, 'Gbyte': 1e9}


def run(*words):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{words[0]} {words[1]}: exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def sprig_document(*words):
    return json.loads(run(arguments.sprig, *words, '--format', 'json', '-q'))


class Cell:
    """A network at a batch, compiled for the GPU that is here."""

    def __init__(self, model, batch, folder):
        self.name = model.parent.name if model.stem == 'model' else model.stem
        self.batch = batch
        self.package = model
        if model.suffix != '.sprig':
            self.package = folder / f'{self.name}_{batch}.sprig'
            run(arguments.sprig, 'compile', model, '--dim', f'{arguments.dim}={batch}', '--devices', 'cuda:0', '--precision',
                arguments.precision, '-q', '-o', self.package)
        self.predicted = {f"kernel_{kernel['kernel']}": kernel
                          for kernel in sprig_document('inspect', self.package)['gpu_kernels'][0]['kernels']}
        self.run = [arguments.sprig, 'run', self.package, '--devices', 'cuda:0', '--random-inputs', '1', '-q']
        entry = sprig_document('bench', self.package, '--devices', 'cuda:0', '--seconds', arguments.seconds)['entries'][0]
        self.call = {'min_us': entry['min_us'], 'median_us': entry['median_us']}
        self.kernels = []

    def take(self, launches):
        """What ncu tells of the run, a row a launch."""
        by_kernel = collections.defaultdict(list)
        for launch in launches:
            by_kernel[launch['kernel']].append(launch)
        if by_kernel.keys() != self.predicted.keys():
            sys.exit(f'{self.name} at batch {self.batch}: ncu tells of {sorted(by_kernel)}, expected {sorted(self.predicted)}')
        for name, predicted in self.predicted.items():
            taken = by_kernel[name]
            row = {key: predicted[key] for key in ('kernel', 'launches', 'blocks', 'threads', 'registers', 'bound', 'predicted_us', 'flops', 'bytes')}
            row.update({key: sum(launch[key] for launch in taken) / len(taken) for key in ('us', *COUNTERS)})
            self.kernels.append(row)

    sum_us = property(lambda self: sum(kernel['us'] * kernel['launches'] for kernel in self.kernels))
    predicted_us = property(lambda self: sum(kernel['predicted_us'] * kernel['launches'] for kernel in self.kernels))


def launches_of(report):
    """Rows of ncu's table, in groups by process."""
    lines = report.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if begin is None:
        sys.exit(f'ncu has told of no kernel:\n{report[-2000:]}')
    rows = list(csv.DictReader(io.StringIO('\n'.join(lines[begin:]))))
    units, processes = rows[0], {}
    for row in rows[1:]:
        launch = {'kernel': row['Kernel Name'].split('(')[0]}
        for key, counter in {'us': DURATION, **COUNTERS}.items():
            launch[key] = float(row[counter].replace(',', '')) * SCALES.get(units[counter], 1)
        processes.setdefault(row['Process ID'], []).append(launch)
    return [processes[each] for each in sorted(processes, key=int)]


def main():
    with tempfile.TemporaryDirectory() as folder:
        cells = []
        for given in arguments.models:
            model, _, batches = given.partition('@')
            model = pathlib.Path(model)
            if model.is_dir():
                model /= 'model.onnx'
            for batch in batches.split(',') if batches else [''] if model.suffix == '.sprig' else ['1']:
                cells.append(Cell(model, batch, pathlib.Path(folder)))
                print('.', end='', file=sys.stderr, flush=True)
        print(file=sys.stderr)
        script = '\n'.join(shlex.join(map(str, cell.run)) for cell in cells)
        report = run('ncu', '--csv', '--page', 'raw', '--print-units', 'base', '--target-processes', 'all', '--clock-control', 'none', '--cache-control',
                     'none', '--metrics', ','.join([DURATION, *COUNTERS.values()]), 'sh', '-e', '-c', script)
        processes = launches_of(report)
        if len(processes) != len(cells):
            sys.exit(f'ncu tells of {len(processes)} processes, expected {len(cells)}')
        for cell, launches in zip(cells, processes):
            cell.take(launches)
    if arguments.json:
        arguments.json.write_text(json.dumps([{'network': cell.name, 'batch': cell.batch, 'precision': arguments.precision, **cell.call, 'kernels': cell.kernels}
                                              for cell in cells], indent=1) + '\n')
    for cell in cells:
        print(f'\n{cell.name}{cell.batch and " at batch " + cell.batch}\n\n| kernel | launches | blocks | threads | bound | predicted us | measured us | occupancy |\n|---|---|---|---|---|---|---|---|')
        for k in cell.kernels:
            print(f"| {k['kernel']} | {k['launches']} | {k['blocks']} | {k['threads']} | {k['bound']} | {k['predicted_us']:.2f} | {k['us']:.2f} | {k['occupancy']:.0f}% |")
    print('\n| network | batch | kernels | predicted us | sum of kernels us | call us (least) | median |\n|---|---|---|---|---|---|---|')
    for cell in cells:
        count = sum(kernel['launches'] for kernel in cell.kernels)
        print(f"| {cell.name} | {cell.batch} | {count} | {cell.predicted_us:.1f} | {cell.sum_us:.1f} | {cell.call['min_us']:.1f} | {cell.call['median_us']:.1f} |")
    ratios = [math.log(cell.predicted_us / cell.call['min_us']) for cell in cells]
    print(f'\npredicted / call: geometric mean {math.exp(sum(ratios) / len(ratios)):.2f}')


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument('models', nargs='+', metavar='MODEL@BATCHES')
parser.add_argument('--sprig', type=pathlib.Path, default=ROOT / 'build/bin/sprig')
parser.add_argument('--dim', default='batch', help='the symbolic dimension that is the batch (default batch)')
parser.add_argument('--precision', default='f32', choices=('f32', 'tf32'))
parser.add_argument('--seconds', default='0.2', help='of each cell for its whole calls (default 0.2)')
parser.add_argument('--json', type=pathlib.Path)
arguments = parser.parse_args()
if not arguments.sprig.exists():
    parser.error(f'needs {arguments.sprig}, but there is none: scripts/stages/build makes it, --sprig names another')
main()
