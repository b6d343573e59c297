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

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from runmat_jit.backends.llvm.gate_guards import guards, reads
from runmat_jit.backends.llvm.gate_loops import INTERRUPT, loops
from runmat_jit.backends.llvm.gate_numbers import formulas, numbers
from runmat_jit.backends.llvm.gate_words import (
    DONE,
    ENTRY_WORDS,
    FAIL,
    GATE_WORDS,
    GO_ON,
    INSTRUCTION_WORDS,
    KEPT_REGISTERS,
    LEFT,
    RAISE,
    RECOVERED,
    RECOVERY,
    REPEAT,
    REPEATS,
    RESULT,
    Operation,
    spelled,
)
from runmat_jit.backends.llvm.gate_work import recovery, results, work
from runmat_jit.backends.llvm.object_layout import ObjectLayout

_PYTHON: Final[Mapping[str, str]] = MappingProxyType(
    {
        "PyLong_AsLongLong": "declare i64 @PyLong_AsLongLong(ptr)",
        "PyLong_FromLongLong": "declare ptr @PyLong_FromLongLong(i64)",
        "PyFloat_AsDouble": "declare double @PyFloat_AsDouble(ptr)",
        "PyFloat_FromDouble": "declare ptr @PyFloat_FromDouble(double)",
        "PyErr_Occurred": "declare ptr @PyErr_Occurred()",
        "PyErr_Clear": "declare void @PyErr_Clear()",
        "PyErr_ExceptionMatches": "declare i32 @PyErr_ExceptionMatches(ptr)",
        "PyObject_CallNoArgs": "declare ptr @PyObject_CallNoArgs(ptr)",
        "PyObject_CallOneArg": "declare ptr @PyObject_CallOneArg(ptr, ptr)",
        "PyObject_Vectorcall": "declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)",
        "PyObject_CallObject": "declare ptr @PyObject_CallObject(ptr, ptr)",
        "PyObject_GetAttr": "declare ptr @PyObject_GetAttr(ptr, ptr)",
        "PyBytes_AsString": "declare ptr @PyBytes_AsString(ptr)",
        "PyBytes_FromStringAndSize": "declare ptr @PyBytes_FromStringAndSize(ptr, i64)",
        "PyBytes_Size": "declare i64 @PyBytes_Size(ptr)",
        "PyDict_GetItemWithError": "declare ptr @PyDict_GetItemWithError(ptr, ptr)",
        "PyContextVar_Get": "declare i32 @PyContextVar_Get(ptr, ptr, ptr)",
        "PyCapsule_GetName": "declare ptr @PyCapsule_GetName(ptr)",
        "PyCapsule_GetPointer": "declare ptr @PyCapsule_GetPointer(ptr, ptr)",
        "PyFunction_GetCode": "declare ptr @PyFunction_GetCode(ptr)",
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
        "memcpy": "declare ptr @memcpy(ptr, ptr, i64)",
    }
)
NUMPY_FUNCTIONS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "PyArray_CopyInto": 50,
        "PyArray_NewFromDescr": 94,
        "PyArray_Return": 76,
        "PyArray_Scalar": 60,
    }
)
"""Functions of NumPy's C API: their numbers in its table."""
_NUMPY: Final = """declare ptr @PyArray_Return(ptr)
declare i32 @PyArray_CopyInto(ptr, ptr)
declare ptr @PyArray_Scalar(ptr, ptr, ptr)
declare ptr @PyArray_NewFromDescr(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)"""


def gate_symbols() -> tuple[str, ...]:
    """Functions of CPython and of the C library that gates call."""
    return tuple(_PYTHON)


def gate_functions(layout: ObjectLayout) -> tuple[str, ...]:
    """The functions of the module: those that are called, and the operations of entries."""
    return ("gate", "interrupt", *(name for name, _, _ in _operations(layout)))


def operands_of(layout: ObjectLayout) -> dict[str, tuple[str, ...]]:
    """The names of the operands of each operation."""
    return {
        name: tuple(word.rpartition(":")[0] for word in operands.split())
        for name, operands, _ in _operations(layout)
    }


def gate_text(layout: ObjectLayout) -> str:
    """Module with a gate's functions, the same for every target."""
    operations = [_operation(*each) for each in _operations(layout)]
    functions = _RUN, _enter(layout), _gate(layout), INTERRUPT
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
    return "\n".join([*lines, spelled(body), "}"])


def _operations(layout: ObjectLayout) -> tuple[Operation, ...]:
    return (
        *guards(layout),
        *reads(layout),
        *numbers(layout),
        *formulas(layout),
        *work(layout),
        *loops(layout),
        *recovery(),
        *results(),
    )


_RUN: Final = f"""
define internal i64 @run(ptr %registers, ptr %code) {{
entry:
  %a_recovery = getelementptr i64, ptr %registers, i64 {RECOVERY}
  store i64 0, ptr %a_recovery, align 8
  br label %each
each:
  %instruction = phi ptr [%code, %entry], [%next, %go_on], [%target, %jump], [%there, %recover]
  %operation = load ptr, ptr %instruction, align 8
  %status = call i64 %operation(ptr %registers, ptr %instruction)
  %goes_on = icmp eq i64 %status, {GO_ON}
  br i1 %goes_on, label %go_on, label %ask
go_on:
  %next = getelementptr i64, ptr %instruction, i64 {INSTRUCTION_WORDS}
  br label %each
ask:
  %jumps = icmp ugt i64 %status, {LEFT}
  br i1 %jumps, label %jump, label %stopped
jump:
  %target = inttoptr i64 %status to ptr
  br label %each
stopped:
  %recovery = load i64, ptr %a_recovery, align 8
  %is_none = icmp eq i64 %recovery, 0
  %is_done = icmp eq i64 %status, {DONE}
  %ends_call = icmp eq i64 %status, {LEFT}
  %has_result = or i1 %is_done, %ends_call
  %ends = or i1 %has_result, %is_none
  br i1 %ends, label %end, label %failed
failed:
  %is_raised = icmp eq i64 %status, {RAISE}
  br i1 %is_raised, label %raised, label %recover_or_repeat
raised:
  %a_class = getelementptr ptr, ptr %registers, i64 {RECOVERED}
  %class = load ptr, ptr %a_class, align 8
  %matches = call i32 @PyErr_ExceptionMatches(ptr %class)
  %is_other = icmp eq i32 %matches, 0
  br i1 %is_other, label %end, label %clear
clear:
  call void @PyErr_Clear()
  br label %recover_or_repeat
recover_or_repeat:
  %failure = phi i64 [%status, %failed], [{REPEAT}, %clear]
  %repeats = icmp eq i64 %recovery, {REPEATS}
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


def _enter(layout: ObjectLayout) -> str:
    """Runs the first entry whose guards hold: what came of it, and in ``answer`` what it gave."""

    def word(name: str, base: str, index: int, kind: str = "i64") -> str:
        return (
            f"  %a_{name} = getelementptr i64, ptr %{base}, i64 {index}\n"
            f"  %{name} = load {kind}, ptr %a_{name}, align 8"
        )

    of = ENTRY_WORDS
    return f"""
define internal i64 @enter(ptr %words, ptr %arguments, i64 %count, ptr %given_names,
                          ptr %answer) noinline {{
entry:
{word("most", "words", GATE_WORDS["registers"])}
  %room = add i64 %most, {KEPT_REGISTERS}
  %kept = alloca i64, i64 %room, align 8
  %registers = getelementptr i64, ptr %kept, i64 {KEPT_REGISTERS}
  %a_entry_count = getelementptr i64, ptr %words, i64 {GATE_WORDS["count"]}
{word("entries", "words", GATE_WORDS["entries"], "ptr")}
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
  %entry_count = load i64, ptr %a_entry_count, align 8
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
  %is_done = icmp eq i64 %status, {DONE}
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
    i64 {DONE}, label %done
    i64 {LEFT}, label %done
    i64 {FAIL}, label %other
    i64 {RAISE}, label %raise
  ]
other:
  %next = add i64 %number, 1
  br label %try
fall_back:
  ret i64 {REPEAT}
done:
  %a_result = getelementptr ptr, ptr %registers, i64 {RESULT}
  %result = load ptr, ptr %a_result, align 8
  store ptr %result, ptr %answer, align 8
  ret i64 {DONE}
raise:
  ret i64 {RAISE}
}}"""


def _gate(layout: ObjectLayout) -> str:
    """What is called: other functions make calls where no registers of an entry are in the way."""
    return f"""
define ptr @gate(ptr %self, ptr %arguments, i64 %count, ptr %given_names) {{
entry:
  %answer = alloca ptr, align 8
  %a_memory = getelementptr i8, ptr %self, i64 {layout.tuple_items}
  %memory = load ptr, ptr %a_memory, align 8
  %a_data = getelementptr i8, ptr %memory, i64 {layout.array_data}
  %words = load ptr, ptr %a_data, align 8
  %status = call i64 @enter(ptr %words, ptr %arguments, i64 %count, ptr %given_names, ptr %answer)
  switch i64 %status, label %fall_back [
    i64 {DONE}, label %done
    i64 {RAISE}, label %raise
  ]
fall_back:
  %a_fallback = getelementptr i64, ptr %words, i64 {GATE_WORDS["fallback"]}
  %fallback = load ptr, ptr %a_fallback, align 8
  %called = call ptr @PyObject_Vectorcall(ptr %fallback, ptr %arguments, i64 %count,
                                          ptr %given_names)
  ret ptr %called
done:
  %result = load ptr, ptr %answer, align 8
  ret ptr %result
raise:
  ret ptr null
}}"""
