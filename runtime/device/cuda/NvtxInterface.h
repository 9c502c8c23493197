// What NVTX 3 has between a program and a tool: numbers and layouts as in the toolkit's nvtx3/nvToolsExt.h and
// nvtx3/nvtxDetail/nvtxTypes.h (test/gpu/runtime/NvtxFactsCheck.cpp compares them).
#ifndef SPRIG_RUNTIME_DEVICE_CUDA_NVTXINTERFACE_H
#define SPRIG_RUNTIME_DEVICE_CUDA_NVTXINTERFACE_H

#include <cstddef>
#include <cstdint>

namespace sprig::rt::nvtx {

inline constexpr char kPathVariable[] = "NVTX_INJECTION64_PATH";
inline constexpr char kInitializer[] = "InitializeInjectionNvtx2";
inline constexpr uint32_t kVersion = 3;

// Of the tool. It asks for tables by their numbers, and answers 0 where it can't be used.
using GetExportTable = const void *(uint32_t table);
using Initialize = int(GetExportTable *);
inline constexpr uint32_t kCallbacks = 1, kVersionInfo = 3;

// A module's functions as addresses of where the tool puts its own, by number from 1 on; the last is null.
using Function = void (*)();
struct Callbacks {
  size_t bytes = sizeof(Callbacks);
  int (*moduleFunctions)(int module, Function ***table, unsigned *count) = nullptr;
};
struct VersionInfo {
  size_t bytes = sizeof(VersionInfo);
  uint32_t version = kVersion;
  uint32_t reserved = 0;
  void (*setToolVersion)(uint32_t version) = nullptr;
};

// How many numbers each module has, and those of functions that are called.
inline constexpr unsigned kFunctions[] = {0, 16, 9, 15, 7, 16, 7};
inline constexpr int kDomains = 5; // the module of these
inline constexpr int kPush = 4, kPop = 5, kCreate = 12;

struct Domain;
struct EventAttributes {
  uint16_t version = kVersion;
  uint16_t bytes = sizeof(EventAttributes);
  uint32_t category = 0;
  int32_t colorType = 0;
  uint32_t color = 0;
  int32_t payloadType = 0;
  int32_t reserved = 0;
  uint64_t payload = 0;
  int32_t messageType = 1; // of single bytes
  const char *message = nullptr;
};
using Create = Domain *(const char *name);
using Push = int(Domain *, const EventAttributes *);
using Pop = int(Domain *);

} // namespace sprig::rt::nvtx

#endif
