// Where a toolkit is: what the runtime knows of NVTX is what its headers have. Nothing to run; it compiles or not.
#include "runtime/device/cuda/NvtxInterface.h"

#include <iterator>
#include <nvtx3/nvToolsExt.h>

using namespace sprig::rt::nvtx;

#define SPRIG_SAME_PLACE(own, member, theirs, field)                                                                   \
  static_assert(offsetof(own, member) == offsetof(theirs, field) && sizeof(own::member) == sizeof(theirs::field))

static_assert(kVersion == NVTX_VERSION && kCallbacks == NVTX_ETID_CALLBACKS && kVersionInfo == NVTX_ETID_VERSIONINFO);
static_assert(kDomains == NVTX_CB_MODULE_CORE2 && std::size(kFunctions) == NVTX_CB_MODULE_SIZE);
static_assert(kPush == NVTX_CBID_CORE2_DomainRangePushEx && kPop == NVTX_CBID_CORE2_DomainRangePop &&
              kCreate == NVTX_CBID_CORE2_DomainCreateA);
static_assert(kFunctions[NVTX_CB_MODULE_CORE] == NVTX_CBID_CORE_SIZE &&
              kFunctions[NVTX_CB_MODULE_CUDA] == NVTX_CBID_CUDA_SIZE &&
              kFunctions[NVTX_CB_MODULE_OPENCL] == NVTX_CBID_OPENCL_SIZE &&
              kFunctions[NVTX_CB_MODULE_CUDART] == NVTX_CBID_CUDART_SIZE &&
              kFunctions[NVTX_CB_MODULE_CORE2] == NVTX_CBID_CORE2_SIZE &&
              kFunctions[NVTX_CB_MODULE_SYNC] == NVTX_CBID_SYNC_SIZE);

static_assert(sizeof(Callbacks) == sizeof(NvtxExportTableCallbacks));
SPRIG_SAME_PLACE(Callbacks, moduleFunctions, NvtxExportTableCallbacks, GetModuleFunctionTable);
static_assert(sizeof(VersionInfo) == sizeof(NvtxExportTableVersionInfo));
SPRIG_SAME_PLACE(VersionInfo, version, NvtxExportTableVersionInfo, version);
SPRIG_SAME_PLACE(VersionInfo, setToolVersion, NvtxExportTableVersionInfo, SetInjectionNvtxVersion);

static_assert(sizeof(EventAttributes) == sizeof(nvtxEventAttributes_t));
SPRIG_SAME_PLACE(EventAttributes, version, nvtxEventAttributes_t, version);
SPRIG_SAME_PLACE(EventAttributes, bytes, nvtxEventAttributes_t, size);
SPRIG_SAME_PLACE(EventAttributes, category, nvtxEventAttributes_t, category);
SPRIG_SAME_PLACE(EventAttributes, colorType, nvtxEventAttributes_t, colorType);
SPRIG_SAME_PLACE(EventAttributes, color, nvtxEventAttributes_t, color);
SPRIG_SAME_PLACE(EventAttributes, payloadType, nvtxEventAttributes_t, payloadType);
SPRIG_SAME_PLACE(EventAttributes, payload, nvtxEventAttributes_t, payload);
SPRIG_SAME_PLACE(EventAttributes, messageType, nvtxEventAttributes_t, messageType);
SPRIG_SAME_PLACE(EventAttributes, message, nvtxEventAttributes_t, message);
static_assert(EventAttributes().messageType == NVTX_MESSAGE_TYPE_ASCII);
