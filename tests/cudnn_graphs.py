"""Every graph that cuDNN is asked to plan, in some layouts; run as a program, their real plans.

The program needs cuDNN's libraries and no GPU: cuDNN plans for one that is described to it. What it
calls of a driver is there to load machine code; a library of stubs serves for that.
"""

import json
import sys

from backends.cuda_backend.cudnn import attention, convolution, normalization
from backends.cuda_backend.cudnn.layout import NUMBER, packed
from backends.cuda_backend.cudnn.plans import drawn, planned, unwanted

FLOATS = ("float16", "bfloat16", "float32", "float64")
LOADING = ("cuLibraryGetKernel", "cuModuleGetFunction", "cuKernelGetFunction")
STUBS = (
    *("cuCtxGetCurrent", "cuCtxGetLimit", "cuCtxPopCurrent", "cuCtxPushCurrent", "cuDeviceGet"),
    *("cuDeviceGetCount", "cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString"),
    *("cuKernelGetAttribute", "cuKernelSetAttribute", "cuLaunchCooperativeKernel"),
    *("cuLaunchKernel", "cuLaunchKernelEx", "cuLibraryLoadData", "cuLibraryLoadFromFile"),
    *("cuLibraryUnload", "cuLinkAddData", "cuLinkComplete", "cuLinkCreate", "cuLinkDestroy"),
    *("cuModuleLoadData", "cuModuleUnload", "cuOccupancyMaxPotentialClusterSize"),
    *("cuStreamGetCtx", "cuTensorMapEncodeIm2col", "cuTensorMapEncodeTiled"),
)
DRIVER = "\n".join(
    [f"int {name}(void) {{ return 0; }}" for name in STUBS]
    + [f"int {name}(void** found) {{ *found = (void*)16; return 0; }}" for name in LOADING]
)

GPU = {
    "deviceName": "described", "cudaDeviceId": 0, "pciDeviceId": 0, "isTccDriver": 0,
    "maxGridSize": [2**31 - 1, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
    "multiProcessorCount": 108, "driverVer": 12090, "warpSize": 32, "maxThreadsPerBlock": 1024,
    "maxThreadsPerSM": 2048, "regsPerBlock": 65536, "maxRegistersPerSM": 65536,
    "maxSharedMemoryPerBlock": 49152, "reservedSharedMemoryPerBlock": 1024, "maxCtasPerSM": 32,
    "l2CacheSize": 41943040, "smClockRateKHz": 1400000, "memClockRateKHz": 1600000,
    "memoryBusWidth": 5120, "supportCoopLaunch": 1, "totalGlobalMem": 2**35,
}  # fmt: skip
SHARED = {700: 98304, 800: 166912, 900: 232448}  # bytes that a block may have of each capability


def graphs(dtype):
    """Names of graphs with what `drawn` takes: the writing, inputs, outputs and settings."""
    for groups, last, after in ((1, False, 1), (1, True, 1), (4, False, 1), (1, False, 2)):
        x, W = (8, 32, 16, 16), (64, 32 // groups, 3, 3)
        y = (8, 64, 14 + after, 14 + after)
        x, W, y = [packed(shape, dtype, last) for shape in (x, W, y)]
        windows = (0, 0), (after, after), (1, 1), (1, 1)
        name = f"{groups} groups, {'channels last' if last else 'channels first'}, {after} after"
        yield f"conv_fprop, {name}", (convolution.conv_fprop, (x, W), (y,), *windows)
        yield f"conv_dgrad, {name}", (convolution.conv_dgrad, (y, W), (x,), *windows)
        yield f"conv_wgrad, {name}", (convolution.conv_wgrad, (x, y), (W,), *windows)
    if dtype == "float64":
        return
    for last in (False, True):
        x, one = packed((8, 32, 256, 1), dtype, last), packed((1, 32, 1, 1), "float32", last)
        inputs = x, *[one] * 4, NUMBER, NUMBER
        name = "channels last" if last else "channels first"
        yield f"batchnorm, {name}", (normalization.batchnorm, inputs, (x, *[one] * 4))
        inputs = x, x, one, one, one
        yield f"batchnorm_backward, {name}", (
            normalization.batchnorm_backward, inputs, (x, one, one),
        )  # fmt: skip
    if dtype == "float32":
        return
    q, k, v, o = [packed((2, 4, n, d), dtype) for n, d in ((33, 64), (47, 64), (47, 64), (33, 64))]
    total = packed((2, 4, 33, 1), "float32")
    for is_causal in (False, True):
        name = "causal" if is_causal else "all"
        yield f"sdpa, {name}", (attention.sdpa, (q, k, v), (o, total), 0.125, is_causal)
        for fixed in (False, True):
            inputs = q, k, v, o, o, total
            yield f"sdpa_backward, {name}, {'fixed' if fixed else 'free'}", (
                attention.sdpa_backward, inputs, (q, k, v), 0.125, is_causal, fixed,
            )  # fmt: skip


def plans_of(cudnn, capability, dtype):
    """For each graph the name of its first plan, or why there is none."""
    described = GPU | {"deviceVer": capability, "maxSharedMemoryPerBlockOptin": SHARED[capability]}
    where = {
        "device_property": cudnn.create_device_properties(json.dumps(described)),
        "sm_version": capability // 10,
    }
    for name, given in graphs(dtype):
        graph = drawn(cudnn, *given, **where)
        try:
            planned(cudnn, graph, unwanted(dtype))
        except (cudnn.cudnnGraphNotSupportedError, RuntimeError) as error:
            yield name, None, str(error).strip().splitlines()[:2]
        else:
            yield name, graph.get_plan_name_at_index(0), graph.get_workspace_size()


if __name__ == "__main__":
    import cudnn

    for name, plan, said in plans_of(cudnn, int(sys.argv[1]), sys.argv[2]):
        print(json.dumps([name, plan, said]), flush=True)
