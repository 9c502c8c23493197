// Modules that all ranks have: made equal, and whether they are.
#include "lib/Frontend/Record.h"
#include "sprig/create.h"
#include "sprig/dist.h"
#include "sprig/grad.h"
#include <cstring>

namespace sprig::dist {
namespace {

std::vector<std::pair<std::string, Parameter>> stateOf(const nn::Module &module) {
  std::vector<std::pair<std::string, Parameter>> state = module.namedParameters();
  for (auto &buffer : module.namedBuffers()) state.push_back(std::move(buffer));
  return state;
}

} // namespace

void Group::broadcast(const nn::Module &module, int root, Source at) {
  NoGrad scope;
  for (auto &[name, parameter] : stateOf(module)) parameter.set(broadcast(parameter.value().detach(at), root, at), at);
}

void Group::checkReplicas(const nn::Module &module, Source at) {
  auto state = stateOf(module);
  std::vector<int32_t> differs;
  for (auto &[name, parameter] : state) {
    Tensor own = parameter.value().detach(at), first = broadcast(own, 0, at);
    differs.push_back(std::memcmp(own.bytes(at), first.bytes(at), size_t(own.type().bytes())) ? rank() : 0);
  }
  Tensor most = allReduce(Tensor(differs), Reduce::max, Algorithm::tree, at);
  const int32_t *ranks = most.data<int32_t>(at);
  for (size_t i = 0; i < state.size(); ++i)
    if (ranks[i])
      runtimeError(frontend::placeText(at) + "checkReplicas: '" + state[i].first + "' of rank " +
                   std::to_string(ranks[i]) + " differs from that of rank 0");
}

} // namespace sprig::dist
