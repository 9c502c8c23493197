#include "lib/Target/CPU/CpuTarget.h"
#include "dialects/Exec/Exec.h"
#include "lib/Target/CPU/CodeGen/CodeGen.h"
#include "sprig/error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

// A comment line per operand: what a caller must pass in sprig_rt_args.buffers.
static std::string declare(exec::KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "/* " << kernel.getLabel().value_or(kernel.getSymName()) << ": " << kernel.getTiles() << " tiles, "
      << kernel.getScratch() << " bytes of scratch for each thread. Buffers:\n";
  for (auto [index, type] : llvm::enumerate(kernel.getOperandTypes())) {
    bool written = index >= kernel.getNumInputs();
    out << " *   " << index << ": " << exec::describe(type);
    if (kernel.isComposite())
      out << '\n';
    else
      out << (written ? ", written\n" : ", read\n");
  }
  out << " */\nint32_t " << kernelFunctionName(kernel) << "(const sprig_rt_args *args);\n";
  return text;
}

// What callers must do before kernels with a matrix unit's tiles; the runtime does it for packages.
static constexpr StringLiteral kAskForTiles =
    "/* Kernels may use the tiles of AMX, which Linux gives to a process that asks: before any is called,\n"
    " * syscall(SYS_arch_prctl, 0x1023, 18) (ARCH_REQ_XCOMP_PERM, the tiles' data) has to give 0, once. */\n";

static std::string emitHeader(ModuleOp module, const CpuArch &arch) {
  std::string text =
      "/* Kernels made by sprig " SPRIG_VERSION ". Link with the object that the same model and options give. */\n";
  if (arch.matrixBytes) text += kAskForTiles;
  text += "#pragma once\n#include \"sprig/rt/kernel.h\"\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  for (exec::KernelOp kernel : exec::launchedKernels(module)) text += declare(kernel) + "\n";
  return text + "#ifdef __cplusplus\n}\n#endif\n";
}

// The object through ld.lld: a shared library with relocations needs a linker, which only this form does.
static std::string linkShared(const std::string &object) {
  auto linker = llvm::sys::findProgramByName("ld.lld", {"/usr/lib/llvm-22/bin"});
  if (!linker) linker = llvm::sys::findProgramByName("ld.lld");
  if (!linker) linker = llvm::sys::findProgramByName("ld");
  if (!linker) unsupported("a shared library needs a linker, and neither ld.lld nor ld is on the PATH");
  llvm::SmallString<128> input, output;
  int inputFile = -1;
  std::error_code error = llvm::sys::fs::createTemporaryFile("sprig", "o", inputFile, input);
  if (!error) error = llvm::sys::fs::createTemporaryFile("sprig", "so", output);
  if (error) runtimeError("no temporary file can be made: " + error.message());
  llvm::FileRemover removeInput(input), removeOutput(output);
  llvm::raw_fd_ostream stream(inputFile, /*shouldClose=*/true);
  stream << object;
  stream.close();
  std::string why;
  int code = llvm::sys::ExecuteAndWait(*linker, {*linker, "-shared", "--build-id=none", "-o", output, input},
                                       std::nullopt, {}, /*SecondsToWait=*/60, 0, &why);
  auto linked = llvm::MemoryBuffer::getFile(output, false, false);
  if (code != 0 || !linked)
    internalError(*linker + " ended with " + std::to_string(code) + (why.empty() ? "" : ": " + why));
  return (*linked)->getBuffer().str();
}

FailureOr<std::string> sprig::cpu::emitForm(ModuleOp program, const CompileOptions &options, StringRef form) {
  bool isLLVM = form == "llvm", isAssembly = form == "asm", isShared = form == "shared";
  if (!isLLVM && !isAssembly && !isShared && form != "object" && form != "header")
    badUse("there is no form '" + form.str() + "'; the forms are llvm, asm, object, header, shared");
  if (options.architectures.empty()) badUse("no instruction set to generate code for");
  auto set = instructionSetByName(options.architectures.front());
  if (!set) badUse(llvm::toString(set.takeError()));
  if (form == "header") return emitHeader(program, set->arch);
  auto kernels = emitKernelModule(program, set->arch);
  if (failed(kernels)) return failure();
  auto text = translateKernelModule(**kernels, set->arch, codeGenOptions(options),
                                    isLLVM       ? CodeForm::LLVM
                                    : isAssembly ? CodeForm::Assembly
                                                 : CodeForm::Object);
  if (!text) internalError(llvm::toString(text.takeError()));
  return isShared ? linkShared(*text) : *text;
}
