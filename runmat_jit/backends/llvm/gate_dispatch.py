"""LLVM text of a dispatching function: what is called for a callable, without a frame of ours."""

from __future__ import annotations

from typing import Final

from runmat_jit.backends.llvm.gate_words import spelled
from runmat_jit.backends.llvm.object_layout import ObjectLayout

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


def dispatch(layout: ObjectLayout) -> str:
    """``dispatch(callable, *arguments)``: calls it, or what is to be called for it."""
    items = "\n".join(
        f"  %a_{name} = getelementptr i8, ptr %self, i64 {layout.tuple_items + 8 * place}\n"
        f"  %{name} = load ptr, ptr %a_{name}, align 8"
        for place, name in enumerate(DISPATCH_ITEMS)
    )
    return spelled(f"""
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
