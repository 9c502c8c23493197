#!/usr/bin/env python3
"""Networks with factors rounded to bf16 beside OpenVINO: rounded.py SPRIG MODELS FOLDER [--seconds 0.5] [--nets A,B]

Times MODELS/NET/model.onnx under --precision bf16 and in f32, OpenVINO with the same two hints, on one thread, in turn: least
time of a call over several rounds. Pin it to one processor. Says how far outputs are from f32's, too.
"""
from quantized import NETS, ROUNDS, arguments, distance, least, openvino_call, sprig_outputs, sprig_time


def main():
    options = arguments(__doc__)
    print('| network | batch | µs | over our f32 | OpenVINO bf16 | OpenVINO f32 | furthest output |')
    print('|---' * 7 + '|')
    for net in options.nets.split(','):
        model = options.models / net / 'model.onnx'
        for batch in (1, NETS[net]):
            calls = {kind: openvino_call(model, batch, kind) for kind in ('bf16', 'f32')}
            best = {}
            for _ in range(ROUNDS):
                for kind, call in calls.items():
                    best['peer', kind] = min(best.get(('peer', kind), float('inf')), least(call, options.seconds))
                    own = sprig_time(options.sprig, model, batch, options.seconds, '--precision', kind)
                    best['own', kind] = min(best.get(('own', kind), float('inf')), own)
            own = best['own', 'bf16']
            rounded, wanted = (sprig_outputs(options.sprig, model, batch, options.folder, '--precision', precision)
                               for precision in ('bf16', 'f32'))
            print(f"| {net} | {batch} | {own:.1f} | {best['own', 'f32'] / own:.2f} | {best['peer', 'bf16'] / own:.2f} | "
                  f"{best['peer', 'f32'] / own:.2f} | {distance(rounded, wanted):.1e} |", flush=True)


if __name__ == '__main__':
    main()
