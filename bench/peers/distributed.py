"""Training on two ranks over a link of set rate: distributed.py --sprig PROGRAM [--rates 1gbit,...] [--tasks ...].

Two network namespaces, joined by a veth pair whose ends `tc tbf` holds at the rate, stand for two machines (root,
iproute2). Each rank is a process of one thread in one of them, bound to a core of its own: Linux puts two that share a
machine on one core now and then. Peers go in turn, `--processes` times; a cell is the
median of the runs' medians over steps, after some that warm up. All see the same data, half of each batch a rank, and
the same initial parameters; losses are printed, so that another network shows. --predict puts beside it what
`sprig simulate` expects of two processors like this one (calibrate first), each for itself, and that link.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import harness
import nets

TASKS = ('mlp_784_256_128_10 sgd b64', 'lenet sgd b64', 'resnet8 momentum b16')
NAMES = ('sprig-rank-0', 'sprig-rank-1')
ADDRESSES = ('10.213.7.1', '10.213.7.2')
WARM_UP = 10
PAYLOAD = 1448 / 1514  # of a frame, which tbf counts
BURST = 65536  # bytes that tbf lets pass at once, after a pause


def sh(*words):
    subprocess.run(words, check=True)


@contextlib.contextmanager
def link(rate):
    """Two namespaces and what joins them, for as long as the block runs; a rate of 'none' is as fast as it goes."""
    def remove():
        for name in NAMES:
            subprocess.run(['ip', 'netns', 'delete', name], stderr=subprocess.DEVNULL)
    remove()
    try:
        for name in NAMES:
            sh('ip', 'netns', 'add', name)
        sh('ip', 'link', 'add', 'rank0', 'netns', NAMES[0], 'type', 'veth', 'peer', 'name', 'rank1', 'netns', NAMES[1])
        for i, name in enumerate(NAMES):
            sh('ip', '-n', name, 'addr', 'add', f'{ADDRESSES[i]}/24', 'dev', f'rank{i}')
            sh('ip', '-n', name, 'link', 'set', f'rank{i}', 'up')
            sh('ip', '-n', name, 'link', 'set', 'lo', 'up')
            if rate != 'none':
                # Segments that tbf passes whole, as a card that cuts them itself takes them: else its timers take the cores.
                sh('ip', '-n', name, 'link', 'set', f'rank{i}', 'gso_max_size', '32768')
                sh('ip', 'netns', 'exec', name, 'tc', 'qdisc', 'add', 'dev', f'rank{i}', 'root', 'tbf', 'rate', rate,
                   'burst', str(BURST), 'latency', '100ms')
        yield
    finally:
        remove()


def environment(rank, port):
    return dict(os.environ, RANK=str(rank), WORLD_SIZE='2', MASTER_ADDR=ADDRESSES[0], MASTER_PORT=str(port),
                LOCAL_RANK='0', LOCAL_WORLD_SIZE='1', GLOO_SOCKET_IFNAME=f'rank{rank}', OMP_NUM_THREADS='1',
                MKL_NUM_THREADS='1', SPRIG_TRANSPORT='gloo')  # else it finds both on one machine, and shares memory


class Sprig:
    """`sprig train --strategy data`, batch norms with each rank's statistics as PyTorch has them."""
    def __init__(self, program, flags):
        self.program, self.flags = program, flags

    def command(self, task, steps, out, rank):
        return [self.program, 'train', str(task / 'model.onnx'), '--config', str(task / 'config.json'), '--x',
                str(out / 'x.npy'), '--y', str(out / 'y.npy'), '--steps', str(steps), '--threads', '1', '-q',
                '--format', 'json', '--metrics', str(out / f'metrics{rank}.jsonl'), '-o', str(out / f'w{rank}.safetensors'), *self.flags]

    def read(self, out, text):
        lines = [json.loads(line) for line in (out / 'metrics0.jsonl').read_text().splitlines()]
        at = [line['seconds'] for line in lines]
        exposed = statistics.median(line['exposed_communication_seconds'] for line in lines[WARM_UP:])
        return [b - a for a, b in zip(at, at[1:])], lines[WARM_UP]['loss'], exposed

    def predict(self, task, out, rate):
        """(seconds of a step, seconds of its communication that nothing hides) by the simulator."""
        text = both([self.program, 'bench', 'comm', '--n', '65536', '--format', 'json', '-q'], 29590)
        tables = json.loads(text)['tables']
        # A message and what it takes of the processors at both ends, which are busy one after the other.
        few, many = tables['processor'][0], tables['processor'][-1]
        handling = few['us, at each end']
        latency = max(0, tables['carriers'][0]['alpha, us'] - 2 * handling)
        moving = max(many['us, at each end'] - handling, 0.1) / (many['bytes'] - few['bytes'])  # us a byte
        number, unit = re.fullmatch(r'(\d+)(\w)bit', rate).groups()
        bits = float(number) * {'k': 1e3, 'm': 1e6, 'g': 1e9}[unit] * PAYLOAD
        processor = {'rates': 'native', 'threads': 1, 'forwards': True}
        (out / 'two.json').write_text(json.dumps({
            'name': 'two', 'devices': [{'name': f'cpu:{i}', **processor} for i in range(2)],
            'links': [{'between': ['cpu:0', 'cpu:1'], 'latency': f'{latency}us', 'rate': f'{bits / 8e6}MB/s',
                       'burst': f'{round(BURST * PAYLOAD)}B', 'handling': f'{handling}us',
                       'handling_rate': f'{1 / moving}MB/s'}]}))
        self.topology = (out / 'two.json').read_text()
        config = json.loads((task / 'config.json').read_text())
        if '--batch-norm replica' in ' '.join(self.flags):
            config.setdefault('batch_norm', {})['statistics'] = 'replica'
        (out / 'config.json').write_text(json.dumps(config))
        chosen = [word for flag in ('--bucket', '--factors') if flag in self.flags
                  for word in self.flags[self.flags.index(flag):][:2]]
        text = subprocess.run(
            [self.program, 'simulate', str(task / 'model.onnx'), '--train', str(out / 'config.json'), '--mesh', 'data=2',
             '--topology', str(out / 'two.json'), '--threads', '1', '--format', 'json', '-q', *chosen],
            check=True, capture_output=True, text=True).stdout
        point = json.loads(text)['points'][0]
        ranks = point['times']['ranks']
        return point['step_ns'] * 1e-9, max(rank['exposed_communication_ns'] for rank in ranks) * 1e-9


class Python:
    """distributed_peer.py: prints the seconds of each step, then the loss of step WARM_UP."""
    def __init__(self, kind):
        self.kind = kind

    def command(self, task, steps, out, rank):
        return [sys.executable, str(harness.HERE / 'distributed_peer.py'), self.kind, task.name, str(steps), str(WARM_UP)]

    def read(self, out, text):
        words = text.split()
        return [float(word) for word in words[:-1]], float(words[-1]), None


def write_data(task, steps, out):
    """The task's batch again and again."""
    import numpy as np
    for line in (task / 'shapes.txt').read_text().splitlines()[:2]:
        file, dtype, *dims = line.split()
        batch = np.fromfile(task / file, {'f32': np.float32, 'i64': np.int64}[dtype]).reshape([int(d) for d in dims])
        np.save(out / f'{file[0]}.npy', np.concatenate([batch] * steps))


def both(commands, port):
    """What rank 0 prints of a command, or of one for each rank, when both ranks' processes have ended."""
    if isinstance(commands[0], str):
        commands = [commands, commands]
    processes = [subprocess.Popen(['ip', 'netns', 'exec', NAMES[rank], 'taskset', '--cpu-list', str(rank), *commands[rank]],
                                  env=environment(rank, port), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                 for rank in range(2)]
    texts = []
    try:
        for process in processes:
            texts.append(process.communicate(timeout=600))
    finally:
        for process in processes:
            process.kill()
    for process, (_, error) in zip(processes, texts):
        if process.returncode:
            raise RuntimeError(error.strip()[-300:] or f'exit code {process.returncode}')
    return texts[0][0]


def run(peer, task, steps, out, port):
    """(median seconds of a step, loss, median seconds of its communication that nothing hides, or None)."""
    text = both([peer.command(task, steps, out, rank) for rank in range(2)], port)
    seconds, loss, exposed = peer.read(out, text)
    return statistics.median(seconds[WARM_UP:]), loss, exposed


def measure(peers, task, steps, processes, out):
    """{peer: {median_ns, p10_ns, p90_ns, loss, exposed_ns}} or {peer: {failed}}; peers go in turn, A B C A B C ..."""
    times, exposed, losses, failed = {name: [] for name in peers}, {name: [] for name in peers}, {}, {}
    for i in range(processes):
        for number, (name, peer) in enumerate(peers.items()):
            if name in failed:
                continue
            try:
                seconds, losses[name], apart = run(peer, task, steps, out, 29600 + i * len(peers) + number)
                times[name].append(seconds * 1e9)
                exposed[name] += [apart * 1e9] if apart is not None else []
            except (RuntimeError, subprocess.TimeoutExpired) as e:
                failed[name] = {'failed': str(e)}
    result = dict(failed)
    for name, own in times.items():
        if name in failed:
            continue
        tenths = statistics.quantiles(own, n=10, method='inclusive') if len(own) > 1 else own
        result[name] = {'median_ns': statistics.median(own), 'p10_ns': tenths[0], 'p90_ns': tenths[-1],
                        'loss': losses[name], 'processes': processes}
        if exposed[name]:
            result[name]['exposed_ns'] = statistics.median(exposed[name])
    return result


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--sprig', required=True, help='the program')
    p.add_argument('--flags', default='--strategy data --batch-norm replica', help='of sprig train')
    p.add_argument('--peers', default='ddp,ddp-compile,jax')
    p.add_argument('--tasks', default=','.join(TASKS))
    p.add_argument('--rates', default='1gbit,10gbit', help='as tc writes them; none: as fast as it goes')
    p.add_argument('--predict', action='store_true', help='simulates the cells, too')
    p.add_argument('--processes', type=int, default=20)
    p.add_argument('--steps', type=int, default=60)
    a = p.parse_args()
    sprig = Sprig(str(pathlib.Path(a.sprig).resolve()), a.flags.split())
    peers = {'sprig': sprig, **{name: Python(name) for name in a.peers.split(',') if name}}
    for rate in a.rates.split(','):
        with link(rate), tempfile.TemporaryDirectory() as folder:
            for name in a.tasks.split(','):
                task, out = nets.DATA / 'train' / name.replace(' ', '_'), pathlib.Path(folder)
                write_data(task, a.steps, out)
                cells = measure(peers, task, a.steps, a.processes, out)
                if a.predict:
                    step, apart = sprig.predict(task, out, rate)
                    cells['simulated'] = {'step_ns': step * 1e9, 'exposed_ns': apart * 1e9}
                harness.save('distributed', {f'{name} {rate}': cells})
                print(f'{name} {rate}:', '; '.join(cell_text(*cell) for cell in cells.items()), flush=True)


def cell_text(name, cell):
    if 'failed' in cell:
        return f"{name} FAILED({cell['failed'][:200]})"
    exposed = f", {cell['exposed_ns'] / 1e3:.0f} us exposed" if 'exposed_ns' in cell else ''
    if 'step_ns' in cell:
        return f"{name} {cell['step_ns'] / 1e3:.0f} us{exposed}"
    return f"{name} {cell['median_ns'] / 1e3:.0f} us{harness.spread(cell, 1e3)}{exposed} loss {cell['loss']:.5f}"


main()
