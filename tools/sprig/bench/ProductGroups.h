// Products as programs: one, or groups that do not depend on each other, also spread over lanes whatever a scheduler
// would choose.
// For bench lanes, and for experiments on a GPU.
#pragma once
#include "tools/sprig/Model.h"
#include <string>

namespace sprig::cli {

// What bench lanes runs on processors and on GPUs: groups of products in a row. Lanes are worth their cost from a gain
// of kPays on, and a choice of the scheduler may take kTolerance times as long as the better way.
inline constexpr int kGroups = 8, kProducts = 4;
inline constexpr double kPays = 1.05, kTolerance = 1.15;

/// A product of two matrices of n rows and columns.
Model squareProduct(int64_t n, const std::string &element = "f32");

/// Matrices of n rows and columns: of each of `groups` groups, `products` in a row on inputs of its own.
Model groupsModel(int64_t n, int groups, int products);

/// A program of one lane, as the phase `schedule` leaves it, on several: what shares buffers, however far, stays
/// together, so that no events are needed. The proof of order of the compilation would refuse anything else.
std::string spreadOverLanes(const std::string &program, int lanes);

/// That of `model`, compiled with these settings; to be compiled from the phase `plan` on.
Model onLanes(const Model &model, const Settings &settings, int lanes);

} // namespace sprig::cli
