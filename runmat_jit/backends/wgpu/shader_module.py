"""Shader modules without run-time checks: kernels are proven to stay in bounds and to end."""

from __future__ import annotations

from typing import Any


def create_module(device: Any, code: str, *, trusted: bool) -> Any:
    """A shader module of a wgpu device.

    Args:
        device: wgpu's device.
        code: WGSL.
        trusted: Leave out bounds checks and counters of loops, where wgpu-native can.

    """
    if trusted:
        module = _trusted_module(device, code)
        if module is not None:
            return module
    return device.create_shader_module(code=code)


def _trusted_module(device: Any, code: str) -> Any:
    """The module by wgpu-native's own call, which wgpu-py does not offer; None where it cannot."""
    try:
        from wgpu.backends.wgpu_native import _api as api  # noqa: PLC0415 - a private part of it

        create = api.libf.wgpuDeviceCreateShaderModuleTrusted
        source = api.new_struct_p("WGPUShaderSourceWGSL *", code=api.to_c_string_view(code))
        source[0].chain.next = api.ffi.NULL
        source[0].chain.sType = api.lib.WGPUSType_ShaderSourceWGSL
        chain = api.ffi.cast("WGPUChainedStruct *", source)
        descriptor = api.new_struct_p(
            "WGPUShaderModuleDescriptor *", nextInChain=chain, label=api.to_c_string_view("")
        )
        wrap = api.GPUShaderModule
    except (ImportError, AttributeError):
        return None  # another version or implementation of WebGPU
    found = create(device._internal, descriptor, 0)
    return None if found == api.ffi.NULL else wrap("", found, device)
