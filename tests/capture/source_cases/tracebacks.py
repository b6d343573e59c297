"""Functions of a probe that raise: the traceback's lines and columns are compared."""

DATA = {"a": 1}
NOTHING = None


def missing_attribute(p):
    x = p("x", 3)
    return (
        x
        .missing
    )


def missing_method(p):
    x = "text"
    return (
        x
        .upper()
        .no_such(
            1,
        )
    )


def failing_method(p):
    return (
        "text"
        .upper()
        .index(
            p("arg", "z"),
        )
    )


def failing_call(p):
    return int(
        p("arg", "x"),
    )


def failing_argument(p):
    return max(
        1,
        int("y"),
        2,
    )


def not_callable(p):
    return p(
        "f", 3
    )(
        1
    )


def missing_item(p):
    return DATA[
        "b"
    ]


def missing_item_store(p):
    x = (1, 2)
    x[
        0
    ] = p(
        "value"
    )


def attribute_store(p):
    x = object()
    (
        x
        .a
    ) = p("value")


def attribute_store_on_none(p):
    NOTHING.a = p("value")


def nested_store(p):
    x = (1,)
    y, x[0], z = (
        1,
        2,
        3,
    )


def augmented_type_error(p):
    x = [1]
    x[0] += \
        "a"


def augmented_name_error(p):
    x = 1
    x += (
        p("v", "a")
    )


def augmented_missing(p):
    DATA["z"] += p("never")


def missing_deletion(p):
    x = object()
    del x.a


def bad_loop(p):
    for x in (
        p("loop", 3)
    ):
        pass


def bad_comprehension(p):
    return [
        x
        for x in p("it", 3)
    ]


def bad_operator(p):
    return 1 + \
        p("a", "b")


def bad_unpack(p):
    a, b = \
        p("v", (1,))


def unknown_name(p):
    return [
        1,
        unknown,
    ]


def explicit(p):
    if p("x", 1):
        raise ValueError(
            "text"
        )


def in_inner_function(p):
    def inner(x):
        return x[
            "a"
        ]["b"]

    return inner(
        {"a": {}}
    )


def in_comprehension(p):
    return {
        x: 1 // x
        for x in (1, 0)
    }


def in_lambda(p):
    f = lambda x: x.y
    return f(1)


def in_class_body(p):
    class A:
        x = 1
        y = DATA["q"]


def in_decorator(p):
    @p("decorator", int)
    def f():
        pass


def in_default(p):
    def f(
        a=1,
        b=DATA["c"],
    ):
        pass


def context(p):
    try:
        raise KeyError(1)
    except KeyError:
        raise ValueError(2) from None
    finally:
        p("finally")


def chained(p):
    try:
        DATA["q"]
    except KeyError as error:
        raise RuntimeError("wrapped") from error


def reraised(p):
    try:
        int("a")
    except ValueError:
        p("caught")
        raise


def f_string(p):
    return f"a {DATA['q']} b"


def condition(p):
    if (
        p("a", 1)
        and DATA["w"]
    ):
        pass


def identity_of_missing(p):
    return p("a") is not None and DATA["x"] is None


def exit_of_context(p):
    import contextlib

    with contextlib.suppress(KeyError):
        int(
            "b"
        )
