"""Tables of gpu.py in Markdown: gpu_report.py [NAME]. A peer's cell is its time over Sprig's: above 1, Sprig is faster."""
import json
import math
import sys

import harness

PEERS = {'graph': 'PyTorch, CUDA graph', 'eager': 'PyTorch eager', 'compile': 'torch.compile, CUDA graph',
         'tuned': 'the same, max_autotune', 'jax': 'JAX jit'}
MODES = {'host': 'host arrays, one call after the other', 'device': 'arrays on the GPU, calls back to back'}


def bound(precision):
    """Of errors, in parts of the largest output."""
    return {'f32': 1e-3, 'tf32': 1e-2}[precision]


def unwritten(why):
    """Of a failure: there is no such peer."""
    return 'is not written for' in why


def good(cell, peer, precision):
    v = cell.get(peer, {})
    return 'median_ns' in v and v['check'] <= bound(precision)


def mean(ratios):
    return f'{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}' if ratios else ''


def table(cells, precision, mode):
    rows = {k.removesuffix(f' {precision} {mode}'): c for k, c in cells.items() if k.endswith(f' {precision} {mode}')}
    peers = [p for p in PEERS if any(p in c for c in rows.values())]
    if not rows:
        return
    print(f'\n### {precision}, {MODES[mode]}\n')
    print('| | Sprig us, least | median | ' + ' | '.join(PEERS[p] for p in peers) + ' | best of them |')
    print('|---' * (4 + len(peers)) + '|')
    columns = {p: [] for p in [*peers, 'best']}
    for name, cell in rows.items():
        ratios = {}
        if good(cell, 'sprig', precision):
            own = cell['sprig']['median_ns']
            ratios = {p: cell[p]['median_ns'] / own for p in peers if good(cell, p, precision)}
            if ratios:
                ratios['best'] = min(ratios.values())
            times = f"{cell['sprig']['min_ns'] / 1e3:.1f} | {own / 1e3:.1f}"
        else:
            times = ' | ' + ('wrong' if 'median_ns' in cell.get('sprig', {}) else 'failed')
        for p, r in ratios.items():
            columns[p].append(r)
        text = lambda p: f'{ratios[p]:.2f}' if p in ratios else '' if p not in cell or unwritten(cell[p].get('failed', '')) else \
            'wrong' if 'median_ns' in cell[p] and not good(cell, p, precision) else '' if 'median_ns' in cell[p] else 'failed'
        print(f'| {name} | {times} | ' + ' | '.join(map(text, peers)) + f" | {text('best') if 'best' in ratios else ''} |")
    print('| geometric mean | | | ' + ' | '.join(mean(columns[p]) for p in [*peers, 'best']) + ' |')


def main(names):
    for name in names or ['gpu']:
        path = harness.RESULTS / f'{name}.json'
        if not path.exists():
            print(f'{path}: no results')
            continue
        results = json.loads(path.read_text())
        machine, cells = results['machine'], results['cells']
        versions = ', '.join(f'{k} {v}' for k, v in machine['versions'].items() if k in ('torch', 'jax'))
        print(f"\n{machine['date']}, {machine['gpu'] or 'no GPU'}, {machine['cpu']}, {versions}")
        for precision in 'f32', 'tf32':
            for mode in MODES:
                table(cells, precision, mode)
        reasons = {f'{k}: {p}: {v["failed"]}' for k, c in cells.items() for p, v in c.items() if 'failed' in v and not unwritten(v['failed'])}
        reasons |= {f'{k}: {p}: error {v["check"]:.1e}' for k, c in cells.items() for p, v in c.items()
                    if 'median_ns' in v and not v['check'] <= bound(k.split()[-2])}
        print('\n' + '\n'.join(['Failed or wrong:', *sorted(reasons)] if reasons else ['Nothing failed.']))


if __name__ == '__main__':
    main(sys.argv[1:])
