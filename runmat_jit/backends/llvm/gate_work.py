"""LLVM text of what entries of gates do: new arrays, kernels, calls, events, results."""

from __future__ import annotations

from typing import Final

from runmat_jit.backends.llvm.gate_words import (
    RECOVERED,
    RECOVERY,
    REPEATS,
    RESULT,
    WRITEABLE,
    Operation,
)
from runmat_jit.backends.llvm.object_layout import ObjectLayout
from runmat_jit.plan.notes import FIRST, LARGE, NEGATIVE, OPEN, POSITIVE, SUM


def work(layout: ObjectLayout) -> tuple[Operation, ...]:
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
            f"""{_TUPLE}  %a_second = getelementptr ptr, ptr %given, i64 1
  store ptr %tuple, ptr %a_second, align 8
  %found = call ptr @PyObject_Vectorcall(ptr %launcher, ptr %given, i64 %given_count, ptr null)
  call void @Py_DecRef(ptr %tuple)
  %is_done = icmp ne ptr %found, null
  br i1 %is_done, label %release, label %raised
release:
  call void @Py_DecRef(ptr %found)
  <go on>""",
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
                                         ptr %strides, ptr %first, i32 {WRITEABLE}, ptr null)
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


def _is_open() -> str:
    """The same as :func:`runmat_jit.plan.notes.is_open`, of a word."""
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


def recovery() -> tuple[Operation, ...]:
    """What happens where an entry cannot go on, and what it has done must not be done again."""
    return (
        # From here on: the entry goes on at ``target`` where a guard fails, or an exception of
        # ``class`` is raised; Python makes all of the call where that is ``REPEATS``.
        (
            "recover",
            "target:n class:p",
            f"""  %a_target = getelementptr i64, ptr %registers, i64 {RECOVERY}
  store i64 %target, ptr %a_target, align 8
  %a_class = getelementptr ptr, ptr %registers, i64 {RECOVERED}
  store ptr %class, ptr %a_class, align 8
  <go on>""",
        ),
        (
            "begin",
            "class:p",
            f"""  %a_target = getelementptr i64, ptr %registers, i64 {RECOVERY}
  store i64 {REPEATS}, ptr %a_target, align 8
  %a_class = getelementptr ptr, ptr %registers, i64 {RECOVERED}
  store ptr %class, ptr %a_class, align 8
  <go on>""",
        ),
        (
            "leave",
            "value:r",
            f"""  call void @Py_IncRef(ptr %value)
  %result = getelementptr ptr, ptr %registers, i64 {RESULT}
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


def results() -> tuple[Operation, ...]:
    """What a call gives."""
    result = f"  %result = getelementptr ptr, ptr %registers, i64 {RESULT}"
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
            f"""{_TUPLE}{result}
  store ptr %tuple, ptr %result, align 8
  <done>""",
        ),
    )


_TUPLE: Final = """  %tuple = call ptr @PyTuple_New(i64 %count)
  %is_made = icmp ne ptr %tuple, null
  br i1 %is_made, label %each, label %raised
raised:
  <raise>
each:
  %index = phi i64 [0, %entry], [%next, %put]
  %more = icmp slt i64 %index, %count
  br i1 %more, label %put, label %filled
put:
  %a_number = getelementptr i64, ptr %numbers, i64 %index
  %number = load i64, ptr %a_number, align 8
  %a_register = getelementptr i64, ptr %registers, i64 %number
  %object = load ptr, ptr %a_register, align 8
  call void @Py_IncRef(ptr %object)
  %status = call i32 @PyTuple_SetItem(ptr %tuple, i64 %index, ptr %object)
  %next = add i64 %index, 1
  br label %each
filled:
"""
"""A tuple of what is in the registers whose numbers are given."""
