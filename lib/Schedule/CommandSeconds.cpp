#include "lib/Schedule/CommandSeconds.h"
#include "lib/Machine/AccessTime.h"
#include "lib/Schedule/RankPrograms.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;

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
