// Data for training: data sets of arrays, files and images, and the loader that makes batches of them.
// For programs.
//
//   data::Dataset train = data::fashionMnist();
//   data::Loader loader(train, {.batch = 64, .shuffle = 7});
//   for (auto [x, y] : loader) ...       // an epoch; the next loop is the next epoch, in another order
//
// Any class with size() and get(index) is a data set, and so is a number and a function:
//
//   data::Dataset squares(100, [](int64_t i) { return data::Sample{float(i), float(i * i)}; });
#pragma once
#include "sprig/data/dataset.h"
#include "sprig/data/field.h"
#include "sprig/data/files.h"
#include "sprig/data/loader.h"
#include "sprig/data/random.h"
#include "sprig/data/storage.h"
