#include "lib/Frontend/Engine/CopyTask.h"
#include "lib/Frontend/Engine/NonFinite.h"
#include "lib/Frontend/Engine/ProfileSpan.h"
#include "lib/Frontend/Engine/Recording.h"
#include "lib/Frontend/Record.h"
#include <cstring>

namespace sprig::frontend {

namespace {

class CopyTask : public Task {
public:
  CopyTask(Tensor given, Value *to, Source at) : from(std::move(given)), to(to), at(at) {}
  ~CopyTask() override { drop(to); }

  void run() override {
    const Value &source = *from.raw();
    Engine::waitForOther(source, to->lane);
    Failure failure = source.failure;
    if (!failure) try {
        ProfileSpan span("copy", [&] { return describeCopy(); });
        to->storage = Storage::allocate(to->type.bytes());
        std::memcpy(to->storage->data, source.storage->data, size_t(to->type.bytes()));
        copyOrigins(*source.storage, *to->storage);
      } catch (const Error &error) {
        failure = std::make_shared<Error>(error.kind(), placeText(at) + "to: " + error.what());
        Engine::of(to->lane).noteFailure(failure);
      }
    to->failure = failure;
    to->state.store(failure ? Value::State::failed : Value::State::ready, std::memory_order_release);
  }

private:
  /// "train.cpp:12: to cpu:1: 16x784xf32 of cpu:0"
  std::string describeCopy() const {
    return placeText(at, "to " + deviceOf(to->device).name(), nullptr) + ": " + describe(to->type) + " of " +
           deviceOf(from.raw()->device).name();
  }

  Tensor from;
  Value *to;
  Source at;
};

} // namespace

std::unique_ptr<Task> makeCopyTask(Tensor from, Value *to, Source at) {
  return std::make_unique<CopyTask>(std::move(from), to, at);
}

void rememberCopy(const Tensor &from, const Tensor &copy, const std::string *layer, Source at) {
  static const OpName &op = opName("to");
  auto *node = new Node;
  node->sequence = newSequence();
  node->tracked = node->open = node->isCopy = true;
  node->released = Node::kRan; // its operand is kept for gradients alone
  node->device = copy.raw()->device;
  node->description.op = &op;
  node->description.source = at;
  node->description.layer = layer;
  node->operands.reserve(1);
  node->operands.push_back(from.raw());
  keep(from.raw());
  node->resultTypes.assign({&copy.raw()->type, 1});
  node->references.store(1, std::memory_order_relaxed);
  copy.raw()->producer = node;
  copy.raw()->tracked = true;
}

} // namespace sprig::frontend
