#include "test/gpu/image/ImageBuilder.h"
#include "test/gpu/image/FunctionTranslator.h"
#include "test/gpu/ptx/Parser.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

using namespace sprig::gpu;
using namespace llvm;
namespace ptx = sprig::ptx;

namespace {

// Constants of C structures: integers and pointers one after another, laid out as the C compiler does.
class Tables {
public:
  explicit Tables(Module &module) : module(module), context(module.getContext()) {}

  Constant *number(unsigned bits, uint64_t value) { return ConstantInt::get(IntegerType::get(context, bits), value); }
  Constant *null() { return ConstantPointerNull::get(PointerType::get(context, 0)); }
  Constant *text(const std::string &value) { return global(ConstantDataArray::getString(context, value)); }
  Constant *numbers(ArrayRef<uint32_t> values) { return ConstantDataArray::get(context, values); }
  Constant *structure(ArrayRef<Constant *> fields) { return ConstantStruct::getAnon(context, fields); }
  Constant *global(Constant *value, unsigned alignment = 8) {
    auto *variable = new GlobalVariable(module, value->getType(), true, GlobalValue::PrivateLinkage, value);
    variable->setAlignment(Align(alignment));
    return variable;
  }
  Constant *array(ArrayRef<Constant *> elements) {
    if (elements.empty()) return null();
    return global(ConstantArray::get(ArrayType::get(elements[0]->getType(), elements.size()), elements));
  }

private:
  Module &module;
  LLVMContext &context;
};

// One version of a kernel with all functions that it calls.
Function *buildKernel(KernelContext &kernel) {
  LLVMContext &context = kernel.target.getContext();
  llvm::Type *pointer = PointerType::get(context, 0);
  for (const ptx::Function *function : kernel.layout.functions) {
    size_t arguments = function->isEntry ? 1 : 1 + function->results.size() + function->parameters.size();
    FunctionType *type =
        FunctionType::get(llvm::Type::getVoidTy(context), SmallVector<llvm::Type *>(arguments, pointer), false);
    std::string name = kernel.layout.functions[0]->name + (kernel.isChecked ? "$checked" : "$plain");
    if (!function->isEntry) name += "$" + function->name;
    Function *result = Function::Create(type, GlobalValue::InternalLinkage, name, kernel.target);
    result->setDoesNotThrow();
    // Everything that a kernel computes is defined: no instruction may be assumed away.
    result->addFnAttr("no-builtins");
    kernel.functions[function->name] = result;
  }
  for (const ptx::Function *function : kernel.layout.functions)
    FunctionTranslator(kernel, *function, kernel.functions[function->name]).run();
  return kernel.functions[kernel.layout.functions[0]->name];
}

Constant *describeKernel(Tables &tables, Module &target, const ptx::Module &source, const ModuleLayout &moduleLayout,
                         const ptx::Function &kernel, Versions versions) {
  KernelLayout layout(source, kernel);
  KernelContext plain{source, moduleLayout, layout, false, target, {}},
      checked{source, moduleLayout, layout, true, target, {}};
  Constant *plainCode = versions == Versions::Both ? buildKernel(plain) : tables.null();
  Constant *checkedCode = buildKernel(checked);
  SmallVector<Constant *> parameters;
  for (size_t i = 0; i < kernel.parameters.size(); ++i)
    parameters.push_back(tables.structure(
        {tables.number(32, layout.parameterOffsets[i]), tables.number(32, kernel.parameters[i].size)}));
  return tables.structure({tables.text(kernel.name), tables.array(parameters), tables.number(32, parameters.size()),
                           tables.number(32, layout.parameterBytes), tables.number(32, layout.staticSharedBytes),
                           tables.number(32, layout.localBytes), tables.numbers(kernel.requiredThreads),
                           tables.numbers(kernel.maxThreads), tables.number(32, kernel.minBlocks),
                           tables.number(32, checked.cooperates), tables.number(32, checked.orders), plainCode,
                           checkedCode});
}

} // namespace

std::unique_ptr<Module> sprig::gpu::buildImage(const ptx::Module &source, LLVMContext &context, Versions versions) {
  auto target = std::make_unique<Module>("image", context);
  Tables tables(*target);
  ModuleLayout layout(source);
  SmallVector<Constant *> kernels, variables, pointers;
  for (const ptx::Function &function : source.functions)
    if (function.isEntry && !function.isDeclaration)
      kernels.push_back(describeKernel(tables, *target, source, layout, function, versions));
  for (const ptx::Variable &variable : source.variables) {
    if (variable.space == ptx::Space::Shared) continue;
    uint32_t space = variable.space == ptx::Space::Const ? SPRIG_GPU_CONST : SPRIG_GPU_GLOBAL;
    variables.push_back(
        tables.structure({tables.text(variable.name), tables.number(32, space), tables.number(32, variable.alignment),
                          tables.number(64, layout.offsets[variable.name]), tables.number(64, variable.size)}));
  }
  for (uint64_t pointer : layout.pointers) pointers.push_back(tables.number(64, pointer));
  Constant *initial = tables.null();
  if (layout.bytes) initial = tables.global(ConstantDataArray::get(context, ArrayRef<uint8_t>(layout.initial)));
  Constant *image = tables.global(
      tables.structure({tables.number(32, SPRIG_GPU_IMAGE_VERSION), tables.text(source.target),
                        tables.text(source.version), tables.array(kernels), tables.number(32, kernels.size()),
                        tables.number(32, variables.size()), tables.array(variables), tables.number(64, layout.bytes),
                        initial, tables.array(pointers), tables.number(64, pointers.size())}));
  Function *entry = Function::Create(FunctionType::get(PointerType::get(context, 0), false),
                                     GlobalValue::ExternalLinkage, SPRIG_GPU_IMAGE_SYMBOL, *target);
  IRBuilder<>(BasicBlock::Create(context, "entry", entry)).CreateRet(image);

  std::string problems;
  raw_string_ostream stream(problems);
  if (verifyModule(*target, &stream))
    throw std::runtime_error("internal error: the translation of '" + source.file + "' is invalid: " + problems);
  return target;
}

void sprig::gpu::makeImage(const std::string &text, const std::string &name, const std::string &path,
                           Versions versions) {
  LLVMContext context;
  std::unique_ptr<Module> module = buildImage(ptx::parse(text, name), context, versions);
  writeImage(*module, path);
}
