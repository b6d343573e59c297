"""LLVM text of what entries of gates ask: of arguments, of the process, of outside state."""

from __future__ import annotations

from typing import Final

from runmat_jit.backends.llvm.gate_words import GUARDED_FLAGS, OWNS, TWO_WAYS, Operation, bytes_of
from runmat_jit.backends.llvm.object_layout import ObjectLayout


def guards(layout: ObjectLayout) -> tuple[Operation, ...]:
    """What must hold of arguments and of the state of the process."""
    array = f"""@field(type, value, {layout.type}, ptr)
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
"""
    return (
        (
            "is_object",
            "value:r object:p",
            f"  %holds = icmp eq ptr %value, %object\n{TWO_WAYS}",
        ),
        ("are_same", "a:r b:r", f"  %holds = icmp eq ptr %a, %b\n{TWO_WAYS}"),
        ("are_others", "a:r b:r", f"  %holds = icmp ne ptr %a, %b\n{TWO_WAYS}"),
        (
            "is_of",
            "value:r class:p",
            f"""@field(type, value, {layout.type}, ptr)
  %holds = icmp eq ptr %type, %class
{TWO_WAYS}""",
        ),
        (
            "owns_memory",
            "array:r",
            f"""@field(bits, array, {layout.array_flags}, i32)
  %owned = and i32 %bits, {OWNS}
  %holds = icmp ne i32 %owned, 0
{TWO_WAYS}""",
        ),
        # ``numbers``: the extents, then the strides.
        (
            "is_array",
            "value:r class:p dtype:p rank:n flags:n numbers:p",
            f"""{array}  %axis = phi i64 [0, %array], [%next, %strided]
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
        # Extents are not looked at, but that each is at least ``least``: flags tell the strides.
        (
            "is_like",
            "value:r class:p dtype:p rank:n flags:n least:n",
            f"""{array}  %axis = phi i64 [0, %array], [%next, %extent]
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
{TWO_WAYS}""",
        ),
        # The same of contiguous arrays of any extents.
        (
            "lie_apart",
            "a:r a_item:n b:r b_item:n",
            f"""@field(a_data, a, {layout.array_data}, i64)
@field(b_data, b, {layout.array_data}, i64)
@field(a_rank, a, {layout.array_rank}, i32)
@field(b_rank, b, {layout.array_rank}, i32)
@field(a_shape, a, {layout.array_shape}, ptr)
@field(b_shape, b, {layout.array_shape}, ptr)
  br label %a_axes
{bytes_of("a", "entry", "b_axes")}
{bytes_of("b", "a_axes", "compare")}
compare:
  %a_end = add i64 %a_data, %a_bytes
  %b_end = add i64 %b_data, %b_bytes
  %a_before = icmp ule i64 %a_end, %b_data
  %b_before = icmp ule i64 %b_end, %a_data
  %holds = or i1 %a_before, %b_before
{TWO_WAYS}""",
        ),
        (
            "is_distance",
            "a:r b:r distance:n",
            f"""@field(a_data, a, {layout.array_data}, i64)
@field(b_data, b, {layout.array_data}, i64)
  %found = sub i64 %a_data, %b_data
  %holds = icmp eq i64 %found, %distance
{TWO_WAYS}""",
        ),
        (
            "is_word",
            "address:p value:n",
            (
                f"  %found = load i64, ptr %address, align 8\n"
                f"  %holds = icmp eq i64 %found, %value\n{TWO_WAYS}"
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
{TWO_WAYS}""",
        ),
        (
            "is_float",
            "value:r bits:n",
            f"""  %number = call double @PyFloat_AsDouble(ptr %value)
  %found = bitcast double %number to i64
  %holds = icmp eq i64 %found, %bits
{TWO_WAYS}""",
        ),
        (
            "has_code",
            "function:p code:p",
            (
                f"  %found = call ptr @PyFunction_GetCode(ptr %function)\n"
                f"  %holds = icmp eq ptr %found, %code\n{TWO_WAYS}"
            ),
        ),
        # Each ``with np.errstate(...)`` makes another object: what it holds is compared.
        (
            "is_errstate",
            "variable:p state:p",
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
  br i1 %is_some, label %look, label %wrong
look:
  %is_same = icmp eq ptr %found, %state
  br i1 %is_same, label %release, label %open
open:
  %name = call ptr @PyCapsule_GetName(ptr %state)
  %ours = call ptr @PyCapsule_GetPointer(ptr %state, ptr %name)
  %theirs = call ptr @PyCapsule_GetPointer(ptr %found, ptr %name)
  %is_known = icmp ne ptr %theirs, null
  br i1 %is_known, label %compare, label %other
other:
  call void @PyErr_Clear()
  br label %release
compare:
@field(our_actions, ours, {layout.errstate_actions}, i32)
@field(actions, theirs, {layout.errstate_actions}, i32)
@field(our_buffer, ours, {layout.errstate_buffer}, i64)
@field(buffer, theirs, {layout.errstate_buffer}, i64)
@field(our_function, ours, {layout.errstate_function}, ptr)
@field(function, theirs, {layout.errstate_function}, ptr)
  %does_same = icmp eq i32 %actions, %our_actions
  %buffers_same = icmp eq i64 %buffer, %our_buffer
  %calls_same = icmp eq ptr %function, %our_function
  %both = and i1 %does_same, %buffers_same
  %all = and i1 %both, %calls_same
  br label %release
release:
  %holds = phi i1 [true, %look], [false, %other], [%all, %compare]
  call void @Py_DecRef(ptr %found)
{TWO_WAYS}""",
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
{TWO_WAYS}"""


_CLEAR: Final = """clear:
  call void @PyErr_Clear()
  br label %wrong"""


def reads(layout: ObjectLayout) -> tuple[Operation, ...]:
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
{TWO_WAYS}
{_CLEAR}"""
    end = f"  <go on>\n{_CLEAR}\nwrong:\n  <fail>"
    return (
        ("name_is", "namespace:p name:p value:p", f"{look}{held}\n{TWO_WAYS}"),
        (
            "name_is_missing",
            "namespace:p name:p",
            f"{look}  %holds = icmp eq ptr %found, null\n{TWO_WAYS}",
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
{TWO_WAYS}
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
