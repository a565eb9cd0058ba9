"""Names of CUDA calls by the numbers that nvprof stores for them.

The numbers are those of the callback interface of CUPTI, which never change once given. Here
stand the calls that launch, copy, allocate or wait; others show their number.
"""

from __future__ import annotations

__all__ = ["DRIVER", "RUNTIME", "named"]


def _numbered(text: str) -> dict[int, str]:
    """Return names by number from lines of a first number and names that follow it."""
    found: dict[int, str] = {}
    for line in text.strip().splitlines():
        first, *names = line.split()
        found |= {int(first) + offset: name for offset, name in enumerate(names)}
    return found


RUNTIME = _numbered(
    """
    1 cudaDriverGetVersion cudaRuntimeGetVersion cudaGetDeviceCount cudaGetDeviceProperties
    5 cudaChooseDevice
    8 cudaConfigureCall cudaSetupArgument cudaGetLastError cudaPeekAtLastError
    13 cudaLaunch cudaFuncSetCacheConfig cudaFuncGetAttributes cudaSetDevice cudaGetDevice
    18 cudaSetValidDevices cudaSetDeviceFlags cudaMalloc cudaMallocPitch cudaFree cudaMallocArray
    24 cudaFreeArray cudaMallocHost cudaFreeHost cudaHostAlloc cudaHostGetDevicePointer
    29 cudaHostGetFlags cudaMemGetInfo cudaMemcpy cudaMemcpy2D cudaMemcpyToArray
    34 cudaMemcpy2DToArray cudaMemcpyFromArray cudaMemcpy2DFromArray cudaMemcpyArrayToArray
    38 cudaMemcpy2DArrayToArray cudaMemcpyToSymbol cudaMemcpyFromSymbol cudaMemcpyAsync
    42 cudaMemcpyToArrayAsync cudaMemcpyFromArrayAsync cudaMemcpy2DAsync cudaMemcpy2DToArrayAsync
    46 cudaMemcpy2DFromArrayAsync cudaMemcpyToSymbolAsync cudaMemcpyFromSymbolAsync cudaMemset
    50 cudaMemset2D cudaMemsetAsync cudaMemset2DAsync
    126 cudaThreadSynchronize
    129 cudaStreamCreate cudaStreamDestroy cudaStreamSynchronize cudaStreamQuery cudaEventCreate
    134 cudaEventCreateWithFlags cudaEventRecord cudaEventDestroy cudaEventSynchronize
    138 cudaEventQuery cudaEventElapsedTime
    142 cudaMemset3D cudaMemset3DAsync cudaMemcpy3D cudaMemcpy3DAsync
    147 cudaStreamWaitEvent
    160 cudaMemcpyPeer cudaMemcpyPeerAsync cudaMemcpy3DPeer cudaMemcpy3DPeerAsync cudaDeviceReset
    165 cudaDeviceSynchronize
    211 cudaLaunchKernel
    214 cudaLaunchKernel_ptsz
    269 cudaLaunchCooperativeKernel
    """
)
DRIVER = _numbered(
    """
    17 cuCtxSynchronize
    115 cuLaunch cuLaunchGrid cuLaunchGridAsync
    121 cuEventSynchronize
    126 cuStreamSynchronize
    216 cuMemsetD8Async
    220 cuMemsetD32Async
    276 cuMemcpyHtoD cuMemcpyHtoDAsync cuMemcpyDtoH cuMemcpyDtoHAsync cuMemcpyDtoD cuMemcpyDtoDAsync
    295 cuStreamWaitEvent
    305 cuMemcpy cuMemcpyAsync cuLaunchKernel
    318 cuMemcpyPeer cuMemcpyPeerAsync
    477 cuLaunchCooperativeKernel
    514 cuGraphLaunch
    """
)


def named(number: int, *, is_driver: bool) -> str:
    """Return the name of a call, its number in words where it is not known here."""
    known = (DRIVER if is_driver else RUNTIME).get(number)
    return known or f"CUDA {'driver' if is_driver else 'runtime'} call {number}"
