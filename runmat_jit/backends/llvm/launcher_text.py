"""LLVM text of the one function through which Python calls kernels.

It is a built-in function with CPython's fast calling convention, so a call costs no conversion
of argument lists. Everything it needs of Python hangs on its ``self``, a tuple:
``(start the workers, None, numpy.ndarray, address of the pool)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from runmat_jit.backends.llvm.object_layout import POINTER_BYTES, ObjectLayout
from runmat_jit.backends.llvm.pool_layout import POOL_FIELDS

LAUNCHER_FUNCTIONS = ("launch",)

MOST_ARRAYS = 256
"""A call with more arrays than this is refused."""

_ARGUMENTS = ("kernel", "arrays", "block", "total", "grain", "parallel")
_SELF: Mapping[str, int] = MappingProxyType({"start": 0, "none": 1, "ndarray": 2, "pool": 3})

_PYTHON_FUNCTIONS: Mapping[str, str] = MappingProxyType(
    {
        "PyLong_AsLongLong": "declare i64 @PyLong_AsLongLong(ptr)",
        "PyEval_SaveThread": "declare ptr @PyEval_SaveThread()",
        "PyEval_RestoreThread": "declare void @PyEval_RestoreThread(ptr)",
        "PyErr_CheckSignals": "declare i32 @PyErr_CheckSignals()",
        "PyErr_Occurred": "declare ptr @PyErr_Occurred()",
        "PyErr_BadArgument": "declare i32 @PyErr_BadArgument()",
        "PyObject_CallNoArgs": "declare ptr @PyObject_CallNoArgs(ptr)",
        "Py_IncRef": "declare void @Py_IncRef(ptr)",
        "Py_DecRef": "declare void @Py_DecRef(ptr)",
    }
)


def launcher_symbols() -> tuple[str, ...]:
    """Functions of CPython that the launcher calls."""
    return tuple(_PYTHON_FUNCTIONS)


def launcher_text(layout: ObjectLayout) -> str:
    """Module with ``launch``, the same for every target."""
    return "\n".join(
        [
            *_PYTHON_FUNCTIONS.values(),
            _gather_text(layout),
            _START_WORKERS,
            _RUN_PARALLEL,
            _launch_text(layout),
        ]
    )


def _gather_text(layout: ObjectLayout) -> str:
    """``i1 gather(...)``: store each array's data pointer plus offset; false if one is no array."""
    return f"""
@no_offsets = internal constant [{MOST_ARRAYS} x i64] zeroinitializer
define internal i1 @gather(ptr %tuple_type, ptr %ndarray, ptr %arrays, ptr %block, ptr %offsets) {{
entry:
  %p_type = getelementptr i8, ptr %arrays, i64 {layout.type}
  %type = load ptr, ptr %p_type, align 8
  %is_tuple = icmp eq ptr %type, %tuple_type
  br i1 %is_tuple, label %count, label %refuse
count:
  %p_size = getelementptr i8, ptr %arrays, i64 {layout.tuple_size}
  %items = getelementptr i8, ptr %arrays, i64 {layout.tuple_items}
  %size = load i64, ptr %p_size, align 8
  %is_some = icmp sgt i64 %size, 0
  %is_few = icmp sle i64 %size, {MOST_ARRAYS}
  br i1 %is_few, label %begin, label %refuse
begin:
  br i1 %is_some, label %each, label %accept
each:
  %index = phi i64 [0, %begin], [%next, %store]
  %p_array = getelementptr ptr, ptr %items, i64 %index
  %array = load ptr, ptr %p_array, align 8
  %p_array_type = getelementptr i8, ptr %array, i64 {layout.type}
  %array_type = load ptr, ptr %p_array_type, align 8
  %is_array = icmp eq ptr %array_type, %ndarray
  br i1 %is_array, label %store, label %refuse
store:
  %p_data = getelementptr i8, ptr %array, i64 {layout.array_data}
  %data = load ptr, ptr %p_data, align 8
  %p_offset = getelementptr i64, ptr %offsets, i64 %index
  %offset = load i64, ptr %p_offset, align 8
  %first = getelementptr i8, ptr %data, i64 %offset
  %p_slot = getelementptr ptr, ptr %block, i64 %index
  store ptr %first, ptr %p_slot, align 8
  %next = add i64 %index, 1
  %more = icmp slt i64 %next, %size
  br i1 %more, label %each, label %accept
accept:
  ret i1 true
refuse:
  ret i1 false
}}"""


# The pool is loaded by the first run that can use it; false if that raised an exception.
_START_WORKERS = f"""
define internal i1 @start_workers(ptr %pool, ptr %start) {{
entry:
  %p_missing = getelementptr i8, ptr %pool, i64 {POOL_FIELDS["missing"]}
  %missing = load i64, ptr %p_missing, align 8
  %is_missing = icmp ne i64 %missing, 0
  br i1 %is_missing, label %call, label %fine
call:
  %none = call ptr @PyObject_CallNoArgs(ptr %start)
  %has_raised = icmp eq ptr %none, null
  br i1 %has_raised, label %raised, label %release
release:
  call void @Py_DecRef(ptr %none)
  br label %fine
fine:
  ret i1 true
raised:
  ret i1 false
}}"""

# Between slices the GIL is held again and signal handlers run; false if one raised an exception.
_RUN_PARALLEL = f"""
define internal i1 @run_parallel(ptr %pool, ptr %kernel, ptr %block, i64 %total, i64 %grain) {{
entry:
  %p_parallel_for = getelementptr i8, ptr %pool, i64 {POOL_FIELDS["parallel_for"]}
  %parallel_for = load ptr, ptr %p_parallel_for, align 8
  br label %slice
slice:
  %begin = phi i64 [0, %entry], [%end, %signals]
  %thread = call ptr @PyEval_SaveThread()
  %end = call i64 %parallel_for(ptr %pool, ptr %kernel, ptr %block, i64 %begin, i64 %total,
                                i64 %grain)
  call void @PyEval_RestoreThread(ptr %thread)
  %more = icmp slt i64 %end, %total
  br i1 %more, label %signals, label %fine
signals:
  %raised = call i32 @PyErr_CheckSignals()
  %is_clear = icmp eq i32 %raised, 0
  br i1 %is_clear, label %slice, label %stop
fine:
  ret i1 true
stop:
  ret i1 false
}}"""


def _launch_text(layout: ObjectLayout) -> str:
    return f"""
define ptr @launch(ptr %self, ptr %args, i64 %count) {{
{_read_text(layout)}
collect:
  %kernel_address = inttoptr i64 %kernel_number to ptr
  %block_address = inttoptr i64 %block_number to ptr
  %is_gathered = call i1 @gather(ptr %tuple_type, ptr %ndarray, ptr %arrays,
                               ptr %block_address, ptr %offsets)
  br i1 %is_gathered, label %choose, label %refuse
choose:
  %is_parallel = icmp ne i64 %parallel_number, 0
  br i1 %is_parallel, label %prepare, label %direct
direct:                      ; short work: the GIL is kept
  call void %kernel_address(ptr %block_address, i64 0, i64 %total_number)
  br label %done
prepare:
  %pool_number = call i64 @PyLong_AsLongLong(ptr %pool)
  %pool_address = inttoptr i64 %pool_number to ptr
  %is_started = call i1 @start_workers(ptr %pool_address, ptr %start)
  br i1 %is_started, label %run, label %raise
run:
  %is_finished = call i1 @run_parallel(ptr %pool_address, ptr %kernel_address,
                                       ptr %block_address, i64 %total_number, i64 %grain_number)
  br i1 %is_finished, label %done, label %raise
done:
  call void @Py_IncRef(ptr %none)
  ret ptr %none
refuse:                      ; a TypeError, unless a conversion has raised its own exception
  %raised = call ptr @PyErr_Occurred()
  %is_raised = icmp ne ptr %raised, null
  br i1 %is_raised, label %raise, label %type_error
type_error:
  %zero = call i32 @PyErr_BadArgument()
  br label %raise
raise:
  ret ptr null
}}"""


def _read_text(layout: ObjectLayout) -> str:
    """Arguments and ``self`` as values; to ``collect`` if they are valid, else to ``refuse``."""
    arguments = "\n".join(_item(name, "args", i) for i, name in enumerate(_ARGUMENTS))
    own = "\n".join(_item(name, "own", index) for name, index in _SELF.items())
    numbers = "\n".join(
        f"  %{name}_number = call i64 @PyLong_AsLongLong(ptr %{name})"
        for name in ("kernel", "block", "total", "grain", "parallel")
    )
    return f"""entry:
  %is_complete = icmp eq i64 %count, {len(_ARGUMENTS)}
  %has_offsets = icmp eq i64 %count, {len(_ARGUMENTS) + 1}
  %is_fine = or i1 %is_complete, %has_offsets
  br i1 %is_fine, label %choose_offsets, label %refuse
choose_offsets:
  br i1 %has_offsets, label %read_offsets, label %read
read_offsets:
{_item("offsets_object", "args", len(_ARGUMENTS))}
  %offsets_number = call i64 @PyLong_AsLongLong(ptr %offsets_object)
  %given_offsets = inttoptr i64 %offsets_number to ptr
  br label %read
read:
  %offsets = phi ptr [@no_offsets, %choose_offsets], [%given_offsets, %read_offsets]
  %own = getelementptr i8, ptr %self, i64 {layout.tuple_items}
  %p_tuple_type = getelementptr i8, ptr %self, i64 {layout.type}
  %tuple_type = load ptr, ptr %p_tuple_type, align 8
{arguments}
{own}
{numbers}
  %addresses = or i64 %kernel_number, %block_number
  %grain_less_one = sub i64 %grain_number, 1
  %sizes = or i64 %total_number, %grain_less_one
  %numbers = or i64 %addresses, %sizes
  %all = or i64 %numbers, %parallel_number
  %is_valid = icmp sge i64 %all, 0
  br i1 %is_valid, label %collect, label %refuse"""


def _item(name: str, base: str, index: int) -> str:
    return (
        f"  %p_{name} = getelementptr i8, ptr %{base}, i64 {POINTER_BYTES * index}\n"
        f"  %{name} = load ptr, ptr %p_{name}, align 8"
    )
