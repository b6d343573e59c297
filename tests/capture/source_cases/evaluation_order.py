"""Functions of a probe: ``p(tag, value)`` logs the tag and returns the value."""


class Box:
    """Logs every access to its items and attributes."""

    def __init__(self, p, name, **attributes):
        object.__setattr__(self, "p", p)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "__dict__", {**self.__dict__, **attributes})
        object.__setattr__(self, "items", {})

    def __getitem__(self, key):
        self.p(f"{self.name}[{key!r}]")
        return self.items.get(key, 1)

    def __setitem__(self, key, value):
        self.p(f"{self.name}[{key!r}] = {value!r}")
        self.items[key] = value

    def __delitem__(self, key):
        self.p(f"del {self.name}[{key!r}]")
        del self.items[key]

    def __setattr__(self, key, value):
        self.p(f"{self.name}.{key} = {value!r}")
        object.__setattr__(self, key, value)

    def __delattr__(self, key):
        self.p(f"del {self.name}.{key}")
        object.__delattr__(self, key)

    def __getattr__(self, key):
        if key.startswith("__"):
            raise AttributeError(key)
        self.p(f"{self.name}.{key}")
        return 1


class InPlace:
    def __init__(self, p):
        self.p = p

    def __repr__(self):
        return "InPlace"

    def __iadd__(self, other):
        self.p(f"+= {other!r}")
        return self

    def __isub__(self, other):
        self.p(f"-= {other!r}")
        return (self.p("new"), other)

    def __lt__(self, other):
        return self.p("<", True)

    def __gt__(self, other):
        return self.p(">", [])


def call_arguments(p):
    return p("f", lambda *args, **kwargs: (args, kwargs))(
        p("a", 1), *p("b", [2, 3]), p("c", 4), k=p("k", 5), **p("m", {"x": 6}), z=p("z", 7)
    )


def nested_calls(p):
    return p("f", p)(p("x", "tag"), p("y", p)("z", 3))


def item_store(p):
    x = Box(p, "x")
    p("obj", x)[p("key", 1)] = p("value", 2)
    return x.items


def attribute_store(p):
    x = Box(p, "x")
    p("obj", x).a = p("value", 2)
    return x.a


def chained_targets(p):
    x, y = Box(p, "x"), Box(p, "y")
    a = p("x", x)[p("i", 0)] = b = p("y", y).attr = c = p("value", [1])
    return a is b is c, x.items, y.attr


def tuple_targets(p):
    x, y = Box(p, "x"), Box(p, "y")
    p("x", x)[p("i", 0)], p("y", y).a, z = p("a", 1), p("b", 2), p("c", 3)
    return x.items, y.a, z


def swap_items(p):
    x = [1, 2, 3]
    x[0], x[1] = x[1], x[0]
    i = 0
    i, x[i] = 2, 9
    return x


def nested_targets(p):
    x = Box(p, "x")
    (a, p("x1", x)[0]), [p("x2", x)[1], *p("x3", x)[2]], *b = p("v", ((1, 2), (3, 4, 5), 6, 7))
    return a, b, x.items


def target_that_cannot_unpack(p):
    x = Box(p, "x")
    p("obj", x)[p("key", 0)], y = p("value", (1, 2, 3))


def star_target(p):
    x = Box(p, "x")
    *p("x", x).rest, last = range(4)
    return x.rest, last


def augmented_item(p):
    x = Box(p, "x")
    p("obj", x)[p("key", 1)] += p("value", 2)
    return x.items


def augmented_attribute(p):
    x = Box(p, "x", a=InPlace(p))
    p("obj", x).a += p("value", 2)
    p("obj", x).a -= p("value", 3)
    return x.a


def augmented_name(p):
    a = InPlace(p)
    a += p("value", 1)
    a -= p("value", 2)
    return a


def all_augmented_operators(p):
    values = []
    a = 1000
    a += 3
    a -= 1
    a *= 7
    a //= 2
    a %= 997
    a **= 2
    a <<= 3
    a >>= 1
    a ^= 12345
    a &= 0xFFFF
    a |= 7
    values.append(a)
    a /= 4
    values.append(a)

    class Matrix:
        def __imatmul__(self, other):
            return "matmul", other

    m = Matrix()
    m @= 3
    return values, m


def augmented_slice_of_a_list(p):
    x = [1, 2, 3, 4]
    x[p("a", 1) : p("b", 3)] += p("v", [9])
    x[::2] *= 1
    return x


def deletion(p):
    x, name, y = Box(p, "x", a=1), 3, [1, 2, 3]
    x[0] = 1
    del p("x", x)[p("k", 0)], (p("x2", x).a, [name]), y[p("y", 0)]
    try:
        return name
    except UnboundLocalError as error:
        return str(error), y


def delete_missing(p):
    x = {}
    del x[p("k", 0)]


def delete_nothing(p):
    del ()
    return 1


def annotated(p):
    x = Box(p, "x")
    p("obj", x)[p("key", 0)]: p("never", int) = p("value", 5)
    p("obj", x).a: p("never", int) = p("value", 6)
    a: p("never", int) = p("value", 7)
    p("obj only", x).b: int
    p("obj", x)[p("key only", 0)]: int
    (b): int = 8
    return x.items, x.a, a, b


def slices(p):
    x = Box(p, "x")
    return (
        x[p("a", 1) : p("b", 2)],
        x[p("a", 1) :: p("c", 2), p("d", 3), :],
        x[:],
        x[...],
        x[1:2, *p("e", (3, 4))],
        "hello"[1:3],
    )


def comparison_chain(p):
    return p("a", 1) < p("b", 2) < p("c", 2) < p("d", 9), p("a", 1) < p("b", 2) <= p("c", 2) != 4


def identity_chain(p):
    a = []
    return (
        p("1", a) is p("2", a) is p("3", a),
        p("1", a) is p("2", []) is p("3", a),
        p("1", a) is not p("2", a) < p("never", 1),
        p("1", 1) < p("2", 2) is not p("3", a) == [],
        p("1", InPlace(p)) > p("2", 2) is p("never", 2),
        p("1", None) is None is not p("2", a),
        p("in", 1) in p("list", [1]) is p("other", a),
    )


def identity_constants(p):
    return p("a") is None, p("b", 1) is not None, p("c", True) is True, p("d", False) is not False


def boolean_operators(p):
    return p("a", 0) or p("b", []) or p("c", 3), p("d", 1) and p("e", 0) and p("f", 2), not p("g")


def conditional(p):
    return p("yes", 1) if p("test", 0) else p("no", 2)


def displays(p):
    return (
        [p("a", 1), *p("b", (2, 3)), p("c", 4)],
        {p("k", 1): p("v", 2), **p("m", {3: 4}), p("k2", 5): p("v2", 6)},
        {p("s", 1), *p("t", (2, 3))},
        (p("x", 1), *p("y", [2])),
        [],
        {},
    )


def unhashable_display(p):
    return {p("a", 1): 2, p("b", []): p("value", 3)}


def comprehension(p):
    return [
        p("elt", x * y)
        for x in p("outer", [1, 2])
        if p("if", x)
        for y in p("inner", range(x))
        if p("if2", True)
    ]


def comprehensions(p):
    x = "outer"
    found = {x for x in p("set", [1, 1, 2])}, {p("k", k): p("v", v) for k, v in p("d", [(1, 2)])}
    lazily = (p("lazy", y) for y in p("gen", [1, 2]))
    p("before")
    return found, list(lazily), x


def comprehension_targets(p):
    x = Box(p, "x")
    return [p("elt", x.items[0]) for p("obj", x)[0] in p("it", [1, 2])], x.items


def walrus(p):
    found = [last := p("v", x) for x in range(3) if (square := x * x) >= 0]
    if (n := len(found)) > 2:
        return last, square, n, (m := p("m", 4)) + m
    return None


def default_arguments(p):
    def inner(a, b=p("b", 2), *args, c=p("c", 3), d, **kwargs):
        return a, b, args, c, d, kwargs

    return inner(p("a", 1), d=p("d", 4), e=5), inner.__kwdefaults__, inner.__defaults__


def annotations_of_inner_functions(p):
    def inner(a: p("a", int), /, b: p("b", str) = p("default", 1), *c: p("c", list), **d: p("d", 1)) -> p("r", 2):
        pass

    return inner.__annotations__, inner.__qualname__, inner.__name__


def decorators(p):
    def show(name):
        p(f"decorator {name}")
        return lambda f: (p(f"apply {name}"), f)[1]

    @p("expression", show)("a")
    @show("b")
    def inner(x=p("default", 1)):
        return x

    @show("class")
    class Inner(p("base", object)):
        a = p("body", 1)

        @p("static", staticmethod)
        def f():
            return 1

        @property
        def g(self):
            return self.a

        @g.setter
        def g(self, value):
            self.a = value

    one = Inner()
    one.g = 5
    return inner(), Inner.f(), one.g, Inner.__qualname__, Inner.g.fget.__qualname__


def f_strings(p):
    x = Box(p, "x")
    return f"{p('a', 1)!r:>{p('width', 5)}}|{x.b}|{x[1]}|{p('c', 2.5):.2f}|{p('d', 3)=}|{{}}"


def loops(p):
    out = []
    for i in p("range", range(5)):
        if i == 1:
            continue
        if i == 3:
            break
        out.append(i)
    else:
        out.append("else")
    for i in p("empty", ()):
        pass
    else:
        out.append("else2")
    while p("while", len(out) < 4):
        out.append(0)
    else:
        out.append("done")
    return out, i


def loop_targets(p):
    x = Box(p, "x")
    for p("obj", x)[p("k", 0)], (a, *x.rest) in p("it", [(1, (2, 3)), (4, (5, 6, 7))]):
        p("body")
    return x.items, a, x.rest


class Context:
    def __init__(self, p, name, swallow=False):
        self.p, self.name, self.swallow = p, name, swallow

    def __enter__(self):
        return self.p(f"enter {self.name}", self.name)

    def __exit__(self, kind, value, trace):
        self.p(f"exit {self.name} {kind}")
        return self.swallow


def context_managers(p):
    x = Box(p, "x")
    with Context(p, "a") as p("obj", x)[p("k", 0)], Context(p, "b", True) as (c):
        p("body")
        raise ValueError("swallowed")
    with Context(p, "c"):
        return x.items, c


def exceptions(p):
    try:
        p("body")
        raise p("class", KeyError)(p("arg", 1)) from p("cause", ValueError("x"))
    except p("other", TypeError):
        p("never")
    except (p("first", IndexError), p("second", KeyError)) as error:
        caught = error.args, repr(error.__cause__)
    else:
        p("never")
    finally:
        p("finally")
    return caught


def exception_groups(p):
    try:
        raise ExceptionGroup("g", [ValueError(1), TypeError(2), KeyError(3)])
    except* p("v", ValueError) as group:
        p(repr(group.exceptions))
    except* (TypeError, KeyError) as group:
        p(repr(group.exceptions))


def asserts(p):
    assert p("fine", True), p("never", "message")
    assert p("test", []), p("message", "text")


def matching(p):
    out = []
    for subject in (1, "two", [1, 2, 3], {"k": 5, "l": 6}, 3.5, None, (), [7], b"x", {"z": 1}):
        match p("subject", subject):
            case 1 | -2:
                out.append("one")
            case str(text) if p("guard", text == "two"):
                out.append(text)
            case [x, *rest] if rest:
                out.append((x, rest))
            case {"k": value, **others}:
                out.append((value, others))
            case float() as number:
                out.append(number)
            case None:
                out.append("none")
            case [] | [7]:
                out.append("short")
            case _:
                out.append("other")
    return out


def star_arguments_of_methods(p):
    x = [3, 1, 2]
    x.sort(**p("options", {"reverse": True}))
    x.extend(*p("args", [[9]]))
    return x


def lambdas(p):
    f = lambda a, *b, c=p("default", 3), **d: p("body", (a, b, c, d))
    return f(1, 2, e=5), (lambda: p("inner", 1))()


def generators(p):
    def inner(n):
        for i in range(n):
            sent = yield p("yield", i)
            p(f"sent {sent}")
        yield from p("from", [7, 8])
        return "end"

    def outer():
        result = yield from inner(2)
        yield result

    return list(outer())


def coroutines(p):
    class Ready:
        def __await__(self):
            yield p("suspended", 1)
            return p("resumed", 2)

    class Manager:
        async def __aenter__(self):
            return p("enter", 5)

        async def __aexit__(self, *args):
            p("exit")

    async def numbers():
        yield 1
        yield await Ready()

    async def inner():
        async with Manager() as m:
            found = [x async for x in numbers()]
        async for y in numbers():
            found.append(y)
        return found, m, await Ready()

    coroutine = inner()
    try:
        while True:
            coroutine.send(None)
    except StopIteration as stop:
        return stop.value


def lifetimes(p):
    class Dying:
        def __init__(self, name):
            self.name = name

        def __iadd__(self, other):
            return other

        def __del__(self):
            p(f"died {self.name}")

    box = [None, None]
    box[0], y = Dying("a"), Dying("b")
    p("two live")
    box[0] = None
    y = p("one lives")
    box[1] = z = Dying("c")
    z = None
    box[1] = p("replaced", Dying("d"))
    box[1] += p("operand", Dying("e"))
    del box[1]
    p("none lives")
    for box[0] in (Dying("f"), Dying("g")):
        p("body")
    [box[0] for box[0] in [Dying("h")]]
    p("end", Dying("i")).name
