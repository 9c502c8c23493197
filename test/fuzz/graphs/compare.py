#!/usr/bin/env python3
"""Compares random ONNX graphs, compiled in several ways, with the reference interpreter:

    compare.py SPRIG [--seconds N | --count N] [--first SEED] [--onnxruntime VENV]
    compare.py SPRIG --seed SEED [--nodes N] --keep FOLDER [--onnxruntime VENV]

One and two threads, fused and separate kernels, and x86-64-v3 and -v4, must give the same bits; these, and x86-64-v2 and strict math, the interpreter's
values but for rounding. --onnxruntime compares with ONNX Runtime too, from a virtual environment that is made in VENV if
packages can be fetched. What differs is named by its seed and the fewest nodes that still differ; --keep leaves model, inputs
and outputs of one graph in a folder. The last line is `N passed, N failed`, one for each graph.
"""
import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import onnx_bytes
from random_graph import Graph

parser = argparse.ArgumentParser()
parser.add_argument('sprig', type=pathlib.Path)
parser.add_argument('--seconds', type=float)
parser.add_argument('--count', type=int)
parser.add_argument('--first', type=int, default=0)
parser.add_argument('--seed', type=int)
parser.add_argument('--nodes', type=int)
parser.add_argument('--keep', type=pathlib.Path)
parser.add_argument('--onnxruntime', type=pathlib.Path)
options = parser.parse_args()

TOLERANCE = ['--rtol', '1e-3', '--atol', '1e-4']
EXACT = ['--rtol', '0', '--atol', '0']
NATIVE = subprocess.run([options.sprig, 'devices'], capture_output=True, text=True).stdout
# name, arguments; what the outputs were written by is one thread of x86-64-v3
WAYS = [('interpreter', ['--interpreter', *TOLERANCE]), ('two threads', ['--threads', '2', '--cpu', 'x86-64-v3', *EXACT]),
        ('separate kernels', ['--O0', '--cpu', 'x86-64-v3', *EXACT]), ('x86-64-v2', ['--cpu', 'x86-64-v2', *TOLERANCE]), ('strict math', ['--math', 'strict', *TOLERANCE])]
if 'x86-64-v4' in NATIVE:
    WAYS.append(('x86-64-v4', ['--cpu', 'x86-64-v4', *EXACT]))
BATCH = 24
at_once = concurrent.futures.ThreadPoolExecutor(os.cpu_count())  # runs of the tool
cache = tempfile.TemporaryDirectory()  # of kernels that no user will want again
environment = {**os.environ, 'SPRIG_CACHE': cache.name}


def sprig(*arguments):
    return subprocess.run([options.sprig, *arguments], capture_output=True, text=True, errors='replace', timeout=300,
                          stdin=subprocess.DEVNULL, env=environment)


def first_line(text):
    return text.strip().splitlines()[0] if text.strip() else ''


def nodes_of(seed):
    return options.nodes or 1 + seed * 7 % 14


def write(graph, folder):
    """A case as `sprig check --cases` reads it, with the outputs of a first run; the reason where it does not run."""
    data = folder / 'data_0'
    shutil.rmtree(folder, ignore_errors=True)
    data.mkdir(parents=True)
    (folder / 'model.onnx').write_bytes(graph.model())
    inputs = []
    for k, (value, numbers) in enumerate(graph.inputs):
        (data / f'input_{k}.npy').write_bytes(onnx_bytes.npy(value.dtype, value.shape, numbers))
        inputs += ['--input', f'{value.name}={data / f"input_{k}.npy"}']
    done = sprig('run', folder / 'model.onnx', *inputs, '--output-dir', data, '--cpu', 'x86-64-v3', '--threads', '1', '-q')
    if done.returncode != 0:
        return f'exit code {done.returncode}: {first_line(done.stderr)}'
    for k, value in enumerate(graph.outputs()):
        (data / f'{value.name}.npy').rename(data / f'output_{k}.npy')
    return None


def differences(folder, names):
    """The reasons by the name of a case in the folder."""
    found = {}
    runs = at_once.map(lambda way: sprig('check', '--cases', folder, *way[1]), WAYS)
    for (way, _), done in zip(WAYS, runs):
        for line in done.stdout.splitlines():
            if line.startswith(('FAIL ', 'UNSUPPORTED ')):
                case, _, reason = line.split(' ', 1)[1].partition(': ')
                found.setdefault(case.split('/')[0], f'{way}: {reason}')
        if done.returncode not in (0, 1):
            for name in names:
                found.setdefault(name, f'{way}: exit code {done.returncode}: {first_line(done.stderr)}')
    if runtime:
        for name in names:
            if reason := runtime_difference(folder / name):
                found.setdefault(name, 'ONNX Runtime: ' + reason)
    return found


def runtime_difference(case):
    data = case / 'data_0'
    quiet = runtime.SessionOptions()
    quiet.log_severity_level = 4
    quiet.intra_op_num_threads = 1
    try:
        session = runtime.InferenceSession(str(case / 'model.onnx'), quiet, providers=['CPUExecutionProvider'])
        wanted = session.run(None, {each.name: numpy.load(data / f'input_{k}.npy') for k, each in enumerate(session.get_inputs())})
    except Exception as error:  # what it has no kernel for is no difference
        refused.append(first_line(str(error)))
        return None
    compared.append(case.name)
    for k, want in enumerate(wanted):
        got = numpy.load(data / f'output_{k}.npy')
        if got.shape != want.shape or got.dtype != want.dtype:
            return f'output {k} is {got.dtype}{got.shape}, expected {want.dtype}{want.shape}'
        if not numpy.allclose(got, want, rtol=1e-3, atol=1e-3, equal_nan=True):
            return f'output {k} differs by {numpy.abs(got.astype(float) - want.astype(float)).max():.3g}'
    return None


def compare(graphs, folder):
    """The reasons by seed."""
    shutil.rmtree(folder, ignore_errors=True)
    found, written = {}, {}
    reasons = at_once.map(lambda seed: write(graphs[seed], folder / f'seed-{seed}'), graphs)
    for seed, reason in zip(graphs, reasons):
        if reason:
            found[seed] = reason
            shutil.rmtree(folder / f'seed-{seed}')
        else:
            written[f'seed-{seed}'] = seed
    if written:
        found.update((written[name], reason) for name, reason in differences(folder, list(written)).items())
    return found


def report(seed, nodes, reason, scratch):
    """Names the fewest nodes that do not go through."""
    for fewer in range(1, nodes):
        shorter = compare({seed: Graph(seed).grow(fewer)}, scratch / 'shorter')
        if shorter:
            nodes, reason = fewer, shorter[seed]
            break
    graph = Graph(seed).grow(nodes)
    print(f'FAIL graph {seed}: {reason}\n     {" ".join(graph.operators)}, opset {graph.opset}\n     again: '
          f'python3 test/fuzz/graphs/compare.py {options.sprig} --seed {seed} --nodes {nodes} --keep FOLDER', flush=True)


def in_environment(folder):
    """Goes on in the virtual environment, which is made where it is missing; returns where it cannot be made."""
    python = folder / 'bin' / 'python'
    if not (folder / 'complete').exists():
        try:
            subprocess.run([sys.executable, '-m', 'venv', folder], check=True, capture_output=True)
            subprocess.run([python, '-m', 'pip', 'install', '-q', 'numpy', 'onnxruntime'], check=True, capture_output=True)
            (folder / 'complete').touch()
        except (OSError, subprocess.CalledProcessError) as error:
            print(f'NOTE: no ONNX Runtime ({error}): graphs are compared with the interpreter alone')
            return
    os.execv(python, [str(python), *sys.argv])


runtime, numpy, refused, compared = None, None, [], []
if options.onnxruntime:
    if pathlib.Path(sys.prefix).resolve() != options.onnxruntime.resolve():
        in_environment(options.onnxruntime)
    else:
        import numpy
        import onnxruntime as runtime

if options.seed is not None:
    nodes = nodes_of(options.seed)
    graph = Graph(options.seed).grow(nodes)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or pathlib.Path(scratch)
        reasons = compare({options.seed: graph}, folder)
    print(f'opset {graph.opset}: {" ".join(graph.operators)}')
    print(f'FAIL graph {options.seed}: {reasons[options.seed]}' if reasons else 'all ways agree')
    print(f'{int(not reasons)} passed, {len(reasons)} failed')
    sys.exit(bool(reasons))

count = options.count or (1 << 40 if options.seconds else 100)
end = time.monotonic() + (options.seconds or 1e9)
passed = failed = 0
with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    at = options.first
    while at < options.first + count and time.monotonic() < end:
        graphs = {seed: Graph(seed).grow(nodes_of(seed)) for seed in range(at, min(at + BATCH, options.first + count))}
        reasons = compare(graphs, scratch / 'cases')
        for seed, reason in sorted(reasons.items()):
            report(seed, nodes_of(seed), reason, scratch)
        passed, failed, at = passed + len(graphs) - len(reasons), failed + len(reasons), at + len(graphs)
if runtime:
    print(f'{len(compared)} graphs compared with ONNX Runtime {runtime.__version__}, which refused {len(refused)}')
    for reason in sorted(set(refused))[:5]:
        print(f'  {reason}')
print(f'{passed} passed, {failed} failed')
sys.exit(failed != 0)
