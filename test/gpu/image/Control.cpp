// Branches, calls and ends.
#include "test/gpu/image/FunctionTranslator.h"

using namespace sprig::gpu;
using namespace llvm;
namespace ptx = sprig::ptx;

void FunctionTranslator::branch(Decoder &decoder) {
  decoder.take("uni");
  decoder.operands(1, 1);
  if (decoder[0].form != Operand::Form::Label) decoder.fail("expected a label");
  builder.CreateBr(labels[decoder[0].index]);
  startDeadBlock();
}

void FunctionTranslator::branchIndexed(Decoder &decoder) {
  if (!decoder.take("idx")) decoder.fail("only brx.idx is known here");
  decoder.take("uni");
  decoder.operands(2, 2);
  Value *index = read(decoder, decoder[0], {ptx::Kind::Unsigned, 32});
  auto targets = source.branchTargets.find(decoder[1].name);
  if (targets == source.branchTargets.end()) decoder.fail("'" + decoder[1].name + "' is no list of labels");
  BasicBlock *outside = BasicBlock::Create(target->getContext(), "", target);
  SwitchInst *switchOver = builder.CreateSwitch(index, outside);
  for (unsigned i = 0; i < targets->second.size(); ++i) {
    auto found = std::find(source.labels.begin(), source.labels.end(), targets->second[i]);
    if (found == source.labels.end()) decoder.fail("there is no label '" + targets->second[i] + "'");
    switchOver->addCase(builder.getInt32(i), labels[found - source.labels.begin()]);
  }
  builder.SetInsertPoint(outside);
  call(hooks::trap, {self(), line(decoder)});
  builder.CreateUnreachable();
  startDeadBlock();
}

void FunctionTranslator::callFunction(Decoder &decoder) {
  decoder.take("uni");
  decoder.operands(1, 3);
  // (results), function, (parameters): the lists may be absent.
  size_t at = decoder[0].form == Operand::Form::List ? 1 : 0;
  if (at >= decoder.size() || decoder[at].form != Operand::Form::Symbol)
    decoder.fail("calls of functions that a register names are not known here");
  auto callee = kernel.functions.find(decoder[at].name);
  if (callee == kernel.functions.end()) decoder.fail("'" + decoder[at].name + "' is no function");
  SmallVector<Value *> arguments{self()};
  auto append = [&](const Operand &list) {
    for (const Operand &operand : list.elements) {
      auto parameter = parameters.find(operand.name);
      if (operand.form != Operand::Form::Symbol || parameter == parameters.end())
        decoder.fail("only .param variables can be passed to functions here");
      arguments.push_back(parameter->second);
    }
  };
  if (at == 1) append(decoder[0]);
  if (at + 1 < decoder.size()) append(decoder[at + 1]);
  if (arguments.size() != callee->second->arg_size())
    decoder.fail("'" + decoder[at].name + "' has " + std::to_string(callee->second->arg_size() - 1) +
                 " results and parameters, the call " + std::to_string(arguments.size() - 1));
  builder.CreateCall(callee->second, arguments);
}

void FunctionTranslator::returnFrom(Decoder &decoder) {
  decoder.take("uni");
  decoder.operands(0, 0);
  builder.CreateRetVoid();
  startDeadBlock();
}

void FunctionTranslator::exitThread(Decoder &decoder) {
  decoder.operands(0, 0);
  if (source.isEntry) {
    builder.CreateRetVoid();
  } else {
    call(hooks::leave, {self()});
    builder.CreateUnreachable();
  }
  startDeadBlock();
}

void FunctionTranslator::trap(Decoder &decoder) {
  decoder.operands(0, 0);
  call(hooks::trap, {self(), line(decoder)});
  builder.CreateUnreachable();
  startDeadBlock();
}

// Nothing that a program's results can depend on.
void FunctionTranslator::nothing(Decoder &decoder) { decoder.take("u32"); }
