// nn.conv_winograd, the operation. For the pass that makes it, the interpreter and the emitter.
#pragma once
#include "dialects/NN/NN.h"
#include "dialects/NN/Winograd.h"

#define GET_OP_CLASSES
#include "dialects/NN/NNWinograd.h.inc"
