"""LLVM text of gates: what a warm call runs before any Python.

A gate is a built-in function with CPython's fast calling convention. It tries its entries in order.
An entry is threaded code over registers: each instruction is eight words, the address of an
operation below and its operands. Guards come first; then kernels run, and a result is made. Where
a guard fails the next entry is tried, and in the end the fallback is called with the same
arguments.

Registers hold the arguments (borrowed), then objects that the entry owns while it runs. The GIL is
held, but for long kernels: an entry is for one call at a time, and says when it is busy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from runmat_jit.backends.llvm.object_layout import ObjectLayout
from runmat_jit.plan.notes import FIRST, LARGE, NEGATIVE, OPEN, POSITIVE, SUM

GUARDED_FLAGS: Final = 0x503
"""Of arrays: in C order, in Fortran's order, aligned, writeable."""
_WRITEABLE: Final = 0x400
_OWNS: Final = 0x4
_RESULT, _RECOVERY, _RECOVERED = -1, -2, -3
"""Registers before the first: the result, and what :func:`_recovery` sets."""
_KEPT_REGISTERS: Final = 3
_REPEATS: Final = 1
INSTRUCTION_WORDS: Final = 8
MOST_GIVEN: Final = 16
"""Arguments of a method's call that is dispatched to another callable."""
DISPATCH_ITEMS: Final = (
    "known",
    "fallback",
    "methods",
    "codes",
    "array",
    "module",
    "ufunc",
    "builtin",
    "numpy_function",
    "function",
    "method_class",
)
"""What a dispatching function holds: a dict from callables to what is called for them, what is
called for those that only Python can judge, pairs of the definition of a method of arrays and what
is called for it, a table of code objects, then classes."""
CODES: Final = 512
"""Places of the table, each for a code object (at a place that its address gives, or the next) and
what is called for functions with this code: 0 for themselves."""
_IS_CLASS: Final = 1 << 31
"""Flag of classes whose instances are classes."""
GATE_WORDS: Final[Mapping[str, int]] = MappingProxyType(
    {"count": 0, "entries": 1, "fallback": 2, "registers": 3}
)
"""Of a gate: how many entries, where their addresses are, the object that is called else, the most
registers that an entry has."""
ENTRY_WORDS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "busy": 0,
        "hits": 1,
        "positional": 2,
        "named": 3,
        "names": 4,
        "code": 5,
        "owned": 6,
        "registers": 7,
    }
)
"""Of an entry: a call runs it; calls so far; how many arguments; the names of those given by name
(addresses of interned text); its code; the first owned register, and the end of them."""

_GO_ON, _FAIL, _RAISE, _DONE, _REPEAT, _LEFT = range(6)
# What an operation says: go on; a guard failed; an exception is set; the result is there; the
# fallback is to repeat the call; Python has made the rest of it, and the result is there. Anything
# else is the address of the instruction that is next.

_PYTHON: Final[Mapping[str, str]] = MappingProxyType(
    {
        "PyLong_AsLongLong": "declare i64 @PyLong_AsLongLong(ptr)",
        "PyLong_FromLongLong": "declare ptr @PyLong_FromLongLong(i64)",
        "PyFloat_AsDouble": "declare double @PyFloat_AsDouble(ptr)",
        "PyErr_Occurred": "declare ptr @PyErr_Occurred()",
        "PyErr_Clear": "declare void @PyErr_Clear()",
        "PyErr_Fetch": "declare void @PyErr_Fetch(ptr, ptr, ptr)",
        "PyErr_NormalizeException": "declare void @PyErr_NormalizeException(ptr, ptr, ptr)",
        "PyErr_Restore": "declare void @PyErr_Restore(ptr, ptr, ptr)",
        "PyException_SetTraceback": "declare i32 @PyException_SetTraceback(ptr, ptr)",
        "PyException_GetTraceback": "declare ptr @PyException_GetTraceback(ptr)",
        "PyErr_ExceptionMatches": "declare i32 @PyErr_ExceptionMatches(ptr)",
        "PyObject_CallNoArgs": "declare ptr @PyObject_CallNoArgs(ptr)",
        "PyObject_CallOneArg": "declare ptr @PyObject_CallOneArg(ptr, ptr)",
        "PyObject_Vectorcall": "declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)",
        "PyObject_CallObject": "declare ptr @PyObject_CallObject(ptr, ptr)",
        "PyObject_GetAttr": "declare ptr @PyObject_GetAttr(ptr, ptr)",
        "PyDict_GetItemWithError": "declare ptr @PyDict_GetItemWithError(ptr, ptr)",
        "PyContextVar_Get": "declare i32 @PyContextVar_Get(ptr, ptr, ptr)",
        "PyFunction_GetCode": "declare ptr @PyFunction_GetCode(ptr)",
        "PyFunction_GetDefaults": "declare ptr @PyFunction_GetDefaults(ptr)",
        "PyFunction_GetKwDefaults": "declare ptr @PyFunction_GetKwDefaults(ptr)",
        "PyFunction_GetGlobals": "declare ptr @PyFunction_GetGlobals(ptr)",
        "PyType_GetFlags": "declare i64 @PyType_GetFlags(ptr)",
        "PyCell_Get": "declare ptr @PyCell_Get(ptr)",
        "PyMethod_Function": "declare ptr @PyMethod_Function(ptr)",
        "PyMethod_Self": "declare ptr @PyMethod_Self(ptr)",
        "PyDict_Size": "declare i64 @PyDict_Size(ptr)",
        "PyDict_Next": "declare i32 @PyDict_Next(ptr, ptr, ptr, ptr)",
        "PyTuple_Size": "declare i64 @PyTuple_Size(ptr)",
        "PyList_Size": "declare i64 @PyList_Size(ptr)",
        "PyList_GetItem": "declare ptr @PyList_GetItem(ptr, i64)",
        "PyTuple_New": "declare ptr @PyTuple_New(i64)",
        "PyTuple_GetItem": "declare ptr @PyTuple_GetItem(ptr, i64)",
        "PyTuple_SetItem": "declare i32 @PyTuple_SetItem(ptr, i64, ptr)",
        "Py_IncRef": "declare void @Py_IncRef(ptr)",
        "Py_DecRef": "declare void @Py_DecRef(ptr)",
    }
)
NUMPY_FUNCTIONS: Final[Mapping[str, int]] = MappingProxyType(
    {"PyArray_Return": 76, "PyArray_CopyInto": 50, "PyArray_NewFromDescr": 94}
)
"""Functions of NumPy's C API: their numbers in its table."""
_NUMPY: Final = """declare ptr @PyArray_Return(ptr)
declare i32 @PyArray_CopyInto(ptr, ptr)
declare ptr @PyArray_NewFromDescr(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)"""


def gate_symbols() -> tuple[str, ...]:
    """Functions of CPython that gates call."""
    return tuple(_PYTHON)


def gate_functions(layout: ObjectLayout) -> tuple[str, ...]:
    """The functions of the module: ``gate`` and the operations of entries."""
    return ("gate", "dispatch", *(name for name, _, _ in _operations(layout)))


def operands_of(layout: ObjectLayout) -> dict[str, tuple[str, ...]]:
    """The names of the operands of each operation."""
    return {
        name: tuple(word.rpartition(":")[0] for word in operands.split())
        for name, operands, _ in _operations(layout)
    }


def gate_text(layout: ObjectLayout) -> str:
    """Module with a gate's functions, the same for every target."""
    operations = [_operation(*each) for each in _operations(layout)]
    functions = _RUN, _gate(layout), _dispatch(layout)
    return "\n".join([*_PYTHON.values(), _NUMPY, *operations, *functions])


_KINDS: Final = {"p": "ptr", "n": "i64"}


def _operation(name: str, operands: str, body: str) -> str:
    """One operation; ``operands`` as ``name:kind``.

    Kinds: ``r`` the object in a register, ``s`` the register, ``p`` an address, ``n`` a number.
    """
    lines = [f"define i64 @{name}(ptr %registers, ptr %instruction) {{", "entry:"]
    for number, word in enumerate(operands.split(), 1):
        operand, _, kind = word.rpartition(":")
        lines.append(f"  %w_{operand} = getelementptr i64, ptr %instruction, i64 {number}")
        if kind in _KINDS:
            lines.append(f"  %{operand} = load {_KINDS[kind]}, ptr %w_{operand}, align 8")
            continue
        lines.append(f"  %n_{operand} = load i64, ptr %w_{operand}, align 8")
        place = f"%s_{operand}" if kind == "r" else f"%{operand}"
        lines.append(f"  {place} = getelementptr i64, ptr %registers, i64 %n_{operand}")
        if kind == "r":
            lines.append(f"  %{operand} = load ptr, ptr %s_{operand}, align 8")
    return "\n".join([*lines, _spelled(body), "}"])


def _spelled(body: str) -> str:
    """Short forms of what operations do often, as LLVM text."""
    body = re.sub(r"@field\((\w+), (\w+), (\d+), (\w+)\)", _FIELD, body)
    body = re.sub(r"<go on if (\w+)>", _OR_RAISE, body)
    body = body.replace("<go on>", f"ret i64 {_GO_ON}").replace("<fail>", f"ret i64 {_FAIL}")
    body = body.replace("<raise>", f"ret i64 {_RAISE}").replace("<done>", f"ret i64 {_DONE}")
    return body.replace("<repeat>", f"ret i64 {_REPEAT}").replace("<left>", f"ret i64 {_LEFT}")


_FIELD: Final = r"  %a_\1 = getelementptr i8, ptr %\2, i64 \3\n  %\1 = load \4, ptr %a_\1, align 4"
_OR_RAISE: Final = r"""br i1 %\1, label %fine, label %raised
fine:
  <go on>
raised:
  <raise>"""
_TWO_WAYS: Final = """  br i1 %holds, label %fine, label %wrong
fine:
  <go on>
wrong:
  <fail>"""


def _operations(layout: ObjectLayout) -> tuple[tuple[str, str, str], ...]:
    return (
        *_guards(layout),
        *_reads(layout),
        *_numbers(layout),
        *_formulas(layout),
        *_work(layout),
        *_handing(),
        *_recovery(),
        *_results(),
    )


def _guards(layout: ObjectLayout) -> tuple[tuple[str, str, str], ...]:
    """What must hold of arguments and of the state of the process."""
    return (
        (
            "is_object",
            "value:r object:p",
            f"  %holds = icmp eq ptr %value, %object\n{_TWO_WAYS}",
        ),
        ("are_same", "a:r b:r", f"  %holds = icmp eq ptr %a, %b\n{_TWO_WAYS}"),
        ("are_others", "a:r b:r", f"  %holds = icmp ne ptr %a, %b\n{_TWO_WAYS}"),
        (
            "is_of",
            "value:r class:p",
            f"""@field(type, value, {layout.type}, ptr)
  %holds = icmp eq ptr %type, %class
{_TWO_WAYS}""",
        ),
        (
            "owns_memory",
            "array:r",
            f"""@field(bits, array, {layout.array_flags}, i32)
  %owned = and i32 %bits, {_OWNS}
  %holds = icmp ne i32 %owned, 0
{_TWO_WAYS}""",
        ),
        # ``numbers``: the extents, then the strides.
        (
            "is_array",
            "value:r class:p dtype:p rank:n flags:n numbers:p",
            f"""@field(type, value, {layout.type}, ptr)
  %is_array = icmp eq ptr %type, %class
  br i1 %is_array, label %array, label %wrong
array:
@field(descr, value, {layout.array_descr}, ptr)
@field(nd, value, {layout.array_rank}, i32)
@field(bits, value, {layout.array_flags}, i32)
@field(shape, value, {layout.array_shape}, ptr)
@field(strides, value, {layout.array_strides}, ptr)
  %given_rank = zext i32 %nd to i64
  %kept = and i32 %bits, {GUARDED_FLAGS}
  %given_flags = zext i32 %kept to i64
  %is_dtype = icmp eq ptr %descr, %dtype
  %is_rank = icmp eq i64 %given_rank, %rank
  %is_flags = icmp eq i64 %given_flags, %flags
  %two = and i1 %is_dtype, %is_rank
  %three = and i1 %two, %is_flags
  br i1 %three, label %axes, label %wrong
axes:
  %axis = phi i64 [0, %array], [%next, %strided]
  %more = icmp slt i64 %axis, %rank
  br i1 %more, label %extent, label %fine
extent:
  %a_extent = getelementptr i64, ptr %shape, i64 %axis
  %given_extent = load i64, ptr %a_extent, align 8
  %a_wanted = getelementptr i64, ptr %numbers, i64 %axis
  %wanted = load i64, ptr %a_wanted, align 8
  %is_extent = icmp eq i64 %given_extent, %wanted
  br i1 %is_extent, label %stride, label %wrong
stride:
  %a_stride = getelementptr i64, ptr %strides, i64 %axis
  %given_stride = load i64, ptr %a_stride, align 8
  %place = add i64 %axis, %rank
  %a_step = getelementptr i64, ptr %numbers, i64 %place
  %step = load i64, ptr %a_step, align 8
  %is_stride = icmp eq i64 %given_stride, %step
  br i1 %is_stride, label %strided, label %wrong
strided:
  %next = add i64 %axis, 1
  br label %axes
fine:
  <go on>
wrong:
  <fail>""",
        ),
        # Of any shape with less elements than ``limit``.
        (
            "is_small",
            "value:r class:p dtype:p limit:n",
            f"""@field(type, value, {layout.type}, ptr)
  %is_array = icmp eq ptr %type, %class
  br i1 %is_array, label %array, label %wrong
array:
@field(descr, value, {layout.array_descr}, ptr)
@field(rank, value, {layout.array_rank}, i32)
@field(shape, value, {layout.array_shape}, ptr)
  %is_dtype = icmp eq ptr %descr, %dtype
  br i1 %is_dtype, label %axes, label %wrong
axes:
  %axis = phi i32 [0, %array], [%next, %extent]
  %size = phi i64 [1, %array], [%larger, %extent]
  %more = icmp slt i32 %axis, %rank
  br i1 %more, label %extent, label %compare
extent:
  %a_extent = getelementptr i64, ptr %shape, i32 %axis
  %given_extent = load i64, ptr %a_extent, align 8
  %larger = mul i64 %size, %given_extent
  %next = add i32 %axis, 1
  br label %axes
compare:
  %holds = icmp slt i64 %size, %limit
  br i1 %holds, label %fine, label %wrong
fine:
  <go on>
wrong:
  <fail>""",
        ),
        # Extents are not looked at, but that each is at least ``least``: flags tell the strides.
        (
            "is_like",
            "value:r class:p dtype:p rank:n flags:n least:n",
            f"""@field(type, value, {layout.type}, ptr)
  %is_array = icmp eq ptr %type, %class
  br i1 %is_array, label %array, label %wrong
array:
@field(descr, value, {layout.array_descr}, ptr)
@field(nd, value, {layout.array_rank}, i32)
@field(bits, value, {layout.array_flags}, i32)
@field(shape, value, {layout.array_shape}, ptr)
  %given_rank = zext i32 %nd to i64
  %kept = and i32 %bits, {GUARDED_FLAGS}
  %given_flags = zext i32 %kept to i64
  %is_dtype = icmp eq ptr %descr, %dtype
  %is_rank = icmp eq i64 %given_rank, %rank
  %is_flags = icmp eq i64 %given_flags, %flags
  %two = and i1 %is_dtype, %is_rank
  %three = and i1 %two, %is_flags
  br i1 %three, label %axes, label %wrong
axes:
  %axis = phi i64 [0, %array], [%next, %extent]
  %more = icmp slt i64 %axis, %rank
  br i1 %more, label %extent, label %fine
extent:
  %a_extent = getelementptr i64, ptr %shape, i64 %axis
  %given_extent = load i64, ptr %a_extent, align 8
  %next = add i64 %axis, 1
  %is_enough = icmp sge i64 %given_extent, %least
  br i1 %is_enough, label %axes, label %wrong
fine:
  <go on>
wrong:
  <fail>""",
        ),
        # A dict with these keys in this order, all of which are these objects: its values go to
        # registers from ``first`` on.
        (
            "has_keys",
            "value:r class:p count:n keys:p first:s",
            f"""  %a_place = alloca i64, align 8
  %a_key = alloca ptr, align 8
  %a_item = alloca ptr, align 8
  store i64 0, ptr %a_place, align 8
@field(type, value, {layout.type}, ptr)
  %is_dict = icmp eq ptr %type, %class
  br i1 %is_dict, label %dict, label %wrong
dict:
  %size = call i64 @PyDict_Size(ptr %value)
  %is_count = icmp eq i64 %size, %count
  br i1 %is_count, label %each, label %wrong
each:
  %index = phi i64 [0, %dict], [%next, %put]
  %more = icmp slt i64 %index, %count
  br i1 %more, label %look, label %fine
look:
  %found = call i32 @PyDict_Next(ptr %value, ptr %a_place, ptr %a_key, ptr %a_item)
  %is_found = icmp ne i32 %found, 0
  br i1 %is_found, label %compare, label %wrong
compare:
  %key = load ptr, ptr %a_key, align 8
  %a_wanted = getelementptr ptr, ptr %keys, i64 %index
  %wanted = load ptr, ptr %a_wanted, align 8
  %is_wanted = icmp eq ptr %key, %wanted
  br i1 %is_wanted, label %put, label %wrong
put:
  %item = load ptr, ptr %a_item, align 8
  call void @Py_IncRef(ptr %item)
  %a_register = getelementptr ptr, ptr %first, i64 %index
  store ptr %item, ptr %a_register, align 8
  %next = add i64 %index, 1
  br label %each
fine:
  <go on>
wrong:
  <fail>""",
        ),
        # A tuple or list of so many items, which go to registers from ``first`` on.
        *(
            (
                f"is_{kind.lower()}_of",
                "value:r class:p count:n first:s",
                f"""@field(type, value, {layout.type}, ptr)
  %is_kind = icmp eq ptr %type, %class
  br i1 %is_kind, label %kind, label %wrong
kind:
  %size = call i64 @Py{kind}_Size(ptr %value)
  %is_count = icmp eq i64 %size, %count
  br i1 %is_count, label %each, label %wrong
each:
  %index = phi i64 [0, %kind], [%next, %put]
  %more = icmp slt i64 %index, %count
  br i1 %more, label %put, label %fine
put:
  %item = call ptr @Py{kind}_GetItem(ptr %value, i64 %index)
  call void @Py_IncRef(ptr %item)
  %a_register = getelementptr ptr, ptr %first, i64 %index
  store ptr %item, ptr %a_register, align 8
  %next = add i64 %index, 1
  br label %each
fine:
  <go on>
wrong:
  <fail>""",
            )
            for kind in ("Tuple", "List")
        ),
        # Their bytes, from ``low`` to ``high`` of where their data begin, do not meet.
        (
            "are_apart",
            "a:r a_low:n a_high:n b:r b_low:n b_high:n",
            f"""@field(a_data, a, {layout.array_data}, i64)
@field(b_data, b, {layout.array_data}, i64)
  %a_first = add i64 %a_data, %a_low
  %a_end = add i64 %a_data, %a_high
  %b_first = add i64 %b_data, %b_low
  %b_end = add i64 %b_data, %b_high
  %a_before = icmp ule i64 %a_end, %b_first
  %b_before = icmp ule i64 %b_end, %a_first
  %holds = or i1 %a_before, %b_before
{_TWO_WAYS}""",
        ),
        (
            "is_distance",
            "a:r b:r distance:n",
            f"""@field(a_data, a, {layout.array_data}, i64)
@field(b_data, b, {layout.array_data}, i64)
  %found = sub i64 %a_data, %b_data
  %holds = icmp eq i64 %found, %distance
{_TWO_WAYS}""",
        ),
        (
            "is_word",
            "address:p value:n",
            (
                f"  %found = load i64, ptr %address, align 8\n"
                f"  %holds = icmp eq i64 %found, %value\n{_TWO_WAYS}"
            ),
        ),
        (
            "is_int",
            "value:r number:n",
            f"""  %found = call i64 @PyLong_AsLongLong(ptr %value)
  %is_number = icmp eq i64 %found, %number
  %may_be_none = icmp eq i64 %found, -1
  br i1 %may_be_none, label %ask, label %compare
ask:
  %error = call ptr @PyErr_Occurred()
  %is_error = icmp ne ptr %error, null
  br i1 %is_error, label %clear, label %compare
clear:
  call void @PyErr_Clear()
  br label %wrong
compare:
  %holds = and i1 %is_number, true
{_TWO_WAYS}""",
        ),
        (
            "is_float",
            "value:r bits:n",
            f"""  %number = call double @PyFloat_AsDouble(ptr %value)
  %found = bitcast double %number to i64
  %holds = icmp eq i64 %found, %bits
{_TWO_WAYS}""",
        ),
        (
            "has_code",
            "function:p code:p",
            (
                f"  %found = call ptr @PyFunction_GetCode(ptr %function)\n"
                f"  %holds = icmp eq ptr %found, %code\n{_TWO_WAYS}"
            ),
        ),
        (
            "is_context",
            "variable:p value:p",
            f"""  %cell = alloca ptr, align 8
  store ptr null, ptr %cell, align 8
  %status = call i32 @PyContextVar_Get(ptr %variable, ptr null, ptr %cell)
  %is_read = icmp eq i32 %status, 0
  br i1 %is_read, label %read, label %raised
raised:
  <raise>
read:
  %found = load ptr, ptr %cell, align 8
  %is_some = icmp ne ptr %found, null
  br i1 %is_some, label %release, label %wrong
release:
  call void @Py_DecRef(ptr %found)
  %holds = icmp eq ptr %found, %value
{_TWO_WAYS}""",
        ),
        ("gives", "callable:p value:p", _gives("@PyObject_CallNoArgs(ptr %callable)")),
        (
            "gives_for",
            "callable:p argument:p value:p",
            _gives("@PyObject_CallOneArg(ptr %callable, ptr %argument)"),
        ),
    )


def _gives(call: str) -> str:
    return f"""  %found = call ptr {call}
  %is_some = icmp ne ptr %found, null
  br i1 %is_some, label %compare, label %raised
raised:
  <raise>
compare:
  call void @Py_DecRef(ptr %found)
  %holds = icmp eq ptr %found, %value
{_TWO_WAYS}"""


_CLEAR: Final = """clear:
  call void @PyErr_Clear()
  br label %wrong"""


def _reads(layout: ObjectLayout) -> tuple[tuple[str, str, str], ...]:
    """Outside state: that a name means an object, and what it means."""
    look = "  %found = call ptr @PyDict_GetItemWithError(ptr %namespace, ptr %name)\n"
    held = "  %holds = icmp eq ptr %found, %value"
    keep = """  %is_some = icmp ne ptr %found, null
  br i1 %is_some, label %fine, label %clear
fine:
  store ptr %found, ptr %to, align 8"""
    take = "  call void @Py_IncRef(ptr %found)"
    attribute = "  %found = call ptr @PyObject_GetAttr(ptr %owner, ptr %name)\n"
    cell = "  %found = call ptr @PyCell_Get(ptr %cell)\n"
    compare = f"""  %is_some = icmp ne ptr %found, null
  br i1 %is_some, label %compare, label %clear
compare:
  call void @Py_DecRef(ptr %found)
{held}
{_TWO_WAYS}
{_CLEAR}"""
    end = f"  <go on>\n{_CLEAR}\nwrong:\n  <fail>"
    return (
        ("name_is", "namespace:p name:p value:p", f"{look}{held}\n{_TWO_WAYS}"),
        (
            "name_is_missing",
            "namespace:p name:p",
            f"{look}  %holds = icmp eq ptr %found, null\n{_TWO_WAYS}",
        ),
        ("read_name", "namespace:p name:p to:s", f"{look}{keep}\n{take}\n{end}"),
        ("attribute_is", "owner:r name:p value:p", f"{attribute}{compare}"),
        # A method is made anew each time: of this function, and of the object itself.
        (
            "method_is",
            "owner:r name:p function:p class:p",
            f"""{attribute}  %is_some = icmp ne ptr %found, null
  br i1 %is_some, label %look, label %clear
look:
@field(type, found, {layout.type}, ptr)
  %is_method = icmp eq ptr %type, %class
  br i1 %is_method, label %method, label %other
method:
  %own = call ptr @PyMethod_Function(ptr %found)
  %object = call ptr @PyMethod_Self(ptr %found)
  %is_function = icmp eq ptr %own, %function
  %is_owner = icmp eq ptr %object, %owner
  %holds = and i1 %is_function, %is_owner
  call void @Py_DecRef(ptr %found)
{_TWO_WAYS}
other:
  call void @Py_DecRef(ptr %found)
  br label %wrong
{_CLEAR}""",
        ),
        ("read_attribute", "owner:r name:p to:s", f"{attribute}{keep}\n{end}"),
        (
            "attribute_of_is",
            "owner:p name:p value:p",
            f"{attribute}{compare}",
        ),
        ("read_attribute_of", "owner:p name:p to:s", f"{attribute}{keep}\n{end}"),
        ("cell_is", "cell:p value:p", f"{cell}{compare}"),
        ("read_cell", "cell:p to:s", f"{cell}{keep}\n{end}"),
    )


def _numbers(layout: ObjectLayout) -> tuple[tuple[str, str, str], ...]:
    """Numbers into the argument blocks of kernels."""
    as_int = """  %number = call i64 @PyLong_AsLongLong(ptr %value)
  %may_be_none = icmp eq i64 %number, -1
  br i1 %may_be_none, label %ask, label %convert
ask:
  %error = call ptr @PyErr_Occurred()
  %is_error = icmp ne ptr %error, null
  br i1 %is_error, label %clear, label %convert
clear:
  call void @PyErr_Clear()
  <fail>
convert:
"""
    finite = """  %difference = fsub double %number, %number
  %is_finite = fcmp oeq double %difference, 0.0
  br i1 %is_finite, label %convert, label %wrong
convert:
  %narrow = fptrunc double %number to float
  %rest = fsub float %narrow, %narrow
  %holds = fcmp oeq float %rest, 0.0
  br i1 %holds, label %fine, label %wrong
fine:
  store float %narrow, ptr %at, align 4
  <go on>
wrong:
  <fail>"""
    as_float = "  %number = call double @PyFloat_AsDouble(ptr %value)\n"
    return (
        (
            "put_float_as_float64",
            "value:r at:p",
            f"{as_float}  store double %number, ptr %at, align 8\n  <go on>",
        ),
        ("put_float_as_float32", "value:r at:p", f"{as_float}{finite}"),
        (
            "put_int_as_int64",
            "value:r at:p",
            f"{as_int}  store i64 %number, ptr %at, align 8\n  <go on>",
        ),
        (
            "put_int_as_int32",
            "value:r at:p",
            f"""{as_int}  %narrow = trunc i64 %number to i32
  %wide = sext i32 %narrow to i64
  %holds = icmp eq i64 %wide, %number
  br i1 %holds, label %fine, label %wrong
fine:
  store i32 %narrow, ptr %at, align 4
  <go on>
wrong:
  <fail>""",
        ),
        (
            "put_int_as_float64",
            "value:r at:p",
            (
                f"{as_int}  %converted = sitofp i64 %number to double\n"
                "  store double %converted, ptr %at, align 8\n  <go on>"
            ),
        ),
        (
            "put_int_as_float32",
            "value:r at:p",
            (
                f"{as_int}  %converted = sitofp i64 %number to float\n"
                "  store float %converted, ptr %at, align 4\n  <go on>"
            ),
        ),
        *(
            (
                f"put_scalar{bits}",
                "value:r at:p",
                (
                    f"@field(number, value, {layout.scalar_value}, i{bits})\n"
                    f"  store i{bits} %number, ptr %at, align 4\n  <go on>"
                ),
            )
            for bits in (32, 64)
        ),
        *(
            (
                f"put_element{bits}",
                "value:r at:p",
                f"""@field(data, value, {layout.array_data}, ptr)
  %number = load i{bits}, ptr %data, align 1
  store i{bits} %number, ptr %at, align 4
  <go on>""",
            )
            for bits in (8, 32, 64)
        ),
    )


def _formulas(layout: ObjectLayout) -> tuple[tuple[str, str, str], ...]:
    """Numbers in memory: extents, what is computed of them, and conditions on them."""
    two = """  %a = load i64, ptr %left, align 8
  %b = load i64, ptr %right, align 8
"""
    divided = f"""{two}  %is_zero = icmp eq i64 %b, 0
  br i1 %is_zero, label %wrong, label %divide
wrong:
  <fail>
divide:
  %quotient = sdiv i64 %a, %b
  %rest = srem i64 %a, %b
  %signs = xor i64 %rest, %b
  %is_odd = icmp slt i64 %signs, 0
  %is_uneven = icmp ne i64 %rest, 0
  %is_lower = and i1 %is_odd, %is_uneven
"""
    return (
        (
            "extent",
            "array:r axis:n at:p",
            f"""@field(shape, array, {layout.array_shape}, ptr)
  %a_extent = getelementptr i64, ptr %shape, i64 %axis
  %found = load i64, ptr %a_extent, align 8
  store i64 %found, ptr %at, align 8
  <go on>""",
        ),
        (
            "move",
            "from:p at:p",
            """  %found = load i64, ptr %from, align 8
  store i64 %found, ptr %at, align 8
  <go on>""",
        ),
        *(
            (
                name,
                "left:p right:p at:p",
                f"{two}  %c = {name} i64 %a, %b\n  store i64 %c, ptr %at, align 8\n  <go on>",
            )
            for name in ("add", "sub", "mul")
        ),
        (
            "greater",
            "left:p right:p at:p",
            f"""{two}  %is_greater = icmp sgt i64 %a, %b
  %c = select i1 %is_greater, i64 %a, i64 %b
  store i64 %c, ptr %at, align 8
  <go on>""",
        ),
        (
            "floor_divide",
            "left:p right:p at:p",
            f"""{divided}  %less = sub i64 %quotient, 1
  %c = select i1 %is_lower, i64 %less, i64 %quotient
  store i64 %c, ptr %at, align 8
  <go on>""",
        ),
        (
            "remainder",
            "left:p right:p at:p",
            f"""{divided}  %more = add i64 %rest, %b
  %c = select i1 %is_lower, i64 %more, i64 %rest
  store i64 %c, ptr %at, align 8
  <go on>""",
        ),
        *(
            (
                name,
                "left:p right:p truth:n",
                f"""{two}  %is_true = icmp {sign} i64 %a, %b
  %wanted = trunc i64 %truth to i1
  %holds = icmp eq i1 %is_true, %wanted
{_TWO_WAYS}""",
            )
            for name, sign in (("is_less", "slt"), ("is_at_most", "sle"), ("is_equal", "eq"))
        ),
    )


def _work(layout: ObjectLayout) -> tuple[tuple[str, str, str], ...]:
    """New arrays, kernels, calls of Python."""
    gather = f"""  br label %each
each:
  %index = phi i64 [0, %entry], [%next, %store]
  %more = icmp slt i64 %index, %count
  br i1 %more, label %store, label %run
store:
  %thrice = mul i64 %index, 3
  %a_slot_number = getelementptr i64, ptr %arrays, i64 %thrice
  %slot = load i64, ptr %a_slot_number, align 8
  %a_number = getelementptr i64, ptr %a_slot_number, i64 1
  %number = load i64, ptr %a_number, align 8
  %a_register = getelementptr i64, ptr %registers, i64 %number
  %array = load ptr, ptr %a_register, align 8
  %a_offset = getelementptr i64, ptr %a_number, i64 1
  %offset = load i64, ptr %a_offset, align 8
@field(data, array, {layout.array_data}, i64)
  %first = add i64 %data, %offset
  %a_slot = getelementptr i64, ptr %block, i64 %slot
  store i64 %first, ptr %a_slot, align 8
  %next = add i64 %index, 1
  br label %each
run:
"""
    return (
        (
            "new_array",
            "class:p dtype:p rank:n shape:p strides:p to:s",
            """  call void @Py_IncRef(ptr %dtype)
  %nd = trunc i64 %rank to i32
  %made = call ptr @PyArray_NewFromDescr(ptr %class, ptr %dtype, i32 %nd, ptr %shape,
                                         ptr %strides, ptr null, i32 0, ptr null)
  store ptr %made, ptr %to, align 8
  %is_made = icmp ne ptr %made, null
  <go on if is_made>""",
        ),
        (
            "call_with",
            "callable:p arguments:p to:s",
            """  %made = call ptr @PyObject_CallObject(ptr %callable, ptr %arguments)
  store ptr %made, ptr %to, align 8
  %is_made = icmp ne ptr %made, null
  <go on if is_made>""",
        ),
        # ``arrays``: place in the block, register, and bytes to add to the address, of each.
        (
            "launch",
            "kernel:p block:p count:n arrays:p total:n",
            f"""{gather}  call void %kernel(ptr %block, i64 0, i64 %total)
  <go on>""",
        ),
        (
            "launch_counted",
            "kernel:p block:p count:n arrays:p a_total:p",
            f"""{gather}  %total = load i64, ptr %a_total, align 8
  call void %kernel(ptr %block, i64 0, i64 %total)
  <go on>""",
        ),
        # ``given``: the launcher's arguments, of which the second one is the arrays.
        (
            "launch_long",
            "launcher:p given:p given_count:n count:n numbers:p",
            """  %tuple = call ptr @PyTuple_New(i64 %count)
  %is_made = icmp ne ptr %tuple, null
  br i1 %is_made, label %each, label %raised
each:
  %index = phi i64 [0, %entry], [%next, %put]
  %more = icmp slt i64 %index, %count
  br i1 %more, label %put, label %run
put:
  %a_number = getelementptr i64, ptr %numbers, i64 %index
  %number = load i64, ptr %a_number, align 8
  %a_register = getelementptr i64, ptr %registers, i64 %number
  %array = load ptr, ptr %a_register, align 8
  call void @Py_IncRef(ptr %array)
  %status = call i32 @PyTuple_SetItem(ptr %tuple, i64 %index, ptr %array)
  %next = add i64 %index, 1
  br label %each
run:
  %a_second = getelementptr ptr, ptr %given, i64 1
  store ptr %tuple, ptr %a_second, align 8
  %found = call ptr @PyObject_Vectorcall(ptr %launcher, ptr %given, i64 %given_count, ptr null)
  call void @Py_DecRef(ptr %tuple)
  %is_done = icmp ne ptr %found, null
  br i1 %is_done, label %release, label %raised
release:
  call void @Py_DecRef(ptr %found)
  <go on>
raised:
  <raise>""",
        ),
        # An event that is to be reported: the call is repeated by the fallback.
        (
            "is_quiet",
            "word:p",
            """  %happened = load i64, ptr %word, align 8
  store i64 0, ptr %word, align 8
  %is_quiet = icmp eq i64 %happened, 0
  br i1 %is_quiet, label %fine, label %event
fine:
  <go on>
event:
  <repeat>""",
        ),
        # The same, where a word tells more: bits of ``plan/notes``. ``tell`` reports the events of
        # operations, and gives ``again`` where the fallback is to repeat the call.
        (
            "settle",
            "word:p tell:p again:p",
            f"""  %happened = load i64, ptr %word, align 8
  store i64 0, ptr %word, align 8
{_is_open()}
  br i1 %is_open, label %event, label %ask
ask:
  %operations = lshr i64 %happened, {FIRST}
  %is_quiet = icmp eq i64 %operations, 0
  br i1 %is_quiet, label %fine, label %number
number:
  %given = call ptr @PyLong_FromLongLong(i64 %happened)
  %is_number = icmp ne ptr %given, null
  br i1 %is_number, label %report, label %raised
report:
  %found = call ptr @PyObject_CallOneArg(ptr %tell, ptr %given)
  call void @Py_DecRef(ptr %given)
  %is_told = icmp ne ptr %found, null
  br i1 %is_told, label %told, label %raised
told:
  call void @Py_DecRef(ptr %found)
  %is_again = icmp eq ptr %found, %again
  br i1 %is_again, label %event, label %fine
fine:
  <go on>
event:
  <repeat>
raised:
  <raise>""",
        ),
        # Where a truth value leads.
        (
            "jump_unless",
            "truth:r target:n",
            f"""@field(data, truth, {layout.array_data}, ptr)
  %byte = load i8, ptr %data, align 1
  %is_false = icmp eq i8 %byte, 0
  br i1 %is_false, label %jump, label %fine
jump:
  ret i64 %target
fine:
  <go on>""",
        ),
        ("repeat", "", "  <repeat>"),
        # What a call of Python gives where the fallback is to repeat the call.
        (
            "is_not",
            "value:r object:p",
            """  %is_it = icmp eq ptr %value, %object
  br i1 %is_it, label %again, label %fine
again:
  <repeat>
fine:
  <go on>""",
        ),
        (
            "hold",
            "object:p to:s",
            "  call void @Py_IncRef(ptr %object)\n  store ptr %object, ptr %to, align 8\n  <go on>",
        ),
        (
            "drop",
            "from:s",
            """  %object = load ptr, ptr %from, align 8
  store ptr null, ptr %from, align 8
  call void @Py_DecRef(ptr %object)
  <go on>""",
        ),
        # Elements of an array's memory as another array, which must not outlive it.
        (
            "part",
            "array:r offset:n rank:n shape:p strides:p to:s",
            f"""@field(data, array, {layout.array_data}, ptr)
@field(class, array, {layout.type}, ptr)
@field(dtype, array, {layout.array_descr}, ptr)
  %first = getelementptr i8, ptr %data, i64 %offset
  call void @Py_IncRef(ptr %dtype)
  %nd = trunc i64 %rank to i32
  %made = call ptr @PyArray_NewFromDescr(ptr %class, ptr %dtype, i32 %nd, ptr %shape,
                                         ptr %strides, ptr %first, i32 {_WRITEABLE}, ptr null)
  store ptr %made, ptr %to, align 8
  %is_made = icmp ne ptr %made, null
  <go on if is_made>""",
        ),
        (
            "copy",
            "source:r target:r",
            """  %status = call i32 @PyArray_CopyInto(ptr %target, ptr %source)
  %is_done = icmp eq i32 %status, 0
  <go on if is_done>""",
        ),
        # Work done, added to two words.
        (
            "tally",
            "at:p launches:n bytes:n",
            """  %a_bytes = getelementptr i64, ptr %at, i64 1
  %old = load i64, ptr %at, align 8
  %new = add i64 %old, %launches
  store i64 %new, ptr %at, align 8
  %old_bytes = load i64, ptr %a_bytes, align 8
  %new_bytes = add i64 %old_bytes, %bytes
  store i64 %new_bytes, ptr %a_bytes, align 8
  <go on>""",
        ),
        (
            "tally_counted",
            "at:p launches:n a_bytes:p",
            """  %a_sum = getelementptr i64, ptr %at, i64 1
  %bytes = load i64, ptr %a_bytes, align 8
  %old = load i64, ptr %at, align 8
  %new = add i64 %old, %launches
  store i64 %new, ptr %at, align 8
  %old_bytes = load i64, ptr %a_sum, align 8
  %new_bytes = add i64 %old_bytes, %bytes
  store i64 %new_bytes, ptr %a_sum, align 8
  <go on>""",
        ),
        # ``numbers``: the registers of its arguments.
        (
            "call",
            "callable:p count:n numbers:p to:s",
            """  %given = alloca ptr, i64 %count, align 8
  br label %each
each:
  %index = phi i64 [0, %entry], [%next, %put]
  %more = icmp slt i64 %index, %count
  br i1 %more, label %put, label %run
put:
  %a_number = getelementptr i64, ptr %numbers, i64 %index
  %number = load i64, ptr %a_number, align 8
  %a_register = getelementptr i64, ptr %registers, i64 %number
  %object = load ptr, ptr %a_register, align 8
  %a_given = getelementptr ptr, ptr %given, i64 %index
  store ptr %object, ptr %a_given, align 8
  %next = add i64 %index, 1
  br label %each
run:
  %found = call ptr @PyObject_Vectorcall(ptr %callable, ptr %given, i64 %count, ptr null)
  store ptr %found, ptr %to, align 8
  %is_done = icmp ne ptr %found, null
  <go on if is_done>""",
        ),
    )


def _tidied() -> str:
    """Where an exception is set: ``tidy`` is called with it before it goes on."""
    return """  %a_kind = alloca ptr, align 8
  %a_value = alloca ptr, align 8
  %a_trace = alloca ptr, align 8
  call void @PyErr_Fetch(ptr %a_kind, ptr %a_value, ptr %a_trace)
  call void @PyErr_NormalizeException(ptr %a_kind, ptr %a_value, ptr %a_trace)
  %kind = load ptr, ptr %a_kind, align 8
  %error = load ptr, ptr %a_value, align 8
  %trace = load ptr, ptr %a_trace, align 8
  %has_trace = icmp ne ptr %trace, null
  br i1 %has_trace, label %set, label %untraced
set:
  %status = call i32 @PyException_SetTraceback(ptr %error, ptr %trace)
  call void @Py_DecRef(ptr %trace)
  %said = call ptr @PyObject_CallOneArg(ptr %tidy, ptr %error)
  %is_said = icmp ne ptr %said, null
  br i1 %is_said, label %tidied, label %untidied
tidied:
  call void @Py_DecRef(ptr %said)
  br label %traced
untidied:
  call void @PyErr_Clear()
  br label %traced
traced:
  %shorter = call ptr @PyException_GetTraceback(ptr %error)
  call void @PyErr_Restore(ptr %kind, ptr %error, ptr %shorter)
  <raise>
untraced:
  call void @PyErr_Restore(ptr %kind, ptr %error, ptr null)
  <raise>"""


def _is_open() -> str:
    """As :func:`runmat_jit.plan.notes.is_open` says of a word."""
    bits = {"open": OPEN, "sum": SUM, "large": LARGE, "positive": POSITIVE, "negative": NEGATIVE}
    lines = [
        f"  %w_{name} = lshr i64 %happened, {bit}\n  %is_{name} = trunc i64 %w_{name} to i1"
        for name, bit in bits.items()
    ]
    return "\n".join(
        [
            *(line.replace("%is_open", "%is_any") for line in lines),
            "  %both = and i1 %is_positive, %is_negative",
            "  %doubtful = or i1 %is_large, %both",
            "  %of_sum = and i1 %is_sum, %doubtful",
            "  %is_open = or i1 %is_any, %of_sum",
        ]
    )


def _handing() -> tuple[tuple[str, str, str], ...]:
    """Calls that are handed on with their arguments: what that gives is the result."""
    return (
        (
            "hand_on",
            "callable:p count:n tidy:p",
            f"""  %found = call ptr @PyObject_Vectorcall(ptr %callable, ptr %registers, i64 %count,
                                         ptr null)
  %result = getelementptr ptr, ptr %registers, i64 {_RESULT}
  store ptr %found, ptr %result, align 8
  %is_done = icmp ne ptr %found, null
  br i1 %is_done, label %fine, label %raised
fine:
  <done>
raised:
{_tidied()}""",
        ),
    )


def _recovery() -> tuple[tuple[str, str, str], ...]:
    """What happens where an entry cannot go on, and what it has done must not be done again."""
    return (
        # From here on: the entry goes on at ``target`` where a guard fails, or an exception of
        # ``class`` is raised; Python makes all of the call where that is ``_REPEATS``.
        (
            "recover",
            "target:n class:p",
            f"""  %a_target = getelementptr i64, ptr %registers, i64 {_RECOVERY}
  store i64 %target, ptr %a_target, align 8
  %a_class = getelementptr ptr, ptr %registers, i64 {_RECOVERED}
  store ptr %class, ptr %a_class, align 8
  <go on>""",
        ),
        (
            "begin",
            "class:p",
            f"""  %a_target = getelementptr i64, ptr %registers, i64 {_RECOVERY}
  store i64 {_REPEATS}, ptr %a_target, align 8
  %a_class = getelementptr ptr, ptr %registers, i64 {_RECOVERED}
  store ptr %class, ptr %a_class, align 8
  <go on>""",
        ),
        (
            "leave",
            "value:r",
            f"""  call void @Py_IncRef(ptr %value)
  %result = getelementptr ptr, ptr %registers, i64 {_RESULT}
  store ptr %value, ptr %result, align 8
  <left>""",
        ),
        (
            "take",
            "tuple:r index:n to:s",
            """  %item = call ptr @PyTuple_GetItem(ptr %tuple, i64 %index)
  %is_done = icmp ne ptr %item, null
  br i1 %is_done, label %hold, label %raised
hold:
  call void @Py_IncRef(ptr %item)
  store ptr %item, ptr %to, align 8
  <go on>
raised:
  <raise>""",
        ),
    )


def _results() -> tuple[tuple[str, str, str], ...]:
    """What a call gives."""
    result = f"  %result = getelementptr ptr, ptr %registers, i64 {_RESULT}"
    return (
        # A NumPy scalar in the place of a 0-d array.
        (
            "as_scalar",
            "array:s",
            """  %old = load ptr, ptr %array, align 8
  store ptr null, ptr %array, align 8
  %made = call ptr @PyArray_Return(ptr %old)
  store ptr %made, ptr %array, align 8
  %is_made = icmp ne ptr %made, null
  <go on if is_made>""",
        ),
        (
            "give",
            "value:r",
            f"""  call void @Py_IncRef(ptr %value)
{result}
  store ptr %value, ptr %result, align 8
  <done>""",
        ),
        # ``numbers``: the registers of the items.
        (
            "give_tuple",
            "count:n numbers:p",
            f"""  %tuple = call ptr @PyTuple_New(i64 %count)
  %is_made = icmp ne ptr %tuple, null
  br i1 %is_made, label %each, label %raised
raised:
  <raise>
each:
  %index = phi i64 [0, %entry], [%next, %put]
  %more = icmp slt i64 %index, %count
  br i1 %more, label %put, label %end
put:
  %a_number = getelementptr i64, ptr %numbers, i64 %index
  %number = load i64, ptr %a_number, align 8
  %a_register = getelementptr i64, ptr %registers, i64 %number
  %object = load ptr, ptr %a_register, align 8
  call void @Py_IncRef(ptr %object)
  %status = call i32 @PyTuple_SetItem(ptr %tuple, i64 %index, ptr %object)
  %next = add i64 %index, 1
  br label %each
end:
{result}
  store ptr %tuple, ptr %result, align 8
  <done>""",
        ),
    )


_RUN: Final = f"""
define internal i64 @run(ptr %registers, ptr %code) {{
entry:
  %a_recovery = getelementptr i64, ptr %registers, i64 {_RECOVERY}
  store i64 0, ptr %a_recovery, align 8
  br label %each
each:
  %instruction = phi ptr [%code, %entry], [%next, %go_on], [%target, %jump], [%there, %recover]
  %operation = load ptr, ptr %instruction, align 8
  %status = call i64 %operation(ptr %registers, ptr %instruction)
  %goes_on = icmp eq i64 %status, {_GO_ON}
  br i1 %goes_on, label %go_on, label %ask
go_on:
  %next = getelementptr i64, ptr %instruction, i64 {INSTRUCTION_WORDS}
  br label %each
ask:
  %jumps = icmp ugt i64 %status, {_LEFT}
  br i1 %jumps, label %jump, label %stopped
jump:
  %target = inttoptr i64 %status to ptr
  br label %each
stopped:
  %recovery = load i64, ptr %a_recovery, align 8
  %is_none = icmp eq i64 %recovery, 0
  %is_done = icmp eq i64 %status, {_DONE}
  %is_left = icmp eq i64 %status, {_LEFT}
  %has_result = or i1 %is_done, %is_left
  %ends = or i1 %has_result, %is_none
  br i1 %ends, label %end, label %failed
failed:
  %is_raised = icmp eq i64 %status, {_RAISE}
  br i1 %is_raised, label %raised, label %recover_or_repeat
raised:
  %a_class = getelementptr ptr, ptr %registers, i64 {_RECOVERED}
  %class = load ptr, ptr %a_class, align 8
  %matches = call i32 @PyErr_ExceptionMatches(ptr %class)
  %is_other = icmp eq i32 %matches, 0
  br i1 %is_other, label %end, label %clear
clear:
  call void @PyErr_Clear()
  br label %recover_or_repeat
recover_or_repeat:
  %failure = phi i64 [%status, %failed], [{_REPEAT}, %clear]
  %repeats = icmp eq i64 %recovery, {_REPEATS}
  br i1 %repeats, label %repeat, label %recover
repeat:
  ret i64 %failure
recover:
  store i64 0, ptr %a_recovery, align 8
  %there = inttoptr i64 %recovery to ptr
  br label %each
end:
  ret i64 %status
}}"""


def _gate(layout: ObjectLayout) -> str:
    def word(name: str, base: str, index: int, kind: str = "i64") -> str:
        return (
            f"  %a_{name} = getelementptr i64, ptr %{base}, i64 {index}\n"
            f"  %{name} = load {kind}, ptr %a_{name}, align 8"
        )

    of = ENTRY_WORDS
    return f"""
define ptr @gate(ptr %self, ptr %arguments, i64 %count, ptr %given_names) {{
entry:
  %a_memory = getelementptr i8, ptr %self, i64 {layout.tuple_items}
  %memory = load ptr, ptr %a_memory, align 8
  %a_data = getelementptr i8, ptr %memory, i64 {layout.array_data}
  %words = load ptr, ptr %a_data, align 8
{word("most", "words", GATE_WORDS["registers"])}
  %room = add i64 %most, {_KEPT_REGISTERS}
  %kept = alloca i64, i64 %room, align 8
  %registers = getelementptr i64, ptr %kept, i64 {_KEPT_REGISTERS}
{word("entry_count", "words", GATE_WORDS["count"])}
{word("entries", "words", GATE_WORDS["entries"], "ptr")}
{word("fallback", "words", GATE_WORDS["fallback"], "ptr")}
  %has_names = icmp ne ptr %given_names, null
  br i1 %has_names, label %size, label %begin
size:
  %a_size = getelementptr i8, ptr %given_names, i64 {layout.tuple_size}
  %size_of_names = load i64, ptr %a_size, align 8
  br label %begin
begin:
  %name_count = phi i64 [0, %entry], [%size_of_names, %size]
  %all = add i64 %count, %name_count
  br label %try
try:
  %number = phi i64 [0, %begin], [%next, %other]
  %is_left = icmp slt i64 %number, %entry_count
  br i1 %is_left, label %look, label %fall_back
look:
  %a_entry = getelementptr ptr, ptr %entries, i64 %number
  %entry_words = load ptr, ptr %a_entry, align 8
{word("busy", "entry_words", of["busy"])}
{word("positional", "entry_words", of["positional"])}
{word("named", "entry_words", of["named"])}
{word("names", "entry_words", of["names"], "ptr")}
{word("code", "entry_words", of["code"], "ptr")}
{word("owned", "entry_words", of["owned"])}
{word("end", "entry_words", of["registers"])}
  %is_idle = icmp eq i64 %busy, 0
  %is_positional = icmp eq i64 %positional, %count
  %is_named = icmp eq i64 %named, %name_count
  %has_room = icmp ule i64 %end, %most
  %two = and i1 %is_idle, %is_positional
  %three = and i1 %two, %is_named
  %four = and i1 %three, %has_room
  br i1 %four, label %compare, label %other
compare:
  %name_number = phi i64 [0, %look], [%next_name, %compared]
  %is_name = icmp slt i64 %name_number, %name_count
  br i1 %is_name, label %one, label %fill
one:
  %items = getelementptr i8, ptr %given_names, i64 {layout.tuple_items}
  %a_given = getelementptr ptr, ptr %items, i64 %name_number
  %given = load ptr, ptr %a_given, align 8
  %a_wanted = getelementptr ptr, ptr %names, i64 %name_number
  %wanted = load ptr, ptr %a_wanted, align 8
  %is_wanted = icmp eq ptr %given, %wanted
  br i1 %is_wanted, label %compared, label %other
compared:
  %next_name = add i64 %name_number, 1
  br label %compare
fill:
  %filled = phi i64 [0, %compare], [%next_filled, %put]
  %is_argument = icmp slt i64 %filled, %all
  br i1 %is_argument, label %put, label %empty
put:
  %a_argument = getelementptr ptr, ptr %arguments, i64 %filled
  %argument = load ptr, ptr %a_argument, align 8
  %a_filled = getelementptr ptr, ptr %registers, i64 %filled
  store ptr %argument, ptr %a_filled, align 8
  %next_filled = add i64 %filled, 1
  br label %fill
empty:
  %emptied = phi i64 [%owned, %fill], [%next_emptied, %clear]
  %is_owned = icmp slt i64 %emptied, %end
  br i1 %is_owned, label %clear, label %run
clear:
  %a_emptied = getelementptr ptr, ptr %registers, i64 %emptied
  store ptr null, ptr %a_emptied, align 8
  %next_emptied = add i64 %emptied, 1
  br label %empty
run:
  store i64 1, ptr %a_busy, align 8
  %status = call i64 @run(ptr %registers, ptr %code)
  %is_done = icmp eq i64 %status, {_DONE}
  br i1 %is_done, label %counted, label %finish
counted:
{word("hits", "entry_words", of["hits"])}
  %more_hits = add i64 %hits, 1
  store i64 %more_hits, ptr %a_hits, align 8
  br label %finish
finish:
  store i64 0, ptr %a_busy, align 8
  br label %release
release:
  %released = phi i64 [%owned, %finish], [%next_released, %released_one]
  %is_more = icmp slt i64 %released, %end
  br i1 %is_more, label %held, label %decide
held:
  %a_held = getelementptr ptr, ptr %registers, i64 %released
  %object = load ptr, ptr %a_held, align 8
  %is_held = icmp ne ptr %object, null
  br i1 %is_held, label %drop, label %released_one
drop:
  call void @Py_DecRef(ptr %object)
  br label %released_one
released_one:
  %next_released = add i64 %released, 1
  br label %release
decide:
  switch i64 %status, label %fall_back [
    i64 {_DONE}, label %done
    i64 {_LEFT}, label %done
    i64 {_FAIL}, label %other
    i64 {_RAISE}, label %raise
  ]
other:
  %next = add i64 %number, 1
  br label %try
fall_back:
  %called = call ptr @PyObject_Vectorcall(ptr %fallback, ptr %arguments, i64 %count,
                                          ptr %given_names)
  ret ptr %called
done:
  %a_result = getelementptr ptr, ptr %registers, i64 {_RESULT}
  %result = load ptr, ptr %a_result, align 8
  ret ptr %result
raise:
  ret ptr null
}}"""


def _dispatch(layout: ObjectLayout) -> str:
    """``dispatch(callable, *arguments)``: calls it, or what is to be called for it."""
    items = "\n".join(
        f"  %a_{name} = getelementptr i8, ptr %self, i64 {layout.tuple_items + 8 * place}\n"
        f"  %{name} = load ptr, ptr %a_{name}, align 8"
        for place, name in enumerate(DISPATCH_ITEMS)
    )
    return _spelled(f"""
define ptr @dispatch(ptr %self, ptr %arguments, i64 %count, ptr %names) {{
entry:
  %copied = alloca ptr, i64 {MOST_GIVEN}, align 8
{items}
  %callable = load ptr, ptr %arguments, align 8
  %rest = getelementptr ptr, ptr %arguments, i64 1
  %left = sub i64 %count, 1
@field(kind, callable, {layout.type}, ptr)
  %is_ufunc = icmp eq ptr %kind, %ufunc
  %is_numpys = icmp eq ptr %kind, %numpy_function
  %is_either = or i1 %is_ufunc, %is_numpys
  br i1 %is_either, label %look_numpys, label %not_numpys
look_numpys:
  %other = call ptr @PyDict_GetItemWithError(ptr %known, ptr %callable)
  %is_other = icmp ne ptr %other, null
  %called = select i1 %is_other, ptr %other, ptr %callable
  br label %call
not_numpys:
  %is_builtin = icmp eq ptr %kind, %builtin
  br i1 %is_builtin, label %owned, label %not_builtin
not_builtin:
  %is_function = icmp eq ptr %kind, %function
  br i1 %is_function, label %of_python, label %not_function
not_function:
  %is_method = icmp eq ptr %kind, %method_class
  br i1 %is_method, label %of_instance, label %not_method
of_instance:
  %method_function = call ptr @PyMethod_Function(ptr %callable)
  %instance = call ptr @PyMethod_Self(ptr %callable)
@field(method_kind, method_function, {layout.type}, ptr)
  %is_pythons = icmp eq ptr %method_kind, %function
  br i1 %is_pythons, label %of_python, label %ask
not_method:
  %flags = call i64 @PyType_GetFlags(ptr %kind)
  %class_bit = and i64 %flags, {_IS_CLASS}
  %is_class = icmp ne i64 %class_bit, 0
  br i1 %is_class, label %look, label %call_it
of_python:
  %pythons = phi ptr [%callable, %not_builtin], [%method_function, %of_instance]
  %bound_to = phi ptr [null, %not_builtin], [%instance, %of_instance]
  %code = call ptr @PyFunction_GetCode(ptr %pythons)
  %code_number = ptrtoint ptr %code to i64
  %hashed = lshr i64 %code_number, 5
  %code_place = and i64 %hashed, {CODES - 1}
@field(table, codes, {layout.array_data}, ptr)
  %code_pair = mul i64 %code_place, 2
  %a_code = getelementptr ptr, ptr %table, i64 %code_pair
  %first_code = load ptr, ptr %a_code, align 8
  %is_first = icmp eq ptr %first_code, %code
  br i1 %is_first, label %is_known, label %second
second:
  %a_second = getelementptr ptr, ptr %a_code, i64 2
  %second_code = load ptr, ptr %a_second, align 8
  %is_second = icmp eq ptr %second_code, %code
  br i1 %is_second, label %is_known, label %ask
is_known:
  %an_entry = phi ptr [%a_code, %of_python], [%a_second, %second]
  %a_form = getelementptr ptr, ptr %an_entry, i64 1
  %form = load ptr, ptr %a_form, align 8
  %is_itself = icmp eq ptr %form, null
  br i1 %is_itself, label %call_it, label %is_alike
is_alike:
  %globals = call ptr @PyFunction_GetGlobals(ptr %pythons)
  %form_globals = call ptr @PyFunction_GetGlobals(ptr %form)
  %defaults = call ptr @PyFunction_GetDefaults(ptr %pythons)
  %form_defaults = call ptr @PyFunction_GetDefaults(ptr %form)
  %named_defaults = call ptr @PyFunction_GetKwDefaults(ptr %pythons)
  %form_named_defaults = call ptr @PyFunction_GetKwDefaults(ptr %form)
  %same_globals = icmp eq ptr %globals, %form_globals
  %same_defaults = icmp eq ptr %defaults, %form_defaults
  %same_named = icmp eq ptr %named_defaults, %form_named_defaults
  %same_two = and i1 %same_globals, %same_defaults
  %same = and i1 %same_two, %same_named
  br i1 %same, label %call_form, label %ask
call_form:
  %of_a_method = icmp ne ptr %bound_to, null
  br i1 %of_a_method, label %form_of_method, label %form_of_function
form_of_method:
  br label %method
form_of_function:
  br label %call
owned:
@field(owner, callable, {layout.builtin_owner}, ptr)
  %has_owner = icmp ne ptr %owner, null
  br i1 %has_owner, label %of_owner, label %look
of_owner:
@field(owner_kind, owner, {layout.type}, ptr)
  %of_module = icmp eq ptr %owner_kind, %module
  br i1 %of_module, label %look, label %of_object
of_object:
  %of_array = icmp eq ptr %owner_kind, %array
  br i1 %of_array, label %of_arrays, label %of_other
of_other:
  %of_ufunc = icmp eq ptr %owner_kind, %ufunc
  br i1 %of_ufunc, label %ask, label %call_it
of_arrays:
@field(definition, callable, {layout.builtin_definition}, ptr)
@field(pairs, methods, {layout.array_data}, ptr)
  br label %pair
pair:
  %number = phi i64 [0, %of_arrays], [%next, %not_this]
  %a_pair = getelementptr ptr, ptr %pairs, i64 %number
  %pair_definition = load ptr, ptr %a_pair, align 8
  %is_more = icmp ne ptr %pair_definition, null
  br i1 %is_more, label %compare, label %call_it
compare:
  %is_this = icmp eq ptr %pair_definition, %definition
  br i1 %is_this, label %of_this, label %not_this
not_this:
  %next = add i64 %number, 2
  br label %pair
of_this:
  %a_callee = getelementptr ptr, ptr %a_pair, i64 1
  %of_arrays_method = load ptr, ptr %a_callee, align 8
  br label %method
method:
  %of_method = phi ptr [%of_arrays_method, %of_this], [%form, %form_of_method]
  %first_given = phi ptr [%owner, %of_this], [%bound_to, %form_of_method]
  %has_names = icmp ne ptr %names, null
  br i1 %has_names, label %size, label %sized
size:
  %a_size = getelementptr i8, ptr %names, i64 {layout.tuple_size}
  %name_count = load i64, ptr %a_size, align 8
  br label %sized
sized:
  %named = phi i64 [0, %method], [%name_count, %size]
  %all = add i64 %count, %named
  %fits = icmp ule i64 %all, {MOST_GIVEN}
  br i1 %fits, label %first, label %ask
first:
  store ptr %first_given, ptr %copied, align 8
  br label %copy
copy:
  %place = phi i64 [1, %first], [%following, %put]
  %is_left = icmp ult i64 %place, %all
  br i1 %is_left, label %put, label %call_method
put:
  %a_given = getelementptr ptr, ptr %arguments, i64 %place
  %given = load ptr, ptr %a_given, align 8
  %a_copied = getelementptr ptr, ptr %copied, i64 %place
  store ptr %given, ptr %a_copied, align 8
  %following = add i64 %place, 1
  br label %copy
call_method:
  %by_method = call ptr @PyObject_Vectorcall(ptr %of_method, ptr %copied, i64 %count, ptr %names)
  ret ptr %by_method
look:
  %found = call ptr @PyDict_GetItemWithError(ptr %known, ptr %callable)
  %is_found = icmp ne ptr %found, null
  br i1 %is_found, label %call, label %ask
call_it:
  br label %call
call:
  %what = phi ptr [%called, %look_numpys], [%found, %look], [%callable, %call_it],
                  [%form, %form_of_function]
  %result = call ptr @PyObject_Vectorcall(ptr %what, ptr %rest, i64 %left, ptr %names)
  ret ptr %result
ask:
  %by_python = call ptr @PyObject_Vectorcall(ptr %fallback, ptr %arguments, i64 %count,
                                             ptr %names)
  ret ptr %by_python
}}""")
