"""LLVM text of what entries of gates compute: numbers for kernels, and formulas of extents."""

from __future__ import annotations

from runmat_jit.backends.llvm.gate_words import TWO_WAYS, Operation
from runmat_jit.backends.llvm.object_layout import ObjectLayout


def numbers(layout: ObjectLayout) -> tuple[Operation, ...]:
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


def formulas(layout: ObjectLayout) -> tuple[Operation, ...]:
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
{TWO_WAYS}""",
            )
            for name, sign in (("is_less", "slt"), ("is_at_most", "sle"), ("is_equal", "eq"))
        ),
    )
