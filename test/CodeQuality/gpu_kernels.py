"""Holds the CUDA kernels of networks to what is committed: gpu_kernels.py BUILD MODELS [--all-architectures] [--write]
[--figures FILE].

gpu-kernels.json names networks under MODELS with their batch, and a precision that is not f32, programs beside it, or a training reference in
the folder `training` beside MODELS, and has a row for each form of kernel: the operations that its name lists, and of all kernels of the form the worst of each figure:
  registers      of a thread, by ptxas                                         a list: for each of `architectures`
  occupancy      percent of a multiprocessor's threads that its blocks fill    likewise
  math           of the instructions in the loop that has the most FFMA, HMMA and the like, how many these are; of a
                 kernel that multiplies in no loop, of all                     likewise
  loads, stores  of the accesses to global memory, how many are of 128 bits    likewise
  sectors        32-byte sectors of global memory over the fewest that carry the bytes (kernel-traffic, by the emulator)
  waves          passes over the banks of shared memory over the fewest, likewise
Spills and stack fail always. A figure that is worse than its row by more than its room fails; so does a form that has no
row, or no kernel. Without nvdisasm math, loads and stores are not held; of another assembler than the file's no figure of
machine code is. --write takes what is measured. Prints `FAIL name: reason` and `NOTE` lines and closes with
`N passed, N failed`.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / 'Inputs'))
import sass  # noqa: E402

USUAL = ['sm_80', 'sm_90']
BAR = 1.1  # that sectors and waves are to stay below
# How much worse is still the same, and whether more is better.
ROOM = {'registers': (2, False), 'occupancy': (0, True), 'math': (0.02, True), 'loads': (0.02, True), 'stores': (0.02, True),
        'sectors': (0.01, False), 'waves': (0.01, False)}
OF_SASS = ('math', 'loads', 'stores')
OF_MACHINE_CODE = ('registers', 'occupancy', *OF_SASS)
USAGE = re.compile(r'remark: codegen: (sm_\d+): (\w+): (\d+) registers, (\d+) bytes of shared memory, (\d+) of stack, (\d+) spilled; .* (\d+)% of its threads')


def worst(figure, kernels):
    """Of (kernel, value) the one with the worst value, or None where no kernel has one."""
    having = [k for k in kernels if k[1] is not None]
    order = min if ROOM[figure][1] else max
    return order(having, key=lambda k: k[1], default=None)


def form(function):
    """The operations of a kernel without what tells it from others of them."""
    return re.sub(r'_\d+$', '', function.removeprefix('kernel_'))


def ratio(counts):
    return None if not counts['ideal'] else round(counts['taken'] / counts['ideal'], 3)


def run(*command):
    """What a tool writes; where it fails, what it said of that."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"error: {' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr}")
    return done


class Case:
    """A network at a batch: its kernels' figures, by form."""

    def __init__(self, name, architectures, a, disassembler):
        self.name, self.rows, self.bad = name, {}, []
        self.where = {}  # what has a row's figure: by form, figure and architecture
        network, *settings = name.split(' ')
        if settings and settings[0] == 'train':
            case = a.models.parent / 'training' / network
            config = json.loads((case / 'config.json').read_text())
            model = [case / 'model.onnx', '--train', case / 'config.json', '--samples', str(config['batch'] * config['steps'])]
        else:
            model = [a.models / network / 'model.onnx', '--dim', *settings[:1]] if settings else [HERE / 'Inputs' / network]
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder) / 'model.sprig'
            said = run(a.build / 'bin/sprig', 'compile', *model, *('--' + given for given in settings[1:]), '--jobs', '1',
                       '--target', 'cuda:' + ','.join(architectures), '-v', '-o', package).stderr
            traffic = json.loads(run(a.build / 'bin/kernel-traffic', package, folder).stdout)
            mixes = {arch: sass.kernels(disassembler, f'{folder}/{arch}.cubin') for arch in traffic['cubins']} if disassembler else {}
        self.assembler = next(iter(re.findall(r'remark: codegen: cubins by (.*)', said)), None)
        kernels = {k['function']: {'sectors': ratio(k['sectors']), 'waves': ratio(k['waves'])} for k in traffic['kernels']}
        lines = {(k['function'], figure): k[figure]['worst_line'] for k in traffic['kernels'] for figure in ('sectors', 'waves')}
        for arch, function, registers, _, stack, spilled, occupancy in USAGE.findall(said):
            kernels[function][arch] = {'registers': int(registers), 'occupancy': int(occupancy), **mixes.get(arch, {}).get(function, {})}
            if int(stack) or int(spilled):
                self.bad.append(f'{name}, {function} for {arch}: {stack} bytes of stack, {spilled} spilled; there must be none')
        forms = {}
        for function, figures in kernels.items():
            missing = [arch for arch in architectures if arch not in figures]
            if missing:
                self.bad.append(f'{name}, {function}: `compile -v` has no figures for {", ".join(missing)}')
            else:
                forms.setdefault(form(function), {})[function] = figures
        for key, members in forms.items():
            def take(figure, arch, values):
                found = worst(figure, values)
                if found:
                    line = lines.get((found[0], figure))
                    self.where[key, figure, arch] = found[0] + (f', line {line} of its PTX' if line else '')
                return found and found[1]

            row = {figure: take(figure, None, [(name, m[figure]) for name, m in members.items()]) for figure in ('sectors', 'waves')}
            for figure in OF_MACHINE_CODE:
                row[figure] = [take(figure, arch, [(name, m[arch].get(figure)) for name, m in members.items()]) for arch in architectures]
            self.rows[key] = row
        self.kernel_count = len(kernels) * len(architectures)


class Judge:
    def __init__(self, held):
        self.held, self.passed, self.failed, self.better = held, 0, 0, 0

    def say(self, ok, text):
        self.passed += ok
        self.failed += not ok
        if not ok:
            print('FAIL ' + text)

    def compare(self, case, key, figure, arch, old, new):
        if figure not in self.held or old is None and new is None:
            return
        where = f'{case.name}, {key}' + (f' for {arch}' if arch else '')
        # Without products none of the instructions are; what was not accessed before is to stay below the bar.
        old = old if old is not None else 0 if figure in OF_SASS else BAR
        new = new if new is not None else 0 if figure in OF_SASS else 1
        room, more_is_better = ROOM[figure]
        gain = new - old if more_is_better else old - new
        self.better += gain > room
        self.say(gain >= -room - 1e-9, f'{where}: {figure} was {old} and is {new} now (in {case.where.get((key, figure, arch))})')

    def compare_rows(self, case, rows, columns):
        """`columns`: of the file's lists, where the architectures that were measured stand."""
        for key in sorted(rows.keys() | case.rows.keys()):
            if key not in rows or key not in case.rows:
                what = 'a form of kernel that has no row' if key not in rows else 'no kernel is of this form any more'
                self.say(False, f'{case.name}, {key}: {what}; --write takes it')
                continue
            old, new = rows[key], case.rows[key]
            for figure in ('sectors', 'waves'):
                self.compare(case, key, figure, None, old[figure], new[figure])
            for figure in OF_MACHINE_CODE:
                for (arch, column), value in zip(columns.items(), new[figure]):
                    self.compare(case, key, figure, arch, old[figure][column], value)


def save(content, file):
    """A line for each row."""
    head = json.dumps({k: v for k, v in content.items() if k != 'networks'}, indent=1)[:-2]
    networks = [f'  {json.dumps(name)}: {{\n' + ',\n'.join(f'   {json.dumps(key)}: {json.dumps(row)}' for key, row in sorted(rows.items())) + '\n  }'
                for name, rows in content['networks'].items()]
    file.write_text(head + ',\n "networks": {\n' + ',\n'.join(networks) + '\n }\n}\n')


def find_disassembler():
    tool = subprocess.run([HERE.parents[1] / 'scripts/nvdisasm'], capture_output=True, text=True)
    if tool.returncode:
        why = (tool.stderr.strip().splitlines() or ['no reason'])[-1]
        print(f'NOTE: nvdisasm is neither here nor from PyPI ({why}); shares of instructions are not held')
    return tool.stdout.strip() if not tool.returncode else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('models', type=pathlib.Path)
    parser.add_argument('--figures', type=pathlib.Path, default=HERE / 'gpu-kernels.json', help='the file (default: gpu-kernels.json beside this one)')
    parser.add_argument('--all-architectures', action='store_true', help='of the file, not only ' + ' and '.join(USUAL))
    parser.add_argument('--write', action='store_true', help='take what is measured, of all architectures, as the new figures')
    a = parser.parse_args()
    content = json.loads(a.figures.read_text())
    architectures = content['architectures'] if a.write or a.all_architectures else USUAL
    columns = {arch: content['architectures'].index(arch) for arch in architectures}
    disassembler = find_disassembler()
    if a.write and not disassembler:
        sys.exit('error: --write needs nvdisasm')
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get('SPRIG_JOBS', os.cpu_count()))) as pool:
        cases = list(pool.map(lambda name: Case(name, architectures, a, disassembler), content['networks']))
    assembler = cases[0].assembler
    held = set(ROOM) - (set() if disassembler else set(OF_SASS))
    if assembler != content['assembler'] and not a.write:
        held -= set(OF_MACHINE_CODE)
        print(f'NOTE: {assembler} made the cubins, {content["assembler"]} those of the file: registers and instructions are not held')
    judge = Judge(held)
    for case in cases:
        for text in case.bad:
            judge.say(False, text)
        judge.passed += case.kernel_count - len(case.bad)
        if not a.write:
            judge.compare_rows(case, content['networks'][case.name], columns)
    for figure in ('sectors', 'waves'):
        values = [row[figure] for case in cases for row in case.rows.values() if row[figure] is not None]
        print(f'{figure}: {sum(v <= BAR for v in values)} of {len(values)} forms take at most {BAR} times the fewest; the worst takes {max(values, default=0)} times')
    if a.write:
        content['assembler'] = assembler
        content['networks'] = {case.name: case.rows for case in cases}
        save(content, a.figures)
    elif judge.better:
        print(f'NOTE: {judge.better} figures are better than their rows; scripts/stages/gpu-code-quality --write renews them')
    print(f'{judge.passed} passed, {judge.failed} failed')
    return judge.failed != 0


sys.exit(main())
