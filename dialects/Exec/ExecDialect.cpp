#include "dialects/Exec/Exec.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sprig::exec;

#include "dialects/Exec/ExecDialect.cpp.inc"
#include "dialects/Exec/ExecEnums.cpp.inc"
#include "dialects/Exec/ExecInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Exec/ExecAttributes.cpp.inc"

void ExecDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Exec/ExecAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Exec/ExecOps.cpp.inc"
      >();
}

int64_t sprig::exec::byteSize(Type type) {
  auto shaped = cast<ShapedType>(type);
  return shaped.getNumElements() * storageBytes(shaped.getElementType());
}

std::string sprig::exec::describe(Type type) {
  std::string text;
  llvm::raw_string_ostream out(text);
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank()) {
    out << type;
    return text;
  }
  for (int64_t size : shaped.getShape()) out << size << 'x';
  out << shaped.getElementType();
  return text;
}

// A lane's braces may hold no command.
static ParseResult parseCommands(OpAsmParser &parser, Region &body) {
  if (parser.parseRegion(body)) return failure();
  if (body.empty()) body.emplaceBlock();
  return success();
}
static void printCommands(OpAsmPrinter &printer, Operation *, Region &body) { printer.printRegion(body); }

#define GET_OP_CLASSES
#include "dialects/Exec/ExecOps.cpp.inc"
