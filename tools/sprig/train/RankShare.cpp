#include "tools/sprig/train/RankShare.h"
#include "runtime/collective/Shares.h"
#include <algorithm>

namespace sprig::cli {

void RankShare::add(int64_t first, int64_t samples, std::vector<int64_t> &places) const {
  rt::collective::Range own = rt::collective::shareOf(samples, uint32_t(ranks), weights, uint32_t(rank));
  for (int64_t i = own.begin; i < own.end; ++i) places.push_back(first + i);
}

void RankShare::ofStep(int64_t samples, std::vector<int64_t> &places) const {
  places.clear();
  int64_t pass = batch ? batch : samples;
  for (int64_t first = 0; first < samples; first += pass) add(first, std::min(pass, samples - first), places);
}

int64_t RankShare::sizeOfPass(int64_t samples) const {
  return rt::collective::shareOf(samples, uint32_t(ranks), weights, uint32_t(rank)).size();
}

int64_t RankShare::sizeOfStep(int64_t samples) const {
  return batch ? samples / batch * sizeOfPass(batch) + sizeOfPass(samples % batch) : sizeOfPass(samples);
}

void RankShare::ofPass(int64_t samples, std::vector<int64_t> &places) const {
  places.clear();
  add(0, samples, places);
}

} // namespace sprig::cli
