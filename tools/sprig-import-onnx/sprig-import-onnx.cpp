// sprig-import-onnx: an ONNX model, binary or in ONNX's text form, as nn MLIR. For tests and for people who write
// models by hand. Errors go to standard error and decide the exit code, as in the sprig command.
#include "CheckCases.h"
#include "lib/Import/ONNX/ImportONNX.h"
#include "lib/Import/ONNX/SchemaTable.h"
#include "mlir/IR/MLIRContext.h"
#include "onnx/defs/parser.h"
#include "tools/StandardDescriptors.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <filesystem>

namespace {
namespace cl = llvm::cl;
cl::opt<std::string> model(cl::Positional, cl::desc("MODEL"), cl::init("-"));
cl::list<std::string> dims("dim", cl::desc("NAME=SIZE: binds a symbolic dimension"));
cl::list<std::string> shapes("shape", cl::desc("NAME=2x3: binds an input's shape"));
cl::opt<std::string> toBinary("to-binary", cl::desc("writes the model in binary form to this file instead"));
cl::list<std::string>
    cases("check", cl::desc("a folder of ONNX's test cases: imports each and compares the interpreter's results"));
cl::opt<bool> verbose("v", cl::desc("names the cases that pass too"));
cl::opt<bool> operators("operators", cl::desc("prints the table of operators"));
cl::opt<int64_t> maxNodes("max-nodes", cl::desc("limit of nodes"), cl::init(200000));
cl::opt<int64_t> maxBytes("max-tensor-bytes", cl::desc("limit of one tensor"), cl::init(int64_t(1) << 36));

std::pair<std::string, std::string> splitPair(const std::string &text) {
  size_t at = text.find('=');
  if (at == std::string::npos) sprig::badUse("'" + text + "' is not NAME=VALUE");
  return {text.substr(0, at), text.substr(at + 1)};
}

int64_t number(llvm::StringRef text) {
  int64_t value = 0;
  if (text.getAsInteger(10, value)) sprig::badUse("'" + text.str() + "' is not a number");
  return value;
}

/// Text models start with '<' or with the name of a graph or function; protobuf ones with a field's tag.
std::string asBinary(llvm::StringRef content) {
  // Comment lines hold what the tests check.
  std::string text;
  for (llvm::StringRef rest = content; !rest.empty();) {
    auto [line, tail] = rest.split('\n');
    rest = tail;
    if (!line.trim().starts_with("//")) text += (line + "\n").str();
  }
  if (!llvm::StringRef(text).trim().starts_with("<")) return content.str();
  onnx::ModelProto proto;
  onnx::OnnxParser parser(text);
  auto status = parser.Parse(proto);
  if (!status.IsOK()) sprig::badInput(status.ErrorMessage());
  std::string binary;
  proto.SerializeToString(&binary);
  return binary;
}

int run() {
  if (operators) {
    int unknown = 0;
    for (const auto &row : sprig::supportedONNXOperators()) {
      const auto *schema = sprig::onnximport::findSchema(row.name, row.sinceVersion, row.domain);
      bool known = schema && schema->SinceVersion() == row.sinceVersion;
      unknown += !known;
      llvm::outs() << (row.domain.empty() ? "" : row.domain + ".") << row.name << " " << row.sinceVersion
                   << (row.byFunction ? " function" : "") << (known ? "" : " NO SUCH VERSION");
      for (const std::string &type : row.types) llvm::outs() << " " << type;
      llvm::outs() << "\n";
    }
    return unknown == 0 ? 0 : 1;
  }
  if (!cases.empty()) {
    std::map<std::string, int64_t> sizes;
    for (const std::string &text : dims) {
      auto [name, size] = splitPair(text);
      sizes[name] = number(size);
    }
    return sprig::checkCases({cases.begin(), cases.end()}, sizes, verbose) == 0 ? 0 : 1;
  }
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(model);
  if (!buffer) sprig::badInput(model + ": " + buffer.getError().message());
  std::string binary = asBinary((*buffer)->getBuffer());
  if (!toBinary.empty()) {
    std::error_code error;
    llvm::raw_fd_ostream stream(toBinary, error);
    if (error) sprig::runtimeError(toBinary + ": " + error.message());
    stream << binary;
    return 0;
  }
  sprig::ImportOptions options;
  options.warn = [](const std::string &text) { llvm::errs() << "warning: " << text << '\n'; };
  options.limits.nodes = maxNodes;
  options.limits.tensorBytes = maxBytes;
  for (const std::string &text : dims) {
    auto [name, size] = splitPair(text);
    // NAME=1,8: an entry for each size.
    llvm::SmallVector<llvm::StringRef> sizes;
    llvm::StringRef(size).split(sizes, ',');
    std::vector<sprig::ImportEntry> entries;
    for (llvm::StringRef one : sizes)
      for (sprig::ImportEntry entry : options.entries) {
        entry.dims[name] = number(one);
        if (sizes.size() > 1) entry.name += "_" + name + one.str();
        entries.push_back(entry);
      }
    options.entries = std::move(entries);
  }
  for (const std::string &text : shapes) {
    auto [name, shape] = splitPair(text);
    llvm::SmallVector<llvm::StringRef> sizes;
    llvm::StringRef(shape).split(sizes, 'x', -1, false);
    for (llvm::StringRef size : sizes) options.entries[0].shapes[name].push_back(number(size));
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string file = std::filesystem::path(model.getValue()).filename().string();
  std::string folder = std::filesystem::path(model.getValue()).parent_path().string();
  auto module = sprig::importONNX(context, binary, file, model == "-" ? "" : folder.empty() ? "." : folder, options);
  mlir::OpPrintingFlags flags;
  flags.elideLargeResourceString(64).elideLargeElementsAttrs(64);
  module->print(llvm::outs(), flags);
  return 0;
}
} // namespace

int main(int argc, char **argv) {
  if (!sprig::openStandardDescriptors()) return int(sprig::ErrorKind::runtime);
  cl::ParseCommandLineOptions(argc, argv, "ONNX to nn\n");
  try {
    return run();
  } catch (const sprig::Error &error) {
    llvm::errs() << "error: " << error.what() << "\n";
    return int(error.kind());
  }
}
