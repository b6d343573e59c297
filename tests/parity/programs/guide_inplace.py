"""Programs after NumPy's guide: operations in place and out=."""

import numpy as np

from tests.parity.program import integers, normal, positive, program, three_normal, two_normal


@program(two_normal)
def accumulate_in_place(total, x):
    total += x
    total -= 0.5
    total *= x
    total /= 2
    return total


@program(two_normal)
def results_into_out(a, b):
    out = np.empty_like(a)
    np.multiply(a, b, out=out)
    np.add(out, 1, out=out)
    returned = np.subtract(a, b, out=b)
    return out, returned is b


@program(three_normal)
def fused_update(position, velocity, force):
    dt = 0.01
    velocity += force * dt
    position += velocity * dt
    return 0.5 * (velocity**2).sum()


@program(positive)
def where_argument_of_ufuncs(x):
    out = np.zeros_like(x)
    np.log(x, where=x > 1, out=out)
    np.sqrt(x, out=out, where=x <= 1)
    return out


@program(integers, dtypes=("int64", "int32"))
def integer_updates(n):
    n += 3
    n //= 2
    n <<= 1
    n &= 0xFF
    n ^= 5
    n %= 7
    return n


@program(integers, dtypes=("int64", "int16"))
def raises_for_a_cast_in_place(n):
    n *= 2
    n /= 2
    return n


@program(normal)
def reductions_into_out(x):
    table = x[:12].reshape(3, 4)
    out = np.empty(4, dtype=x.dtype)
    table.sum(axis=0, out=out)
    largest = np.empty(3, dtype=x.dtype)
    np.max(table, axis=1, out=largest)
    return out, largest


@program(normal)
def rebinding_is_not_writing(x):
    y = x
    y = y + 1
    z = x
    z += 1
    return y - z, z is x


@program(normal)
def clip_and_round_in_place(x):
    np.clip(x, -1, 1, out=x)
    np.round(x, 1, out=x)
    return x


@program(two_normal)
def copyto_with_mask(a, b):
    np.copyto(a, b, where=b > 0)
    np.copyto(a[:3], 9)
    np.putmask(b, b < 0, 0)
    return a
