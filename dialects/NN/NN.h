// The nn dialect with all operations.
// For what lists them all; other files include the kinds that they name.
#pragma once
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNControl.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNLoss.h"
#include "dialects/NN/NNQuantized.h"
#include "dialects/NN/NNRandom.h"
#include "dialects/NN/NNRecurrent.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "dialects/NN/NNUnary.h"
#include "dialects/NN/NNYield.h"
