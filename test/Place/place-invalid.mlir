// RUN: not sprig-opt %s --sprig-place="devices=cpu:0,cuda:1" 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not sprig-opt %s --sprig-place="devices=cpu:0,cpu" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not sprig-opt %s --sprig-place="devices=cpu:0,cpu:x" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not sprig-opt %s --sprig-place="devices=cpu:0,cpu:1 pins=a=cpu:2" 2>&1 | FileCheck %s --check-prefix=PIN
// RUN: not sprig-opt %s --sprig-place="devices=cpu:0,cpu:1 target=abacus" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not sprig-opt %s --sprig-place="devices=cpu:0,cpu:1 links=cpu:0-cpu:1=5us" 2>&1 | FileCheck %s --check-prefix=LINK

// LINK: error: link cpu:0-cpu:1=5us: expected A-B=LATENCY,RATE, as cpu:0-cpu:1=5us,1GB/s
// KIND: error: device 'cuda:1': nothing there runs code for cpu; expected cpu:N or null:N
// TWICE: error: device 'cpu:0' is given twice
// NUMBER: error: device 'cpu:x': expected kind:number, as cpu:1 or null:0
// PIN: error: pin 'a=cpu:2': expected layer=device with a device of cpu:0, cpu:1
// TARGET: error: {{.*}}abacus
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
