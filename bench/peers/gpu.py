"""Networks and training steps on a GPU: Sprig beside PyTorch (eager, CUDA graphs, torch.compile) and JAX.

  gpu.py --sprig PROGRAM --sprig-gpu PROGRAM [--nets A,B] [--tasks "A,B"] [--precisions f32,tf32] [--peers ...] [--budget SECONDS]

Two ways to count: "host", arrays of the host in and out, each call waited for; "device", arrays on the GPU (state, too), calls back
to back, by the GPU's events (JAX: by the clock). First everything is exported, compiled and loaded, by many processes at once, none
of which is begun after a part of the budget; then all of them are still, and one is timed after the other, in turn (A B C A B C).
What fails is reported by its reason, and the rest goes on; results/NAME.json is written after each cell, a table at the end.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import dataclasses
import os
import statistics
import subprocess
import sys
import threading
import time

import gpu_report
import harness
import nets
import tasks

NETS = [*nets.BATCHES, 'tiny_relu_16_64_64_4', 'lstm_32_64_50', 'gru_both_40_128_30', 'mixer_2x64', 'vit_2x64', 'decoder_2x64', 'unet_16']
PEERS = ['graph', 'eager', 'compile', 'jax']
START = time.monotonic()
Cell = collections.namedtuple('Cell', 'what name batch precision')   # what: net, step


@dataclasses.dataclass
class Loaded:
    """What a process keeps under a key."""
    process: harness.Peer
    key: str
    line: str    # that loads it
    info: dict   # load_ms, check
    pid: int     # of the process that has it

    def alive(self):
        """Its process; where that was begun anew, with this loaded again."""
        if not self.process.process or self.process.process.pid != self.pid:
            self.process.ask(self.line, 60)
            self.pid = self.process.process.pid
        return self.process


def say(*words):
    print(f'[{time.monotonic() - START:6.1f} s]', *words, flush=True)


def label(cell):
    return f'{cell.name} b{cell.batch} {cell.precision}' if cell.what == 'net' else f'{cell.name} {cell.precision}'


def folder(cell):
    return nets.DATA / cell.name if cell.what == 'net' else nets.DATA / 'train' / tasks.SLUG[cell.name]


def package(cell):
    return folder(cell) / (f'{cell.batch}.{cell.precision}.sprig' if cell.what == 'net' else f'step.{cell.precision}.sprig')


class Bench:
    def __init__(self, arguments):
        self.a = arguments
        self.until = START + arguments.budget * arguments.prepare
        self.cells = [Cell('net', n, b, p) for p in arguments.precisions for n in arguments.nets for b in nets.ALL[n]]
        self.cells += [Cell('step', t, 0, p) for p in arguments.precisions for t in arguments.tasks]
        rank = lambda c: 1 if c.what == 'step' else 0 if c.name in nets.BATCHES else 2
        self.cells.sort(key=lambda c: (arguments.precisions.index(c.precision), rank(c)))   # what matters most comes first
        self.exported = {c[:2]: concurrent.futures.Future() for c in self.cells}
        self.packages = {c: concurrent.futures.Future() for c in self.cells}
        self.loaded = {c: {} for c in self.cells}    # of a cell, by peer: Loaded
        self.failed = {c: {} for c in self.cells}    # of a cell, by peer: why
        self.compilers = concurrent.futures.ThreadPoolExecutor(arguments.compilers)
        self.gone = set()

    def left(self):
        return self.until - time.monotonic()

    # ---- preparation

    def export(self, process, key):
        what, name = key
        words = f'net {name} {",".join(map(str, nets.ALL[name]))}' if what == 'net' else f'task {tasks.SLUG[name]}'
        try:
            process.ask('prepare ' + words, max(1, self.left()))
            self.exported[key].set_result(None)
            say('exported', name)
        except RuntimeError as e:
            self.exported[key].set_exception(RuntimeError(f'export: {e}'))
            say('FAILED to export', name, e)
        for cell in self.cells:
            if cell[:2] == key:
                self.compilers.submit(self.compile, cell)

    def compile(self, cell):
        """Sprig's package of a cell."""
        try:
            self.exported[cell[:2]].result(0)
            where = folder(cell)
            words = [where / f'model_{cell.batch}.onnx'] if cell.what == 'net' else [where / 'model.onnx', '--train', where / 'config.json']
            done = subprocess.run([self.a.sprig, 'compile', *words, '--target', self.a.target, '--precision', cell.precision, '-q', '-o', package(cell)],
                                  capture_output=True, text=True, timeout=max(1, self.left() + 30))
            if done.returncode:
                raise RuntimeError(f'sprig compile: {done.stderr.strip()[:300]}')
            self.packages[cell].set_result(None)
        except Exception as e:
            self.packages[cell].set_exception(RuntimeError(str(e)))

    def load(self, process, cell, peer):
        key = f'{peer}:{label(cell)}'.replace(' ', '_')
        name = str(folder(cell)) if peer == 'sprig' else cell.name if cell.what == 'net' else tasks.SLUG[cell.name]
        kind = '' if peer == 'sprig' else f'{peer} '
        try:
            (self.packages[cell] if peer == 'sprig' else self.exported[cell[:2]]).result(max(0, self.left()))
            line = f'load {key} {kind}{cell.what} {name} {cell.batch} {cell.precision}'
            ns, check = process.ask(line, 120)
            info = {'load_ms': float(ns) / 1e6, 'check': self.check(cell, float(check))}
            self.loaded[cell][peer] = Loaded(process, key, line, info, process.process.pid)
        except (concurrent.futures.TimeoutError, TimeoutError):
            self.failed[cell][peer] = 'what it needs was not ready in time'
        except RuntimeError as e:
            self.failed[cell][peer] = str(e)
            self.after_failure(process, peer, str(e))
        if peer in self.failed[cell] and not gpu_report.unwritten(self.failed[cell][peer]):
            say('FAILED to load', peer, label(cell), self.failed[cell][peer][:200])

    @staticmethod
    def after_failure(process, peer, why):
        """A fault of the device stays with its process: a new one takes its place, and Loaded.alive loads again what was in it."""
        if peer == 'sprig' or any(w in why for w in ('CUDA error', 'CUDA_ERROR', 'illegal', 'the process died')):
            process.stop()

    @staticmethod
    def check(cell, value):
        """Of a network the error itself, of a step that of the loss of step 10."""
        if cell.what == 'net':
            return value
        want = float((folder(cell) / 'loss.txt').read_text())
        return abs(value - want) / max(1, abs(want))

    def work(self, process, queues):
        for queue, job, name in queues:
            while queue:
                try:
                    item = queue.popleft()
                except IndexError:
                    break
                if self.left() > 0:
                    job(process, *item)
                    continue
                if job == self.export:
                    self.exported[item[0]].set_exception(RuntimeError('not begun: out of time'))
                else:
                    self.failed[item[0]][item[1]] = 'not begun: out of time'
        say(process.name, 'is ready')

    def prepare(self):
        exports = collections.deque([(key,) for key in self.exported])
        queues = {peer: collections.deque((c, peer) for c in self.cells if not (peer == 'compile' and c.precision not in self.a.compile))
                  for peer in ('sprig', *self.a.peers)}
        base = collections.deque((c, p) for c in self.cells for p in ('graph', 'eager') if p in self.a.peers)
        plans = []
        def python(framework, count, *queues):
            for i in range(count):
                name = f'{framework}{i}' if framework == 'jax' else f'{framework}-{queues[-1][2]}{i}'
                command = [sys.executable, str(harness.HERE / 'gpu_peer.py'), framework, self.a.device]
                plans.append((harness.Peer(name, command, 2, self.log(name)), queues))
        out = (exports, self.export, 'export')
        python('torch', self.a.workers, out, (base, self.load, 'base'))
        for peer in ('compile', 'tuned'):
            if peer in queues:
                python('torch', self.a.compile_workers, out, (queues[peer], self.load, peer))
        if 'jax' in queues:
            python('jax', self.a.jax_workers, (queues['jax'], self.load, 'jax'))
        plans.append((harness.Peer('sprig', [self.a.sprig_gpu], 2, self.log('sprig')), [(queues['sprig'], self.load, 'sprig')]))
        threads = []
        for process, queues in plans:
            process.start()
            thread = threading.Thread(target=self.work, args=(process, queues), daemon=True)
            thread.start()
            threads.append((thread, process))
        for thread, process in threads:
            thread.join(max(0, self.left() + self.a.grace))
            if thread.is_alive():   # it would disturb those that are timed
                say(process.name, 'takes too long and is ended, with all that it has loaded')
                self.gone.add(process)
                process.stop()
        self.processes = [process for _, process in threads]

    def log(self, name):
        path = nets.DATA / 'log'
        path.mkdir(parents=True, exist_ok=True)
        return path / f'{name}.txt'

    # ---- times

    def measure(self, cell):
        """By mode the row of a cell."""
        peers = {p: one for p in ('sprig', *self.a.peers) if (one := self.loaded[cell].get(p)) and one.process not in self.gone}
        ended = {p: 'its process took too long to load' for p in self.loaded[cell].keys() - peers.keys()}
        wrong, rows = self.failed[cell] | ended, {}
        for mode in self.a.modes:
            times = {p: [] for p in peers}
            for i in range(self.a.rounds + 1):   # the first round warms up
                for peer, one in peers.items():
                    if peer in wrong:
                        continue
                    try:
                        ns = float(one.alive().ask(f'time {one.key} {mode} {self.a.ms}', 20)[0])
                        if i:
                            times[peer].append(ns)
                    except RuntimeError as e:
                        wrong[peer] = f'{mode}: {e}'
                        self.after_failure(one.process, peer, str(e))
            rows[mode] = {p: peers[p].info | {'min_ns': min(t), 'median_ns': statistics.median(t), 'rounds': len(t)}
                          for p, t in times.items() if p not in wrong} | {p: {'failed': why} for p, why in wrong.items()}
        harness.save(self.a.results, {f'{label(cell)} {mode}': row for mode, row in rows.items()})
        return rows

    def run(self):
        self.prepare()
        say('everything is still;', sum(map(len, self.loaded.values())), 'peers are loaded,', sum(map(len, self.failed.values())), 'failed')
        for one in [v for c in self.loaded.values() for v in c.values() if v.process not in self.gone][:1]:
            with contextlib.suppress(RuntimeError):
                one.alive().ask(f'time {one.key} device 500', 30)   # the GPU's clock goes up
        skipped = []
        for cell in self.cells:
            if time.monotonic() - START > self.a.budget:
                skipped.append(label(cell))
                continue
            for mode, row in self.measure(cell).items():
                say(label(cell), mode, *[f"{p} {v['median_ns'] / 1e3:.1f} us{'' if v['check'] <= gpu_report.bound(cell.precision) else ' WRONG %.1e' % v['check']};"
                                         if 'median_ns' in v else f"{p} FAILED ({v['failed'][:80]});"
                                         for p, v in row.items() if not gpu_report.unwritten(v.get('failed', ''))])
        for process in self.processes:
            process.stop()
        if skipped:
            say('not timed, as the budget was spent:', ', '.join(skipped))
        say('done')


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    split = lambda text: [w for w in text.split(',') if w]
    p.add_argument('--sprig', required=True, help='the command line program, which compiles')
    p.add_argument('--sprig-gpu', required=True, help='bench/sprig_gpu.cpp')
    p.add_argument('--target', default='cuda:sm_90')
    p.add_argument('--device', default='cuda', help='of the other peers; cpu: to try the programs')
    p.add_argument('--nets', type=split, default=NETS)
    p.add_argument('--tasks', type=split, default=list(tasks.TASKS), help='names by comma; empty: none')
    p.add_argument('--precisions', type=split, default=['f32', 'tf32'])
    p.add_argument('--compile', type=split, default=['f32'], metavar='PRECISIONS', help='for which torch.compile is asked for (default f32)')
    p.add_argument('--peers', type=split, default=PEERS, help='of graph, eager, compile, tuned (max_autotune), jax')
    p.add_argument('--modes', type=split, default=['host', 'device'])
    p.add_argument('--budget', type=float, default=150, help='seconds after which no cell is begun (default 150)')
    p.add_argument('--prepare', type=float, default=.5, help='part of the budget after which nothing is loaded any more (default 0.5)')
    p.add_argument('--grace', type=float, default=20, help='seconds more for what is under way then')
    p.add_argument('--workers', type=int, default=4, help='processes that export and load')
    p.add_argument('--compile-workers', type=int, default=10, help='processes that export and have torch.compile compile')
    p.add_argument('--jax-workers', type=int, default=3)
    p.add_argument('--compilers', type=int, default=4, help='processes of sprig compile at once')
    p.add_argument('--rounds', type=int, default=5)
    p.add_argument('--ms', type=float, default=5, help='of a timing, at least')
    p.add_argument('--results', default='gpu')
    a = p.parse_args()
    bench = Bench(a)
    try:
        bench.run()
    finally:
        gpu_report.main([a.results])
    os._exit(0)   # threads that wait for what was ended are left


main()
