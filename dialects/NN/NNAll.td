//===- NNAll.td - Every operation of the nn dialect, for its reference and its tests -------------------------------------===//

include "dialects/NN/NNOps.td"
include "dialects/NN/NNWinograd.td"
