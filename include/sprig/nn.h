// Layers and modules, with PyTorch's defaults, initial values and names of parameters. For programs.
#pragma once
#include "sprig/nn/activation.h"
#include "sprig/nn/attention.h"
#include "sprig/nn/containers.h"
#include "sprig/nn/convolution.h"
#include "sprig/nn/dropout.h"
#include "sprig/nn/linear.h"
#include "sprig/nn/loss.h"
#include "sprig/nn/module.h"
#include "sprig/nn/normalization.h"
#include "sprig/nn/padding.h"
#include "sprig/nn/pooling.h"
#include "sprig/nn/recurrent.h"
