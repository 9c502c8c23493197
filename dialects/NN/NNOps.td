//===- NNOps.td - All operations of the nn dialect ---------------------------------------------------------------------===//

#ifndef SPRIG_NN_NNOPS_TD
#define SPRIG_NN_NNOPS_TD

include "dialects/NN/NNUnary.td"
include "dialects/NN/NNElementwise.td"
include "dialects/NN/NNContraction.td"
include "dialects/NN/NNReduction.td"
include "dialects/NN/NNShapeOps.td"
include "dialects/NN/NNComposite.td"
include "dialects/NN/NNState.td"
include "dialects/NN/NNRecurrent.td"
include "dialects/NN/NNControl.td"
include "dialects/NN/NNGradient.td"
include "dialects/NN/NNLoss.td"
include "dialects/NN/NNRandom.td"
include "dialects/NN/NNQuantized.td"
include "dialects/NN/NNYield.td"

#endif // SPRIG_NN_NNOPS_TD
