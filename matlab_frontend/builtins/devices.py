"""gpuArrays and the device that they are on.

A program that is not run for a GPU, or on a machine without one, has no device: ``gpuArray`` gives
ordinary arrays then, so that programs that ask only whether the function exists run all the same.
"""

from __future__ import annotations

from matlab_frontend.builtins.registry import Builtin, Call, builtin, find
from matlab_frontend.errors import MatlabError
from matlab_frontend.residency import is_resident, to_device
from matlab_frontend.values.array import Array, Value, as_array, kind_of
from matlab_frontend.values.make import struct, text, wrap
from matlab_frontend.values.read import integer_of, text_of


@builtin("gpuArray")
def gpu_array(call: Call, x: Value) -> Value:
    """An array that stays on the device; the same array where there is none."""
    array = as_array(x)
    if array is None or array.kind in ("char", "string"):
        raise MatlabError(
            "parallel:gpu:array:InvalidData",
            f"A gpuArray holds numbers or truth values, not values of class {kind_of(x)}.",
        )
    return x if call.engine.adapter() is None else to_device(call.engine, x)


def _maker(name: str) -> Builtin:
    """``gpuArray.zeros(2, 3)``: what the builtin makes, on the device."""
    maker = find(name)
    assert maker is not None, f"{name} is a builtin"

    def run(call: Call, *arguments: Value) -> Value:
        made = maker.one(call, *arguments)
        return made if call.engine.adapter() is None else to_device(call.engine, made)

    doc = f"A gpuArray that is made as {name} makes ordinary ones."
    return Builtin(f"gpuArray.{name}", run, maker.least, maker.most, doc)


GENERATED = tuple(
    map(
        _maker,
        (
            *("colon", "eye", "false", "inf", "Inf", "linspace", "logspace", "nan", "NaN"),
            *("ones", "rand", "randi", "randn", "randperm", "true", "zeros"),
        ),
    )
)


@builtin("gather")
def gather(call: Call, *values: Value) -> tuple[Value, ...]:
    """Ordinary arrays of the same elements."""
    return tuple(
        wrap(value.kind, call.engine.look(value.data).copy())
        if isinstance(value, Array) and value.on_device
        else value
        for value in values
    )


@builtin("isgpuarray")
def isgpuarray(_: Call, x: Value) -> Value:
    """True if it is a gpuArray."""
    return is_resident(x)


@builtin("existsOnGPU")
def exists_on_gpu(_: Call, x: Value) -> Value:
    """True if it is a gpuArray, whose elements a device has or will have."""
    return is_resident(x)


@builtin("canUseGPU")
def can_use_gpu(call: Call) -> Value:
    """True if the program runs for a GPU, and there is one."""
    return call.engine.adapter() is not None


@builtin("gpuDeviceCount")
def gpu_device_count(call: Call, *_options: Value) -> Value:
    """Number of devices that gpuArrays may be on: the one that the program runs for, or none."""
    return float(call.engine.adapter() is not None)


@builtin("gpuDevice")
def gpu_device(call: Call, index: Value = 1.0) -> Value:
    """The device that gpuArrays are on."""
    adapter = call.engine.adapter()
    if adapter is None:
        raise MatlabError(
            "parallel:gpu:device:NoDevice",
            "There is no GPU, or the program does not run for one (--device gpu).",
        )
    if integer_of(call.engine, index, "The index of a device") != 1:
        raise MatlabError("parallel:gpu:device:InvalidIndex", "There is one device: index 1.")
    facts: dict[str, Value] = {
        "Name": text(adapter.name),
        "Index": 1.0,
        "SupportsDouble": adapter.has_doubles,
        "DeviceAvailable": True,
        "DeviceSelected": True,
    }
    return struct(facts)


@builtin("underlyingType")
def underlying_type(_: Call, x: Value) -> Value:
    """The class of a value's elements, whatever device they are on."""
    return text(kind_of(x))


@builtin("classUnderlying")
def class_underlying(_: Call, x: Value) -> Value:
    """The class of a gpuArray's elements."""
    return text(kind_of(x))


@builtin("isUnderlyingType")
def is_underlying_type(_: Call, x: Value, name: Value) -> Value:
    """True if a value's elements are of a class."""
    return kind_of(x) == text_of(name, "A class name")
