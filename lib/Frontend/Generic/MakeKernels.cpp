// make-kernels LEVEL OBJECT TABLE: compiles the kernels of KernelList.h with Sprig's own pipeline for an instruction
// set into an ELF object, and writes a C++ source with the table of their places. A tool of the build.
//
// A kernel is that of a one-dimensional operation of more elements than fit any memory, cut into tiles of kTile: a call
// with the right number of tiles works on any length. What needs no new code is left untouched, so that changes
// elsewhere in the compiler rebuild nothing after it.
#include "dialects/Exec/Exec.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Frontend/Generic/KernelList.h"
#include "lib/Pipeline/Pipeline.h"
#include "lib/Target/CPU/CodeGen/CodeGen.h"
#include "lib/Target/CPU/CodeGen/KernelUnit.h"
#include "lib/Target/CodeGen/KernelIdentity.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;
namespace generic = sprig::frontend::generic;

static std::string tensor(DType type) {
  std::string element = isUnsigned(type) ? "ui" + std::to_string(8 * size(type)) : name(type);
  return "tensor<" + std::to_string(int64_t(1) << 40) + "x" + element + ">";
}

// A function for a kernel, named by its place.
static std::string functionText(const generic::KernelGroup &group, DType type, int place) {
  using generic::KernelForm;
  std::string t = tensor(type), from = t, to = t, arguments = "%x: " + t, types = t, values = "%x";
  switch (group.form) {
  case KernelForm::unary: break;
  case KernelForm::predicate: to = tensor(DType::boolean); break;
  case KernelForm::comparison: to = tensor(DType::boolean); [[fallthrough]];
  case KernelForm::binary:
    arguments += ", %y: " + t;
    values += ", %y";
    types += ", " + t;
    break;
  case KernelForm::select:
    arguments = "%c: " + tensor(DType::boolean) + ", %x: " + t + ", %y: " + t;
    values = "%c, %x, %y";
    types = tensor(DType::boolean) + ", " + t + ", " + t;
    break;
  case KernelForm::cast:
    from = tensor(group.from);
    arguments = "%x: " + from;
    types = from + " to " + t;
    break;
  }
  std::string variant = group.variant, before, behind;
  (variant.starts_with("{") ? behind : before) = variant.empty() ? "" : " " + variant;
  return "func.func @k" + std::to_string(place) + "(" + arguments + ") -> " + to + " {\n  %r = nn." + group.op +
         before + " " + values + behind + " : " + types + "\n  return %r : " + to + "\n}\n";
}

static std::string sourceText() {
  std::string text;
  int place = 0;
  for (const generic::KernelGroup &group : generic::kKernelGroups)
    for (int type = 0; type < generic::kTypeCount; ++type)
      if (hasType(group, DType(type))) text += functionText(group, DType(type), place++);
  return text;
}

static std::string read(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

static void write(const std::string &path, const std::string &text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) runtimeError(path + ": cannot be written");
}

// Entries of the table are distances from it, so that the library needs no relocation for them when it is loaded.
static std::string tableSource(const std::string &level) {
  std::string table = "sprig_generic_" + level;
  std::string text = "// Made by make-kernels.\nasm(R\"(\n  .section .rodata\n  .p2align 4\n  .globl " + table +
                     "\n  .hidden " + table + "\n" + table + ":\n";
  for (int i = 0; i < generic::kKernelCount; ++i) {
    std::string symbol = table + "_" + std::to_string(i);
    text += "  .hidden " + symbol + "\n  .long " + symbol + " - " + table + "\n";
  }
  return text + "  .text\n)\");\n";
}

// The object's functions get the names that the table knows.
static void nameKernels(ModuleOp program, ModuleOp kernels, const std::string &level) {
  llvm::StringMap<std::string> names;
  for (auto entry : program.getOps<exec::ProgramOp>()) {
    exec::KernelOp kernel;
    entry.walk([&](exec::DispatchOp dispatch) {
      if (kernel) internalError("kernel " + entry.getSymName().str() + " takes two dispatches");
      kernel = program.lookupSymbol<exec::KernelOp>(dispatch.getKernel());
    });
    if (!kernel) internalError("kernel " + entry.getSymName().str() + " takes no dispatch");
    std::string name = "sprig_generic_" + level + "_" + entry.getSymName().drop_front().str();
    if (!names.try_emplace(kernelFunctionName(kernel), name).second)
      internalError("two entries share kernel " + kernel.getSymName().str());
  }
  for (auto function : kernels.getOps<LLVM::LLVMFuncOp>())
    if (auto found = names.find(function.getSymName()); found != names.end()) {
      function.setSymName(found->second);
      function.setVisibility_(LLVM::Visibility::Hidden);
    }
}

static std::string compileObject(const std::string &source, const std::string &level, const InstructionSet &set) {
  DialectRegistry registry;
  registerSprigDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = parseSourceString<ModuleOp>(source, &context);
  if (!module) internalError("the kernels cannot be read");
  CompileOptions options;
  options.merge = false;
  runPhases(*module, options, "fuse");
  module->walk(
      [&](kernel::DispatchOp dispatch) { dispatch.setTileAttr(kernel::LoopTileAttr::get(&context, generic::kTile)); });
  options.compileFrom = "schedule";
  runPhases(*module, options, "plan");
  auto kernels = emitKernelModule(*module, set.arch);
  if (failed(kernels)) internalError("the kernels cannot be lowered");
  nameKernels(*module, **kernels, level);
  auto object = translateKernelModule(**kernels, set.arch, codeGenOptions(options), CodeForm::Object);
  if (!object) internalError(llvm::toString(object.takeError()));
  return *object;
}

static void run(const std::string &level, const std::string &objectPath, const std::string &tablePath) {
  auto set = instructionSetByName("x86-64-" + level);
  if (!set) badUse(llvm::toString(set.takeError()));
  std::string source = sourceText();
  std::string keyPath = objectPath + ".key";
  std::string key = contentHash(codeFingerprint().str() + level + source + tableSource(level));
  if (std::ifstream(objectPath).good() && std::ifstream(tablePath).good() && read(keyPath) == key) return;
  std::remove(keyPath.c_str());
  write(objectPath, compileObject(source, level, *set));
  write(tablePath, tableSource(level));
  write(keyPath, key);
}

int main(int argc, char **argv) {
  if (argc != 4) {
    std::cerr << "usage: make-kernels v2|v3|v4 OBJECT TABLE\n";
    return 2;
  }
  try {
    run(argv[1], argv[2], argv[3]);
  } catch (const std::exception &error) {
    std::cerr << "make-kernels: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
