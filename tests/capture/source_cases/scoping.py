"""Functions of a probe that exercise names: closures, classes, globals, private names."""

SCALE = 3
print_ = print


def vars(x):
    return "own", x


def global_reads(p):
    return SCALE, len([1]), __name__, print_ is print, vars(1)


def declared_global(p):
    global SCALE
    return SCALE + 1


def missing_global(p):
    p("before")
    return p(missing_name)


def unbound_local(p):
    if p("no", False):
        x = 1
    return x


def make_closure():
    scale, unset = 2, None
    del unset

    def closure_reads(p):
        def inner():
            return scale * SCALE

        return scale, inner(), [scale for _ in range(2)], (lambda: scale)()

    def unset_closure(p):
        return unset

    def recursion(p, n=3):
        return [n, recursion(p, n - 1)] if p("n", n) else []

    def declared_nonlocal(p):
        nonlocal scale
        return scale

    return closure_reads, unset_closure, recursion, declared_nonlocal


closure_reads, unset_closure, recursion, declared_nonlocal = make_closure()


def inner_nonlocal(p):
    total = 0

    def add(n):
        nonlocal total
        total += n
        return total

    return add(p("a", 1)), add(2), total


def shadowing(p):
    len = lambda x: "mine"

    def inner(SCALE):
        return SCALE, [SCALE for SCALE in (4, 5)], SCALE

    return len(1), inner(9), SCALE


def comprehension_scopes(p):
    x = 10
    return [x for x in range(3)], [x + y for y in range(2)], [[z for z in range(x)] for x in (1, 2)]


def local_classes(p):
    base = 5

    class A:
        b = base
        c = b + SCALE
        d = [i for i in range(b)]
        name: str = "n"
        other: p("annotation", int)

        def __init__(self, x):
            self.x = x
            self.__private = x + 1

        def get(self):
            return self.__private, A.b, base

        def __hidden(self):
            return "hidden"

        def call_hidden(self, __arg=4):
            return self.__hidden(), __arg

        @classmethod
        def make(cls, x):
            return cls(x)

    class B(A):
        def __init__(self, x):
            super().__init__(x)
            self.y = __class__.__name__

        def get(self):
            return super().get(), super(B, self).get(), (lambda: __class__)() is B

    b = B.make(2)
    names = sorted(name for name in dir(b) if not name.startswith("__"))
    return b.get(), b.y, b.call_hidden(), A.__annotations__, A.c, A.d, names, A.__qualname__


def metaclass(p):
    class Meta(type):
        def __new__(mcs, name, bases, namespace, **options):
            p(sorted(key for key in namespace if key != "__firstlineno__"))
            return super().__new__(mcs, name, bases, namespace)

    class A(metaclass=Meta, option=p("option", 1)):
        x, y = p("x", 1), 2
        x += 1
        z = x
        for i in range(2):
            y = i

    return A.x, A.y, A.i, type(A).__name__


def class_reads_what_it_binds_first(p):
    class A:
        if p("test", True):
            x = 1
            y = x
        try:
            z = 1
        finally:
            w = 2
        __qualname__ = __qualname__ + "!"

    return A.y, A.__qualname__


def imports(p):
    import math
    import os.path as osp
    from collections import OrderedDict as Ordered
    from os.path import join
    from os import path

    return math.sqrt(4), join("a", "b"), osp.basename("a/b"), Ordered(a=1), path is osp


def failing_import(p):
    from collections import no_such_name

    return no_such_name


def relative_import(p):
    from . import anything

    return anything


def keyword_parameters(p, *args, key=1, **options):
    """Documented."""
    options["added"] = args
    return options, key


def position_only(p, a=1, /, b=2, *, c=3):
    return a, b, c


class Widget:
    def __init__(self, size=4):
        self.size = size
        self.__secret = 7

    def method(self, p):
        self.__secret += 1
        return self.__secret, self.size, self.__twice(2), Widget.__name__

    def __twice(self, __x):
        return 2 * __x

    def inner_functions(self, p):
        def inner():
            self.__other = [self.__secret for _ in range(2)]
            return self.__other

        return inner(), inner.__qualname__, vars_of(self)


class Gadget(Widget):
    def method(self, p):
        return super().method(p), __class__.__name__, [super(Gadget, self).method(p) for _ in "a"]


def vars_of(x):
    return sorted(x.__dict__.items())


def returned_closure(p):
    def outer(a):
        def inner(b):
            return a + b + SCALE

        return inner

    return outer(1)(2), outer.__code__.co_name, outer(1).__qualname__


def exception_names(p):
    error = "kept"
    try:
        raise ValueError("x")
    except ValueError as error:
        pass
    return error


def object_introspection(p):
    class A:
        pass

    a = A()
    a.x = 1
    return dir(a)[-1]


def pattern_names(p):
    import enum

    out = []
    match p("subject", Color.RED):
        case Color.GREEN:
            out.append("green")
        case Color.RED:
            out.append("red")
    match p("second", Widget(2)):
        case Widget() as w:
            out.append(w.size)
    match [Color.GREEN, 3]:
        case [Color.GREEN | Color.RED, int(n)]:
            out.append(n)
    return out


class Color:
    RED = "r"
    GREEN = "g"


def long_sum(p):
    x = 1
    return x + SCALE + x + SCALE + x + x - x * SCALE + x + x + x + x + x + x + x + x + x


def chained_methods(p):
    return (
        "a,b,c"
        .replace(
            ",",
            ";",
        )
        .split(";")
    )
