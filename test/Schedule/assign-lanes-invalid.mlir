// RUN: %sprig-opt %s --split-input-file --sprig-assign-lanes="lanes=2" --verify-diagnostics

// What events leave open is not for the scheduler to say.
exec.device @first "null"
exec.device @second "null" ordinal 1
exec.program @open inputs("x": tensor<16xf32>) outputs("y": tensor<16xf32>) {
  %x = exec.buffer input[0] : memref<16xf32>
  %t = exec.buffer arena on @second : memref<16xf32>
  %y = exec.buffer output[0] on @second : memref<16xf32>
  exec.lane on @first {
    // expected-note@+1 {{writes them here}}
    exec.copy %x to %t : memref<16xf32> to memref<16xf32>
  }
  exec.lane on @second {
    // expected-error@+1 {{reads bytes 0 to 64}}
    exec.copy %t to %y : memref<16xf32> to memref<16xf32>
  }
}
