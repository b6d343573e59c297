"""LLVM text of what entries of gates do for native loops: states, copies to go back to, results."""

from __future__ import annotations

from itertools import starmap

from runmat_jit.backends.llvm.gate_words import Operation, bytes_of
from runmat_jit.backends.llvm.object_layout import ObjectLayout

LOOP_WORDS = ("state", "events", "noted", "least", "tally")
"""Of a loop: where its state is, a mask of the events that end it, where its kernel takes note of
others, the turns that it has at least, and where its runs are counted: how many, the turns of all,
and of the last."""
LOOP_DONE = 1
"""The first word of the state of a loop that has ended; the second one is its iterations."""


def _converted(name: str, kind: str, convert: str, to: str) -> Operation:
    """A number in memory as one of another kind, in its place."""
    text = f"""  %number = load {kind}, ptr %at, align 4
  %converted = {convert} {kind} %number to {to}
  store {to} %converted, ptr %at, align 4
  <go on>"""
    return name, "at:p", text


def loops(layout: ObjectLayout) -> tuple[Operation, ...]:
    """A run of a loop's kernel, and what comes before and after it."""
    return (
        # The state as it is before the first iteration.
        (
            "reset",
            "at:p like:p bytes:n",
            "  %done = call ptr @memcpy(ptr %at, ptr %like, i64 %bytes)\n  <go on>",
        ),
        # A float that is one of float32, or NaN.
        (
            "is_narrow",
            "at:p",
            """  %number = load double, ptr %at, align 8
  %narrow = fptrunc double %number to float
  %wide = fpext float %narrow to double
  %holds = fcmp ueq double %number, %wide
  br i1 %holds, label %fine, label %wrong
fine:
  <go on>
wrong:
  <fail>""",
        ),
        # In elements, of so many bytes.
        (
            "stride",
            "array:r axis:n size:n at:p",
            f"""@field(strides, array, {layout.array_strides}, ptr)
  %a_stride = getelementptr i64, ptr %strides, i64 %axis
  %bytes = load i64, ptr %a_stride, align 8
  %found = sdiv i64 %bytes, %size
  store i64 %found, ptr %at, align 8
  <go on>""",
        ),
        (
            "address",
            "array:r at:p",
            f"""@field(data, array, {layout.array_data}, i64)
  store i64 %data, ptr %at, align 8
  <go on>""",
        ),
        # A copy of the elements of an array without gaps, as bytes that go with the call; where
        # there are more of them, others make the call.
        (
            "save",
            "array:r x_item:n most:n to:s",
            f"""@field(data, array, {layout.array_data}, ptr)
@field(x_rank, array, {layout.array_rank}, i32)
@field(x_shape, array, {layout.array_shape}, ptr)
  br label %x_axes
{bytes_of("x", "entry", "ask")}
ask:
  %fits = icmp ule i64 %x_bytes, %most
  br i1 %fits, label %copy, label %wrong
copy:
  %found = call ptr @PyBytes_FromStringAndSize(ptr %data, i64 %x_bytes)
  %is_some = icmp ne ptr %found, null
  br i1 %is_some, label %fine, label %clear
fine:
  store ptr %found, ptr %to, align 8
  <go on>
clear:
  call void @PyErr_Clear()
  br label %wrong
wrong:
  <fail>""",
        ),
        (
            "restore",
            "array:r copy:r",
            f"""@field(data, array, {layout.array_data}, ptr)
  %elements = call ptr @PyBytes_AsString(ptr %copy)
  %bytes = call i64 @PyBytes_Size(ptr %copy)
  %done = call ptr @memcpy(ptr %data, ptr %elements, i64 %bytes)
  <go on>""",
        ),
        # ``about``: see :data:`LOOP_WORDS`. A loop that has left, or not come to its end, is for
        # others.
        (
            "loop",
            "watched:p kernel:p block:p about:p",
            f"""{_loaded()}
  %seen = call i64 %watched(ptr %kernel, ptr %block)
  %status = load i64, ptr %state, align 8
  %a_turns = getelementptr i64, ptr %state, i64 1
  %turns = load i64, ptr %a_turns, align 8
  %is_over = icmp eq i64 %status, {LOOP_DONE}
  %has_begun = icmp sge i64 %turns, %least
  %reported = and i64 %seen, %events
  %is_quiet = icmp eq i64 %reported, 0
  %one = and i1 %is_over, %has_begun
  %holds = and i1 %one, %is_quiet
  br i1 %holds, label %ask, label %wrong
ask:
  %word = load i64, ptr %noted, align 8
  %is_silent = icmp eq i64 %word, 0
  br i1 %is_silent, label %fine, label %wrong
fine:
  %runs = load i64, ptr %tally, align 8
  %more_runs = add i64 %runs, 1
  store i64 %more_runs, ptr %tally, align 8
  %a_sum = getelementptr i64, ptr %tally, i64 1
  %sum = load i64, ptr %a_sum, align 8
  %more_turns = add i64 %sum, %turns
  store i64 %more_turns, ptr %a_sum, align 8
  %a_last = getelementptr i64, ptr %tally, i64 2
  store i64 %turns, ptr %a_last, align 8
  <go on>
wrong:
  <repeat>""",
        ),
        (
            "float_from",
            "at:p to:s",
            f"""  %number = load double, ptr %at, align 8
  %made = call ptr @PyFloat_FromDouble(double %number)
{_held()}""",
        ),
        (
            "int_from",
            "at:p to:s",
            f"""  %number = load i64, ptr %at, align 8
  %made = call ptr @PyLong_FromLongLong(i64 %number)
{_held()}""",
        ),
        (
            "bool_from",
            "at:p true:p false:p to:s",
            """  %number = load i64, ptr %at, align 8
  %holds = icmp ne i64 %number, 0
  %made = select i1 %holds, ptr %true, ptr %false
  call void @Py_IncRef(ptr %made)
  store ptr %made, ptr %to, align 8
  <go on>""",
        ),
        *starmap(
            _converted,
            (
                ("narrow", "double", "fptrunc", "float"),
                ("widen_float", "float", "fpext", "double"),
                ("widen_int", "i32", "sext", "i64"),
                ("float_of_int", "i64", "sitofp", "double"),
                ("int_of_float", "double", "fptosi", "i64"),
            ),
        ),
        (
            "scalar_from",
            "at:p dtype:p to:s",
            f"""  %made = call ptr @PyArray_Scalar(ptr %at, ptr %dtype, ptr null)
{_held()}""",
        ),
        # A new array of elements that are somewhere in memory: from so many on, all of ``bytes``.
        (
            "array_from",
            "class:p dtype:p rank:n about:p bytes:n a_first:p to:s",
            f"""  %size = load i64, ptr %about, align 8
  %a_memory = getelementptr i64, ptr %about, i64 1
  %memory = load ptr, ptr %a_memory, align 8
  %shape = getelementptr i64, ptr %about, i64 2
  call void @Py_IncRef(ptr %dtype)
  %nd = trunc i64 %rank to i32
  %made = call ptr @PyArray_NewFromDescr(ptr %class, ptr %dtype, i32 %nd, ptr %shape, ptr null,
                                         ptr null, i32 0, ptr null)
  store ptr %made, ptr %to, align 8
  %is_made = icmp ne ptr %made, null
  br i1 %is_made, label %fill, label %raised
fill:
  %first = load i64, ptr %a_first, align 8
  %offset = mul i64 %first, %size
  %from = getelementptr i8, ptr %memory, i64 %offset
@field(data, made, {layout.array_data}, ptr)
  %done = call ptr @memcpy(ptr %data, ptr %from, i64 %bytes)
  <go on>
raised:
  <raise>""",
        ),
    )


def _loaded() -> str:
    """What a loop's words hold."""
    lines = []
    for number, name in enumerate(LOOP_WORDS):
        kind = "i64" if name in ("events", "least") else "ptr"
        lines += [
            f"  %a_{name} = getelementptr i64, ptr %about, i64 {number}",
            f"  %{name} = load {kind}, ptr %a_{name}, align 8",
        ]
    return "\n".join(lines)


def _held() -> str:
    return """  store ptr %made, ptr %to, align 8
  %is_made = icmp ne ptr %made, null
  <go on if is_made>"""


INTERRUPT = """
define i64 @interrupt() {
entry:
  ret i64 1
}"""
"""What a kernel asks whether to end: in a gate it is to, for others would have to wait."""
