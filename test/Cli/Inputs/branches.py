"""A tower of two layers and two branches behind it, with names, as MLIR text."""
T, W = 'tensor<1x64xf32>', 'tensor<64x64xf32>'
LAYERS = [('tower/first', 'x', 'a'), ('tower/second', 'a', 'b'), ('left', 'b', 'c'), ('right', 'b', 'd')]

print(f'func.func @main(%x: {T} {{nn.name = "x"}}) -> ({T} {{nn.name = "y"}}) {{')
for i, (layer, source, result) in enumerate(LAYERS):
    print(f'  %w{i} = nn.constant dense<0.0{i + 1}> : {W}')
    print(f'  %p{i} = nn.matmul %{source}, %w{i} : {T}, {W} loc("{layer}/MatMul")')
    print(f'  %{result} = nn.relu %p{i} : {T} loc("{layer}/Relu")')
print(f'  %y = nn.add %c, %d {{nn.place = "cpu:0"}} : {T}, {T} loc("head")')
print(f'  return %y : {T}\n}}')
