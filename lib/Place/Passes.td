//===- Passes.td - Where operations run --------------------------------------------------------------------------------===//

#ifndef SPRIG_PLACE_PASSES_TD
#define SPRIG_PLACE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Place : Pass<"sprig-place", "::mlir::ModuleOp"> {
  let summary = "Says which of several devices each operation and each parameter is on";
  let description = [{
    Behind the layout passes, before `fuse`: what lies between it and the kernels changes no bit, so that a program over
    several devices has the bits of one. Operations are on the device that `pins` or `nn.place` say, all others where a
    call ends first by the target's machine model: each device takes its operations in the program's order, and a value
    that another needs is copied there over their link, whose cost `links` may say. Elementwise operations, reductions and views go with what they
    follow. A copy that costs more than it saves is not made. A parameter lives where its new value is computed, else
    where it is read first. Writes `kernel.devices` on the module and `kernel.device` on operations and parameters that
    are not on the first. With fewer than two devices it does nothing.
  }];
  let options = [
    ListOption<"devices", "devices", "std::string", "devices to place on, each as kind:number">,
    ListOption<"pins", "pins", "std::string", "where layers are to be, each as layer=device">,
    Option<"links", "links", "std::string", "\"\"",
           "links of set latency and rate between devices, as cpu:0-cpu:1=5us,1GB/s, several separated by ;">,
    Option<"threads", "threads", "int64_t", "0", "threads of the machine, which its cpu devices share; 0: all">,
    Option<"target", "target", "std::string", "\"cpu\"", "kind of device that the kernels are for">,
    ListOption<"architectures", "architectures", "std::string", "what the code is for; none: this machine">,
  ];
  let dependentDialects = ["::sprig::kernel::KernelDialect"];
}

#endif // SPRIG_PLACE_PASSES_TD
