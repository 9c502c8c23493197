// What of NVIDIA's driver interface the search for graphics processors asks, with two devices made up.
#include <cstddef>
#include <cstdio>

#pragma GCC visibility push(default)
extern "C" {
int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int *version) { return *version = 12040, 0; }
int cuDeviceGetCount(int *count) { return *count = 2, 0; }
int cuDeviceGetName(char *name, int size, int device) {
  return std::snprintf(name, size_t(size), "Fake %d", device), 0;
}
int cuDeviceTotalMem_v2(size_t *bytes, int device) { return *bytes = size_t(device + 1) << 30, 0; }
int cuDeviceGetAttribute(int *value, int attribute, int) {
  return *value = attribute == 75 ? 9 : attribute == 16 ? 132 : 0, 0;
}
}
#pragma GCC visibility pop
