//===- ExecInterfaces.td - What passes ask of commands -------------------------------------------------------------------===//

#ifndef SPRIG_EXEC_EXECINTERFACES_TD
#define SPRIG_EXEC_EXECINTERFACES_TD

include "mlir/IR/OpBase.td"

def Exec_CommandOpInterface : OpInterface<"CommandOpInterface"> {
  let cppNamespace = "::sprig::exec";
  let description = [{
    An operation of a lane. What is not work orders lanes: it records an event or waits for one.
  }];
  let methods = [
    InterfaceMethod<"Appends the bytes that the command reads and writes.", "void", "getAccesses",
      (ins "::mlir::SymbolTableCollection &":$symbols, "::llvm::SmallVectorImpl<::sprig::exec::BufferAccess> &":$accesses),
      "", "(void)symbols, (void)accesses;">,
    InterfaceMethod<"The floating-point operations that it does.", "int64_t", "countFlops",
      (ins "::mlir::SymbolTableCollection &":$symbols), "", "return (void)symbols, 0;">,
    InterfaceMethod<"What it touches of all its buffers together.", "::sprig::Touched", "countTouched",
      (ins "::mlir::SymbolTableCollection &":$symbols), "", [{
        ::llvm::SmallVector<::sprig::exec::BufferAccess> accesses;
        $_op.getAccesses(symbols, accesses);
        ::sprig::Touched touched;
        for (const ::sprig::exec::BufferAccess &access : accesses) touched.bytes += access.end - access.begin;
        return touched;
      }]>,
    InterfaceMethod<"The event that it records.", "std::optional<int64_t>", "getRecordedEvent", (ins), "",
                    "return std::nullopt;">,
    InterfaceMethod<"The event that it waits for.", "std::optional<int64_t>", "getAwaitedEvent", (ins), "",
                    "return std::nullopt;">,
    InterfaceMethod<"Whether it may touch buffers of devices other than its lane's.", "bool", "crossesDevices", (ins), "",
                    "return false;">,
    InterfaceMethod<"What errors call it; empty where it has no name.", "::llvm::StringRef", "getTitle", (ins), "",
                    "return {};">,
  ];
  let extraSharedClassDeclaration = [{
    /// Whether the command orders lanes and does nothing else.
    bool isEvent() { return $_op.getRecordedEvent() || $_op.getAwaitedEvent(); }
    /// The device that it runs on: its lane's.
    ::mlir::FlatSymbolRefAttr getDevice() { return ::sprig::exec::deviceOfCommand($_op); }
  }];
}

#endif // SPRIG_EXEC_EXECINTERFACES_TD
