// All operations on tensors. For programs; docs/operations.md is the table of them.
#pragma once
#include "sprig/contract.h"
#include "sprig/create.h"
#include "sprig/elementwise.h"
#include "sprig/fft.h"
#include "sprig/functional.h"
#include "sprig/index.h"
#include "sprig/linalg.h"
#include "sprig/losses.h"
#include "sprig/masks.h"
#include "sprig/random.h"
#include "sprig/reductions.h"
#include "sprig/shape_ops.h"
