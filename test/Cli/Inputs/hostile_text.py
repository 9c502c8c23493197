#!/usr/bin/env python3
"""Gives every reader of MLIR text what programs cannot hold, and what is nested beyond any parser's stack.

    hostile_text.py SPRIG SPRIG_OPT FOLDER

Each text must be refused by `sprig` with exit code 3, one `error:` and the words that belong to it, by every command;
sprig-opt must end with exit code 0 or 1. Closes with `N passed, N failed`.
"""
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from counting import expect, finish

sprig, sprig_opt, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)

DEEP = 20000
NESTED = 'nested more than 256 deep'


def passing(kind):
    return f'func.func @f(%x: {kind}) -> {kind} {{ return %x : {kind} }}'


def within(attribute):
    return f'module attributes {{other.a = {attribute}}} {{ {passing("tensor<2xf32>")} }}'


TYPES = {kind: 'expected' for kind in [
    'complex<f32>', 'index', 'f32', 'i3', 'tuple<tensor<2xf32>>', 'none', 'vector<4xf32>', 'memref<?xf32>',
    'tensor<*xf32>', 'tensor<?x3xf32>', 'tensor<4xi3>', 'tensor<4xf80>', 'tensor<4xindex>', 'tensor<4xcomplex<f32>>',
    'tensor<4xsi32>', 'tensor<4xf8E4M3FN>', 'tensor<4xvector<2xf32>>', 'tensor<4xf32, "encoding">',
    'memref<4xf32, strided<[2]>>', 'tensor<281474976710657xf32>', 'tensor<9223372036854775807x9223372036854775807xf32>',
    'tensor<' + '1x' * 65 + 'f32>', 'tensor<4xi65>', 'tensor<4xi1000000>', '() -> ()', '!llvm.ptr']}
texts = {f'type {kind}': (passing(kind), word) for kind, word in TYPES.items()}
texts |= {
    'dispatch': ('func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n'
                 '  %r = kernel.dispatch "d" (%a = %x : tensor<2xf32>) -> tensor<2xf32> {\n'
                 '    %v = nn.relu %a : tensor<2xf32>\n    kernel.yield %v : tensor<2xf32>\n  }\n'
                 '  return %r : tensor<2xf32>\n}', "'kernel.dispatch' op cannot stand in a program"),
    'pack': ('func.func @f(%x: tensor<2x2xf32>) -> tensor<1x2x32xf32> {\n  %r = kernel.pack %x : tensor<2x2xf32>\n'
             '  return %r : tensor<1x2x32xf32>\n}', "'kernel.pack' op cannot stand in a program"),
    'call': ('func.func @g(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }\n'
             'func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n'
             '  %r = func.call @g(%x) : (tensor<2xf32>) -> tensor<2xf32>\n  return %r : tensor<2xf32>\n}',
             "'func.call' op cannot stand in a program"),
    'branch': ('func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  cf.br ^end\n^end:\n'
               '  return %x : tensor<2xf32>\n}', 'has 2 blocks, expected one'),
    'endless': ('func.func @f() {\n  cf.br ^a\n^a:\n  cf.br ^a\n}', 'has 2 blocks, expected one'),
    'unreachable': ('func.func @f() { ub.unreachable }', 'cannot stand'),
    'recursion': ('func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n'
                  '  %r = func.call @f(%x) : (tensor<2xf32>) -> tensor<2xf32>\n  return %r : tensor<2xf32>\n}',
                  'cannot stand'),
    'declaration': ('func.func private @f(tensor<2xf32>) -> tensor<2xf32>', 'has no body'),
    'private': ('func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }',
                'has no entry'),
    'no function': ('module { } // func', 'has no entry'),
    'module in module': ('module { module { ' + passing('tensor<2xf32>') + ' } }', 'another module'),
    'odd constant': ('nn.param @w = dense<1> : tensor<2xi3>\n' + passing('tensor<2xf32>'), ''),
    'misspelt attribute': (passing('tensor<2xf32>').replace('{', 'attributes {nn.entri = "main"} {', 1),
                           "has 'nn.entri', which nn does not know"),
    'resource': ('nn.param @w = dense_resource<none> : tensor<2xf32>\n' + passing('tensor<2xf32>'), 'resource'),
    'other dialect': (passing('!foo.bar'), ''),
    'cut off': (passing('tensor<2xf32>')[:-20], ''),
    'nested arrays': (within('[' * DEEP + ']' * DEEP), NESTED),
    'open arrays': (within('[' * DEEP), NESTED),
    'nested dictionaries': (within('{a = ' * DEEP + '1' + '}' * DEEP), NESTED),
    'nested types': (passing('tuple<' * DEEP + 'i32' + '>' * DEEP), NESTED),
    'nested functions': (within('(' * DEEP + ') -> ()' * DEEP), NESTED),
    'nested regions': ('"a.b"() ({' * DEEP + '}) : () -> ()' * DEEP + ' // func', NESTED),
    'nested modules': ('module {' * DEEP + '}' * DEEP + ' // func', NESTED),
    'nested locations': (passing('tensor<2xf32>') + ' loc(' + 'fused[' * DEEP + '"a"' + ']' * DEEP + ')', NESTED),
    'long sum': (within('affine_map<(d0) -> (' + 'd0 + ' * DEEP + 'd0)>'), 'has more than 4096 characters'),
    'open sum': (within('affine_map<(d0) -> (' + 'd0 + ' * DEEP), 'has more than 4096 characters'),
    'many signs': (within('affine_map<(d0) -> (' + '- ' * DEEP + 'd0)>'), 'has more than 4096 characters'),
    'aliases': ('#a0 = [1]\n' + ''.join(f'#a{i + 1} = [#a{i}]\n' for i in range(DEEP)) + within(f'#a{DEEP}'), NESTED),
    'aliases on lines': ('#a0 =\n[1]\n' + ''.join(f'#a{i + 1} = {{b =\n#a{i}}}\n' for i in range(DEEP)) +
                         within(f'#a{DEEP}'), NESTED),
    'type aliases': ('!a0 = i32\n' + ''.join(f'!a{i + 1} = tuple<!a{i}>\n' for i in range(DEEP)) +
                     passing(f'!a{DEEP}'), NESTED),
    'doubling': ('#a0 = [1]\n' + ''.join(f'#a{i + 1} = [#a{i}, #a{i}]\n' for i in range(60)) + within('#a60'),
                 'stand for more than'),
    'array of index': (within('array< // of\nindex: 1>'), 'an array of index'),
    'algorithm': ('dist.mesh @mesh ["data"] [4]\nfunc.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n'
                  '  %r = dist.all_reduce sum %x on @mesh ["data"] by "magic" : tensor<8xf32>\n  return %r : tensor<8xf32>\n}',
                  'expected an algorithm of all_reduce'),
    'uneven rows': ('dist.mesh @mesh ["data"] [5]\nfunc.func @f(%x: tensor<2x3xf32>) -> tensor<6x3xf32> {\n'
                    '  %r = dist.all_gather %x on @mesh ["data"] : tensor<2x3xf32> -> tensor<6x3xf32>\n'
                    '  return %r : tensor<6x3xf32>\n}', 'which 5 ranks do not share evenly'),
    'rank of no mesh': (passing('tensor<2xf32>').replace('{', 'attributes {dist.rank = 3 : i64} {', 1),
                        'is of rank 3, and neither'),
    'piece of no rank': (passing('tensor<2xf32>').replace('%x: tensor<2xf32>)', '%x: tensor<2xf32> {dist.piece = array<i64: 7, 0>})'),
                         'is not the program of one rank'),
    'samples of a scalar': ('func.func @f(%x: tensor<2xf32>) -> tensor<f32> attributes {nn.independent_samples} {\n'
                            '  %r = nn.constant dense<1.0> : tensor<f32>\n  return %r : tensor<f32>\n}', 'has no first axis'),
    'two inputs of a name': ('func.func @f(%x: tensor<2xf32> {nn.name = "a"}, %y: tensor<2xf32> {nn.name = "a"}) -> tensor<2xf32> {\n'
                             '  return %x : tensor<2xf32>\n}', "has two inputs called 'a'"),
    'two outputs of a name': ('func.func @f(%x: tensor<2xf32>) -> (tensor<2xf32> {nn.name = "output1"}, tensor<2xf32>) {\n'
                              '  return %x, %x : tensor<2xf32>, tensor<2xf32>\n}', "has two outputs called 'output1'"),
    'a name with a NUL': ('func.func @f(%x: tensor<2xf32>) -> (tensor<2xf32> {nn.name = "y\\00a"}) {\n'
                          '  return %x : tensor<2xf32>\n}', 'expected a string without a NUL'),
    'an entry with a NUL': (passing('tensor<2xf32>').replace('@f', '@"f\\00a"'), 'has a name with a NUL'),
    'result number': (passing('tensor<2xf32>').replace('%x', '%x#4294967295'), 'number of a result is above 65535'),
}
# What looks nested and is not: brackets in strings and comments, many flat ones.
sound = {
    'strings': within('"' + '[' * DEEP + '\\22' + '{' * DEEP + '"'),
    'comments': '// ' + '({[<' * DEEP + '\n' + passing('tensor<2xf32>'),
    'flat': within('[' + ', '.join(['[]'] * DEEP) + ']'),
    'aliases': ''.join(f'#a{i} = [{i}]\n' for i in range(1000)) + within('[' + ', '.join(f'#a{i}' for i in range(1000)) + ']'),
    'arrows': passing('tensor<2xf32>') + '\n' + '// ->\n' * 1000,
    'nested': within('[' * 200 + ']' * 200),
}


def run(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)


COMMANDS = [['run', '--random-inputs', '1'], ['compile', '-o', str(folder / 'x.sprig')], ['compile', '--emit', 'mlir'],
            ['inspect', '--graph', str(folder / 'x.dot')], ['check', '--interpreter', '--data', str(folder)]]
for number, (what, (text, words)) in enumerate(texts.items()):
    file = folder / f'{number}.mlir'
    file.write_text(text)
    for command in COMMANDS if number % 4 == 0 or words == NESTED else COMMANDS[:1]:
        done = run(sprig, command[0], file, *command[1:])
        error = done.stderr.decode()
        # A type that a file names without this compiler having it may be called unsupported before anything is read.
        allowed = (3, 4) if command[0] == 'check' else (3,)
        expect(f'{what}: {command[0]} ends with {done.returncode}: {error[:300]}',
               done.returncode in allowed and error.count('error:') == 1 and 'bug of Sprig' not in error)
        expect(f'{what}: {command[0]} says {error[:300]!r}, expected {words!r}',
               words in error or command[0] == 'check')
    for options in ([], ['--sprig-phase-canonicalize'], ['--sprig-phase-fuse'],
                    ['--sprig-phase-fuse', '--sprig-phase-schedule', '--sprig-phase-plan']):
        done = run(sprig_opt, file, '-o', '/dev/null', *options)
        expect(f'{what}: sprig-opt {options} ends with {done.returncode}: {done.stderr[:300]}', done.returncode in (0, 1))
for what, text in sound.items():
    file = folder / 'sound.mlir'
    file.write_text(text)
    done = run(sprig, 'run', file, '--random-inputs', '1')
    expect(f'sound {what}: {done.returncode}: {done.stderr[:300]}', done.returncode == 0)
    done = run(sprig_opt, file, '-o', '/dev/null')
    expect(f'sound {what}: sprig-opt: {done.returncode}: {done.stderr[:300]}', done.returncode == 0)
# Inputs without a name are numbered as a package's are, of which states are none.
file = folder / 'state.mlir'
file.write_text('nn.param @h = dense<0.0> : tensor<8xf32>\n'
                'func.func @f(%s: tensor<8xf32> {nn.name = "s", nn.state = @h}, %x: tensor<8xf32>)\n'
                '    -> (tensor<8xf32> {nn.state = @h}, tensor<8xf32>) {\n'
                '  %r = nn.add %x, %s : tensor<8xf32>, tensor<8xf32>\n'
                '  return %r, %r : tensor<8xf32>, tensor<8xf32>\n}')
for command in (['simulate'], ['bench', '--seconds', '0.01'], ['run', '--random-inputs', '1'], ['profile', '--calls', '3']):
    done = run(sprig, command[0], file, *command[1:])
    expect(f'state: {command}: {done.returncode}: {done.stderr[:300]}', done.returncode == 0)
# As bytecode, which has no brackets to count.
for what, depth in (('shallow', 10), ('deep', 200), ('deeper', 3000)):
    file, code = folder / 'a.mlir', folder / 'a.mlirbc'
    file.write_text('#a0 = [1]\n' + ''.join(f'#a{i + 1} = [#a{i}]\n' for i in range(min(depth, 200))) +
                    within(f'#a{min(depth, 200)}'))
    run(sprig_opt, file, '--emit-bytecode', '-o', code)
    done = run(sprig, 'run', code, '--random-inputs', '1')
    expect(f'bytecode {what}: {done.returncode}: {done.stderr[:300]}', done.returncode == 0)
finish()
