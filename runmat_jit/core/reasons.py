"""Every reason why something was not captured, not compiled or not fused, in one table.

``explain()`` reports reasons by their identifiers, ``fullgraph=True`` raises with them, and each
has a page of its own, ``docs/reasons/<id>.md``, with an example that has it and one that has not.
"""

from __future__ import annotations

from typing import Final, Literal

from runmat_jit.core.frozen import immutable

Group = Literal["off", "call", "source", "capture", "device", "fusion"]
"""What the reason is about: the user wants plain Python; the call's arguments, or the function's
source, make the whole call plain Python; something in a call cannot be repeated without Python;
another device; a region does not grow."""


@immutable
class Cause:
    """One row: a stable identifier, what happened, and what to do about it."""

    id: str
    group: Group
    cause: str
    hint: str

    @property
    def page(self) -> str:
        """The page that explains it, from the root of the project."""
        return f"docs/reasons/{self.id}.md"

    @property
    def raises(self) -> bool:
        """True if ``fullgraph=True`` refuses such calls."""
        return self.group not in ("off", "fusion")


@immutable
class Reason:
    """Something that was not captured, compiled or fused: its cause, a sentence, the user's line.

    ``line`` is a short form of the place, or empty where no line is at fault.
    """

    id: str
    detail: str
    line: str = ""

    def __post_init__(self) -> None:
        require_cause(self.id)

    def __str__(self) -> str:
        return f"{self.id}: {self.detail}" + (f" ({self.line})" if self.line else "")


_ROWS: Final = (
    # -- the whole call is plain Python, because of how it is called -------------------------------
    Cause(
        "switched-off",
        "off",
        "`runmat.disable()` or `RUNMAT_DISABLE_JIT` is in force, or this interpreter or NumPy is "
        "not supported.",
        "Call outside of the block, unset the variable, or take a supported version.",
    ),
    Cause(
        "debugger",
        "off",
        "A debugger, a coverage tool or another trace function (`sys.settrace`) watches Python.",
        "Call without it: what is watched is plain Python, line by line.",
    ),
    Cause(
        "unhashable-argument",
        "call",
        "An argument that distinguishes traces has no hash.",
        "Pass a plain object, whose attributes are read, or give its class a hash.",
    ),
    Cause(
        "array-subclass",
        "call",
        "An argument is a subclass of `numpy.ndarray`, whose methods may mean anything.",
        "Pass `np.asarray(x)`.",
    ),
    Cause(
        "array-dtype",
        "call",
        "An argument is an array of objects; or all array arguments are such that kernels cannot "
        "read them: strings, dates, records, long doubles, another byte order or unaligned memory.",
        "Convert it before the call, for example with `x.astype(np.float64)`.",
    ),
    # -- the whole call is plain Python, because the source of the function is not followed --------
    Cause(
        "generator-function",
        "source",
        "The function is a generator function: its body runs after the call has returned.",
        "Decorate the function that computes each item, and yield its results.",
    ),
    Cause(
        "coroutine-function",
        "source",
        "The function is a coroutine function: its body runs after the call has returned.",
        "Decorate the function that computes, and await only around it.",
    ),
    Cause(
        "uses-breakpoint",
        "source",
        "The function calls `breakpoint()`, which is to show plain Python.",
        "Remove the call, or debug within `runmat.disable()`.",
    ),
    Cause(
        "no-source",
        "source",
        "No source was found that compiles to the function's code: it was made by `exec`, typed "
        "into an interactive Python, its file has changed, or only its `.pyc` file is there.",
        "Define the function in a file or in a notebook cell.",
    ),
    Cause(
        "stores-global",
        "source",
        "The function assigns a global variable.",
        "Return the value and assign it where the function is called.",
    ),
    Cause(
        "stores-nonlocal",
        "source",
        "The function assigns a variable of a function around it.",
        "Return the value and assign it where the function is called.",
    ),
    Cause(
        "uses-locals",
        "source",
        "The function asks for its own variables or frame, or runs source: `locals`, `vars`, "
        "`dir`, `globals`, `sys._getframe`, `inspect.currentframe`, `inspect.stack`, `eval` or "
        "`exec`.",
        "Name the variables, for example in a dictionary display.",
    ),
    Cause(
        "resizes-array",
        "source",
        "The function changes the length of an array in place, by its method `resize`. NumPy does "
        "that while nobody else refers to the array, and a recording would.",
        "Make a new array, for example with `np.pad` or `np.resize`.",
    ),
    Cause(
        "match-singleton",
        "source",
        "A pattern compares with `True` or `False` by identity.",
        "Write a guard or an `if` statement.",
    ),
    Cause(
        "match-attribute",
        "source",
        "A pattern reads attributes of the matched object.",
        "Match the class alone, and read the attributes in the body.",
    ),
    Cause(
        "chained-is",
        "source",
        "A class inside the function has a chain of comparisons with `is` in its body.",
        "Write two comparisons, joined by `and`.",
    ),
    Cause(
        "class-body-name",
        "source",
        "A class inside the function has a body in which one name is its own variable and one "
        "from outside.",
        "Use two names.",
    ),
    Cause(
        "private-names",
        "source",
        "The function lies in another class than its qualified name says, so that private names "
        "(`__name`) cannot be known.",
        "Define the function in the body of its class.",
    ),
    Cause(
        "reserved-name",
        "source",
        "The function uses the name `__rt__`, which rewritten code needs.",
        "Use another name.",
    ),
    Cause(
        "type-parameters",
        "source",
        "The function, or one inside it, has type parameters (`def f[T]()`).",
        "Declare the type variables with `typing.TypeVar`.",
    ),
    Cause(
        "nested-too-deeply",
        "source",
        "An expression or block is nested so deeply that Python's own recursion limit is reached.",
        "Divide the expression into statements.",
    ),
    Cause(
        "unknown-syntax",
        "source",
        "The function uses syntax that is newer than this package.",
        "Write it in older syntax, or look for a newer version of this package.",
    ),
    # -- something in the call cannot be repeated without Python -----------------------------------
    Cause(
        "value-looked-at",
        "capture",
        "Python needs a value that was computed from arrays and that hardly ever comes again, such "
        "as a float as a key.",
        "Look at the value after the call. Branches and whole numbers are no reason: what follows "
        "is recorded once for each outcome.",
    ),
    Cause(
        "value-leaves",
        "capture",
        "A value goes to code that is not captured, or has its attributes set.",
        "Use NumPy's functions, which are captured, and change shapes by `reshape`.",
    ),
    Cause(
        "unknown-call",
        "capture",
        "A function was called that may do anything, such as to read a file.",
        "Call it before or after, outside of the decorated function.",
    ),
    Cause(
        "untraceable-result",
        "capture",
        "A function gave what no trace can hold, such as an object or an array of objects.",
        "Compute it outside of the decorated function, and pass what is needed of it.",
    ),
    Cause(
        "result-not-rebuildable",
        "capture",
        "The function returns, or stores in an argument, what a repetition cannot make anew.",
        "Return arrays, numbers, strings, containers of them, and objects of classes of your own "
        "that the function made.",
    ),
    Cause(
        "outside-object",
        "capture",
        "An object from outside runs code of its own when it is used, or when nobody holds it any "
        "more: operators, iteration, methods of builtin classes, a finalizer.",
        "Pass the numbers and arrays in it as arguments.",
    ),
    Cause(
        "outside-container",
        "capture",
        "A container from outside is too long to be compared at each call, is a set, or has "
        "code of its own.",
        "Pass an array, or a tuple of what is needed.",
    ),
    Cause(
        "outside-item",
        "capture",
        "An item was read of an object from outside that is no list, tuple or dictionary.",
        "Read the item before the call, and pass it as an argument.",
    ),
    Cause(
        "outside-store",
        "capture",
        "The function changes an object that existed before the call and is no argument container "
        "or array.",
        "Return the new value and store it where the function is called.",
    ),
    Cause(
        "outside-changed",
        "capture",
        "Something outside was read twice in a call and had changed in between: another thread, a "
        "handler of signals or a callback did it.",
        "Pass what may change as an argument, or wait for it outside of the decorated function.",
    ),
    Cause(
        "missing-name",
        "capture",
        "A variable was read that does not exist.",
        "Assign it before the call.",
    ),
    Cause(
        "missing-attribute",
        "capture",
        "The function asked for an attribute that does not exist, and may exist at the next call.",
        "Give the attribute a value in the class, for example None.",
    ),
    Cause(
        "descriptor",
        "capture",
        "Reading an attribute runs code: a descriptor other than property, or `__getattr__`.",
        "Use a property or a method, or read the attribute before the call.",
    ),
    Cause(
        "identity",
        "capture",
        "Functions from outside are compared by `is`, `==` or `in`.",
        "Compare a name or a number instead.",
    ),
    Cause(
        "exception",
        "capture",
        "An exception left the call, or one was raised that has more than a message: Python raises "
        "it.",
        "Test for the condition instead of catching. Exceptions of simple classes of Python and "
        "NumPy that the function catches itself are no reason: they are outcomes, as branches are.",
    ),
    Cause(
        "events-raise",
        "capture",
        "Floating-point events are exceptions here, by `np.errstate` or a filter of warnings, and "
        "NumPy is to raise them at the line.",
        "Let NumPy warn, or ignore, and test the result.",
    ),
    Cause(
        "trace-too-long",
        "capture",
        "The call has more operations, or decisions on values, than are kept.",
        "Decorate the body of the loop, or write it with operations on whole arrays.",
    ),
    Cause(
        "one-by-one",
        "capture",
        "Operations were compiled one by one, because memory that they write is shared so "
        "that no graph can express it.",
        "Write to arrays that share no memory, for example to a copy.",
    ),
    Cause(
        "no-graph",
        "capture",
        "An array is written several of whose elements are one piece of memory, so that NumPy's "
        "order of writing decides.",
        "Copy the array before it is written.",
    ),
    # -- devices -----------------------------------------------------------------------------------
    Cause(
        "not-on-device",
        "device",
        "A region cannot run on the device that was asked for.",
        "Use dtypes that the device has, such as float32, or leave the choice to the package.",
    ),
    # -- regions -----------------------------------------------------------------------------------
    Cause(
        "different-extents",
        "fusion",
        "Two operations run over different numbers of elements.",
        "Nothing needs to be done: each region is compiled by itself.",
    ),
    Cause(
        "read-through-view",
        "fusion",
        "A result is read through a view of it, such as a slice, so it has to be in memory first.",
        "Apply the view to the inputs of the expression where that means the same.",
    ),
    Cause(
        "other-order",
        "fusion",
        "An operation needs its elements in another order than the region computes them in.",
        "Reduce over the same axes, or transpose the inputs of the expression.",
    ),
    Cause(
        "reduction-of-reduction",
        "fusion",
        "A reduction reduces the results of another one.",
        "Reduce over both axes at once where that means the same.",
    ),
    Cause(
        "region-of-its-own",
        "fusion",
        "An operation runs by itself: a view that is returned, or a merge that is not permitted.",
        "Nothing needs to be done: each region is compiled by itself.",
    ),
    Cause(
        "kernel-too-long",
        "fusion",
        "One more operation, array or pass over elements would cost the kernel more than it saves.",
        "Nothing needs to be done: the rest is compiled as a region of its own.",
    ),
    Cause(
        "kind-switched-off",
        "fusion",
        "A fusion kind is switched off by `RUNMAT_DISABLE_FUSION`.",
        "Unset the variable, or pass `disable_fusion=''` to `runmat.config`.",
    ),
)

CAUSES: Final[dict[str, Cause]] = {row.id: row for row in _ROWS}


def require_cause(reason: str) -> None:
    """Refuse an identifier that the table does not explain: a mistake of ours."""
    assert reason in CAUSES, f"{reason} is no reason of the table in {__name__}"
