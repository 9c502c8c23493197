// A thread drives one lane at a time: a program gets no more lanes than there are threads, and is expected to take what
// its work takes these. The devices of a processor share its threads. A package for any number of threads gets all lanes
// that are asked for, and is expected to take the machine's threads, of which the model of x86-64-v3 has two.
// RUN: %sprig-opt %s --split-input-file --sprig-assign-lanes="lanes=4 threads=1 architectures=x86-64-v3" --remarks-filter=schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: %sprig-opt %s --split-input-file --sprig-assign-lanes="lanes=4 threads=2 architectures=x86-64-v3" --remarks-filter=schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: %sprig-opt %s --split-input-file --sprig-assign-lanes="lanes=4 threads=4 architectures=x86-64-v3" --remarks-filter=schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=FOUR
// RUN: %sprig-opt %s --split-input-file --sprig-assign-lanes="lanes=4 architectures=x86-64-v3" --remarks-filter=schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=ANY

exec.device @cpu "cpu"
exec.kernel @long(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64, flops = 10000000 : i64} {
  exec.yield %x : tensor<16xf32>
}
// ONE: program 'main': 4 commands stay on one lane, 631.35 us; there is no thread for another
// TWO: program 'main': 4 commands on 2 lanes with 0 events; 317.18 us, on one 631.35
// FOUR: program 'main': 4 commands on 4 lanes with 0 events; 159.34 us, on one 631.35
// ANY: program 'main': 4 commands on 4 lanes with 0 events; 315.68 us, on one 631.35
exec.program @main inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>, "z": tensor<16xf32>, "u": tensor<16xf32>, "v": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  %z = exec.buffer output[1] : memref<16xf32>
  %u = exec.buffer output[2] : memref<16xf32>
  %v = exec.buffer output[3] : memref<16xf32>
  exec.lane on @cpu {
    exec.dispatch @long(%x, %y) : memref<16xf32>, memref<16xf32>
    exec.dispatch @long(%x, %z) : memref<16xf32>, memref<16xf32>
    exec.dispatch @long(%x, %u) : memref<16xf32>, memref<16xf32>
    exec.dispatch @long(%x, %v) : memref<16xf32>, memref<16xf32>
  }
}

// -----

exec.device @first "cpu"
exec.device @second "cpu" ordinal 1
exec.kernel @long(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tiles = 1 : i64, flops = 10000000 : i64} {
  exec.yield %x : tensor<16xf32>
}
// TWO: program 'shares': 4 commands stay on 2 lanes, 315.68 us; there is no thread for another
// FOUR: program 'shares': 4 commands on 4 lanes with 0 events; 159.34 us, on 2 315.68
exec.program @shares inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>, "z": tensor<16xf32>, "u": tensor<16xf32>, "v": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %there = exec.buffer input[0] on @second : memref<16xf32>
  %y = exec.buffer output[0] : memref<16xf32>
  %z = exec.buffer output[1] : memref<16xf32>
  %u = exec.buffer output[2] on @second : memref<16xf32>
  %v = exec.buffer output[3] on @second : memref<16xf32>
  exec.lane on @first {
    exec.dispatch @long(%x, %y) : memref<16xf32>, memref<16xf32>
    exec.dispatch @long(%x, %z) : memref<16xf32>, memref<16xf32>
  }
  exec.lane on @second {
    exec.dispatch @long(%there, %u) : memref<16xf32>, memref<16xf32>
    exec.dispatch @long(%there, %v) : memref<16xf32>, memref<16xf32>
  }
}
