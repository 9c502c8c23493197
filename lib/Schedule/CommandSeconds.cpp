#include "lib/Schedule/CommandSeconds.h"
#include "lib/Machine/AccessTime.h"
#include "lib/Schedule/RankPrograms.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;

CommandSeconds::CommandSeconds(ProgramOp program, const machine::MachineModel &model, machine::AllReduceRate otherwise)
    : model(model), rate(otherwise) {
  auto take = [&](StringRef name, double &value) {
    if (auto fact = program->getAttrOfType<FloatAttr>(name)) value = fact.getValueAsDouble();
  };
  take(ir::dist::kLatencyAttr, rate.latency);
  take(ir::dist::kRateAttr, rate.bytesPerSecond);
}

double CommandSeconds::of(CommandOpInterface command, SymbolTableCollection &symbols) const {
  double bytes = 0;
  if (isCollectiveCommand(command)) {
    auto collective = cast<CollectiveOp>(command);
    for (unsigned i = 0; i < collective.countTensors(); ++i) // the wholes
      bytes += double(byteSize(collective.wholeOf(i).getType()));
    return machine::collectiveSeconds(rate, rt::collective::Kind(collective.getKind()), int(collective.group().size()),
                                      bytes);
  }
  Touched touched = command.countTouched(symbols);
  auto moved = double(touched.total());
  return model.kernelSeconds(double(command.countFlops(symbols)), moved) +
         machine::accessSeconds(model, touched, moved);
}
