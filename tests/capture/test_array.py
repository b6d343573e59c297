"""Oracle: undecorated NumPy on the same data; for what a GPU is to transfer, telemetry."""

import copy
import dataclasses
import gc
import os
import pickle
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given, settings

import runmat_jit as runmat
from runmat_jit.capture.tape.storage import array_at, owner_of
from runmat_jit.runtime.arrays import address_of, adopted
from tests.capture.behavior import compare, module, observe
from tests.capture.random_programs import programs

EXAMPLES = 10 if os.environ.get("RUNMAT_TEST_PROFILE", "default") == "default" else 300


@pytest.fixture(params=["cpu", "gpu"])
def device(request):
    if request.param == "gpu":
        request.getfixturevalue("gpu")
    return request.param


@pytest.fixture
def transfers():
    """Bytes that went up and down since the fixture or the last look."""

    def look():
        found = runmat.telemetry.snapshot()
        runmat.telemetry.reset()
        return found["bytes_uploaded"], found["bytes_downloaded"]

    runmat.telemetry.reset()
    return look


def ramp(*shape):
    return np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)


# -- random programs -------------------------------------------------------------------------------
def resident(arrays, device):
    """Arrays of ours with the same values, in memory laid out and shared in the same way."""
    memory, made = {}, {}
    for array in arrays:
        owner = owner_of(array)
        if id(owner) not in memory:
            memory[id(owner)] = adopted(owner.copy(order="K"), device)
        if id(array) not in made:
            at = address_of(array) - address_of(owner), array.dtype, array.shape, array.strides
            view = array_at(memory[id(owner)], *at)
            if not array.flags.writeable:
                view.flags.writeable = False
            made[id(array)] = runmat.Array._over(view)
    return [made[id(array)] for array in arrays]


def shown(value, known):
    """Views in place of arrays, of ours and NumPy's: one for each."""
    if isinstance(value, runmat.Array):
        value._show()
        value = value._lend()
    if isinstance(value, np.ndarray):
        return known.setdefault(id(value), (value.view(), value))[0]
    if isinstance(value, tuple | list):
        return type(value)(shown(item, known) for item in value)
    return value


def check(program, *devices):
    """Equal inputs give equal results; calls for several devices follow on the same arrays."""
    fn = module(program.text, "random")["f"]
    decorated = {device: runmat.jit(fn, device=device) for device in devices}
    for change in (0, 0, 1):
        inputs = program.inputs(change)
        ours = (*resident(inputs[:2], devices[0]), *inputs[2:])
        for device in devices:
            expected = observe(decorated[device], inputs, {})
            found = observe(decorated[device], ours, {})
            for seen in (expected, found):
                seen.result, seen.args = shown((seen.result, seen.args), {})
            compare(expected, found, exact=True)


@settings(max_examples=EXAMPLES)
@given(program=programs("exact"))
def test_programs_give_the_same_with_arrays_and_with_ndarrays(program):
    check(program, "cpu")


@settings(max_examples=-(-EXAMPLES // 5))
@given(program=programs("smooth"))
def test_programs_of_a_gpu_give_the_same_with_arrays_and_with_ndarrays(program):
    check(program, "gpu", "cpu", "gpu")


# -- what they are ---------------------------------------------------------------------------------
def test_an_array_tells_its_facts_and_gives_its_values(device):
    x = ramp(3, 4)
    a = runmat.asarray(x, device)
    assert (a.shape, a.dtype, a.ndim, a.size, a.nbytes) == ((3, 4), np.float32, 2, 12, 48)
    assert (a.device, len(a)) == (device, 3)
    shown = np.asarray(a)
    np.testing.assert_array_equal(shown, x)
    assert not shown.flags.writeable
    changed = np.array(a)
    changed[0] = 9
    np.testing.assert_array_equal(np.asarray(a), x)
    assert np.asarray(a, np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="copy"):
        np.asarray(a, np.float64, copy=False)


def test_asarray_copies_but_its_own(device):
    x = ramp(4)
    a = runmat.asarray(x, device)
    x[0] = 7
    assert float(a[0]) == -1
    assert runmat.asarray(a) is a is runmat.asarray(a, device, np.float32) is a.to(device)
    other = a.to("cpu" if device == "gpu" else "gpu")
    assert other.device != device
    np.testing.assert_array_equal(other, a)
    assert runmat.asarray(a, dtype=np.float64).dtype == np.float64
    assert runmat.asarray([[1, 2], [3, 4]], device).shape == (2, 2)


def test_its_text_says_where_it_is_and_small_ones_show_values(device):
    a = runmat.asarray(np.array([1.5, 2.0]), device)
    assert repr(a) == f"Array([1.5, 2. ], shape=(2,), dtype=float64, device='{device}')"
    text = repr(runmat.asarray(np.zeros((30, 30), bool), device))
    assert text == f"Array(shape=(30, 30), dtype=bool, device='{device}')"


def test_one_element_is_a_number_and_more_are_none(device):
    one = runmat.asarray(np.array([2.5]), device)[0:1].reshape(())
    assert (float(one), int(one), bool(one), complex(one)) == (2.5, 2, True, 2.5)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(runmat.asarray(ramp(3), device))
    with pytest.raises(TypeError):
        len(one)
    with pytest.raises(TypeError):
        hash(one)


@pytest.mark.parametrize("wrong", [{"device": "tpu"}, {"dtype": object}, {"dtype": "U3"}])
def test_what_cannot_be_an_array_is_refused_with_advice(wrong):
    with pytest.raises(runmat.ArgumentError, match=r"there are|stay in ndarrays"):
        runmat.asarray([1, 2], **wrong)
    with pytest.raises(TypeError, match="asarray"):
        runmat.Array()


# -- calls -----------------------------------------------------------------------------------------
@dataclasses.dataclass
class Pair:
    left: object
    right: object


def several(x, y):
    z = np.tanh(x) + y
    return z, {"sum": z.sum(), "all": [z > 0, x]}, Pair(z * 2, y), "text"


def test_results_are_arrays_where_an_argument_is_one(device):
    decorated = runmat.jit(several, device=device)
    x, y = ramp(5, 3), ramp(3)
    expected = decorated(x, y)
    assert type(expected[0]) is np.ndarray
    for _ in range(3):
        a = runmat.asarray(x, device)
        z, parts, pair, text = decorated(a, y)
        assert type(z) is type(parts["all"][0]) is type(pair.left) is runmat.Array
        assert z.device == device
        assert parts["all"][1] is a
        assert pair.right is y
        assert type(parts["sum"]) is np.float32
        assert (text, parts["sum"]) == ("text", expected[1]["sum"])
        np.testing.assert_array_equal(z, expected[0])
        np.testing.assert_array_equal(pair.left, expected[2].left)


def test_an_array_inside_containers_counts_and_containers_are_changed_in_place(device):
    def fn(params, log):
        params["w"] = params["w"] * 2
        log.append(params["b"] + 1)
        return params, log

    decorated = runmat.jit(fn, device=device)
    for _ in range(3):
        w, b = runmat.asarray(ramp(4), device), runmat.asarray(ramp(3), device)
        params, log = {"w": w, "b": b}, []
        result = decorated(params, log)
        assert result[0] is params
        assert result[1] is log
        assert params["b"] is b
        assert type(params["w"]) is type(log[0]) is runmat.Array
        np.testing.assert_array_equal(params["w"], ramp(4) * 2)
        np.testing.assert_array_equal(log[0], ramp(3) + 1)
        np.testing.assert_array_equal(w, ramp(4))


def test_writes_are_seen_by_every_array_on_the_memory(device):
    def fn(x, y):
        x[1:3] *= 10
        x += y
        return x, x[::2], x.T

    decorated = runmat.jit(fn, device=device)
    for _ in range(3):
        x, y = ramp(4, 3), ramp(3)
        a = runmat.asarray(x, device)
        row, kept = a[1], np.asarray(a)
        same, half, turned = decorated(a, runmat.asarray(y, device))
        expected = fn(x, y)
        assert same is a
        for ours, theirs in zip((a, half, turned, row, kept), (*expected, x[1], x), strict=True):
            np.testing.assert_array_equal(ours, theirs)
            assert ours.strides == theirs.strides
        again = decorated(half, runmat.asarray(y, device))
        fn(expected[1], y)
        assert again[0] is half
        for ours, theirs in zip((a, half, turned, row, kept), (*expected, x[1], x), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_the_same_array_twice_is_one_argument(device):
    def fn(x, y):
        x += 1
        return x is y, y * 2

    decorated = runmat.jit(fn, device=device)
    for _ in range(3):
        a = runmat.asarray(ramp(4), device)
        same, doubled = decorated(a, a)
        assert same
        np.testing.assert_array_equal(doubled, (ramp(4) + 1) * 2)
        different, _ = decorated(a, a[:])
        assert not different


def test_ndarrays_written_beside_arrays_are_written(device):
    def fn(x, y):
        y[:2] = x[:2] * 3
        return y

    decorated = runmat.jit(fn, device=device)
    for _ in range(3):
        y = np.zeros(4, np.float32)
        assert decorated(runmat.asarray(ramp(4), device), y) is y
        np.testing.assert_array_equal(y, [-3, *(ramp(4)[1:2] * 3), 0, 0])


def test_exceptions_and_the_writes_before_them_are_numpys(device):
    def fn(x):
        x[0] = 5
        return x.reshape(7)

    decorated = runmat.jit(fn, device=device)
    for _ in range(2):
        a = runmat.asarray(ramp(4), device)
        with pytest.raises(ValueError, match="reshape"):
            decorated(a)
        assert float(a[0]) == 5


# -- effects ---------------------------------------------------------------------------------------
def added_to(x):
    x += 1


class Keeper:
    def __init__(self):
        self.kept = []

    def keep(self, x):
        self.kept.append(x)

    def write(self, x):
        x[0] = 42


def test_prints_branches_and_functions_of_numpy_see_the_values(device, capsys):
    def fn(x):
        y = x * 2
        print(y[:2])
        if y.sum() > 0:
            y = -y
        return np.sort(y)

    decorated = runmat.jit(fn, device=device)
    for sign in (1, -1, 1):
        x = sign * (ramp(5) + 0.25)
        expected = fn(x)
        found = decorated(runmat.asarray(x, device))
        assert type(found) is runmat.Array
        np.testing.assert_array_equal(found, expected)
    lines = capsys.readouterr().out.splitlines()
    assert lines[::2] == lines[1::2]


def test_what_unknown_code_keeps_shows_later_writes_and_its_own_writes_count(device):
    keeper = Keeper()
    keeping = runmat.jit(lambda x: keeper.keep(x), device=device)
    add = runmat.jit(added_to, device=device)
    double = runmat.jit(lambda x: x * 2, device=device)
    a = runmat.asarray(np.arange(4, dtype=np.float32), device)
    keeping(a)
    assert type(keeper.kept[0]) is np.ndarray
    for number in range(1, 4):
        add(a)
        np.testing.assert_array_equal(keeper.kept[0], np.arange(4) + number)
    keeper.kept[0][0] = 100
    np.testing.assert_array_equal(a, keeper.kept[0])
    np.testing.assert_array_equal(double(a), keeper.kept[0] * 2)
    keeper.kept[0][0] = 50
    np.testing.assert_array_equal(double(a), keeper.kept[0] * 2)


def test_what_unknown_code_writes_counts(device):
    keeper = Keeper()

    def fn(x):
        y = x + 1
        keeper.write(y)
        keeper.write(x)
        return y, x * 2

    decorated = runmat.jit(fn, device=device)
    double = runmat.jit(lambda x: x * 2, device=device)
    for _ in range(3):
        a = runmat.asarray(ramp(4), device)
        y, doubled = decorated(a)
        for array, first in ((y, 42), (doubled, 84), (a, 42)):
            assert float(double(array)[0]) == first * 2
            assert float(array[0]) == first


def test_functions_that_run_plain_take_arrays(device):
    def fn(x):
        x += 1
        return x * 2

    decorated = runmat.jit(fn, device=device)
    a = runmat.asarray(ramp(3), device)
    with runmat.disable():
        np.testing.assert_array_equal(decorated(a), (ramp(3) + 1) * 2)
    np.testing.assert_array_equal(a, ramp(3) + 1)
    made = runmat.jit(lambda x: (item * 2 for item in x), device=device)(a)
    assert [float(item) for item in made] == ((ramp(3) + 1) * 2).tolist()


@pytest.mark.parametrize("level", [1, 2])
def test_verified_calls_take_arrays(device, level):
    def fn(x, y):
        x += 1
        return np.sqrt(x * x + y), x[1:]

    before = runmat.config().verify
    runmat.config(verify=level)
    try:
        decorated = runmat.jit(fn, device=device)
        x, y = ramp(4, 3), ramp(3) ** 2
        a = runmat.asarray(x, device)
        for _ in range(3):
            found, rest = decorated(a, runmat.asarray(y, device))
            expected, _ = fn(x, y)
            np.testing.assert_allclose(found, expected, rtol=1e-6)
            np.testing.assert_array_equal(rest, a[1:])
    finally:
        runmat.config(verify=before)


# -- arrays from outside ---------------------------------------------------------------------------
class Model:
    def __init__(self, weight):
        self.weight = weight
        self.last = None

    def apply(self, x):
        return np.tanh(x * self.weight), x

    def step(self, x):
        self.weight -= x * 0.5
        self.last = x * self.weight
        return self.last


def test_arrays_in_attributes_and_globals_are_inputs(device):
    apply = runmat.jit(Model.apply, device=device)
    x, y = ramp(4, 3), ramp(3)
    expected = runmat.jit(Model.apply, device=device)(Model(y), x)[0]
    model = Model(runmat.asarray(y, device))
    for _ in range(3):
        found, same = apply(model, x)
        assert type(found) is runmat.Array
        assert same is x
        np.testing.assert_array_equal(found, expected)
    assert apply.cache_info().hits == 1  # the first call found the array, the second recorded
    model.weight = runmat.asarray(y * 2, device)
    again = runmat.jit(Model.apply, device=device)(Model(y * 2), x)[0]
    np.testing.assert_array_equal(apply(model, x)[0], again)
    model.weight += 1
    again = runmat.jit(Model.apply, device=device)(Model(y * 2 + 1), x)[0]
    np.testing.assert_array_equal(apply(model, x)[0], again)


def test_arrays_stored_into_objects_stay_arrays(device):
    step = runmat.jit(Model.step, device=device)
    x, plain = ramp(4), Model(ramp(4) + 1)
    weight = runmat.asarray(ramp(4) + 1, device)
    model = Model(weight)
    for _ in range(3):
        expected = plain.step(x)
        result = step(model, runmat.asarray(x, device))
        assert model.weight is weight
        assert model.last is result
        for ours, theirs in ((weight, plain.weight), (result, expected)):
            assert type(ours) is runmat.Array
            np.testing.assert_allclose(ours, theirs, rtol=1e-6)


# -- outside decorated functions -------------------------------------------------------------------
def test_operators_items_and_functions_outside_give_arrays_for_the_same_device(device):
    x = ramp(4, 3)
    a = runmat.asarray(x, device)
    for ours, theirs in (
        (a + 1, x + 1),
        (2 / (a + 3), 2 / (x + 3)),
        (a == x, x == x),
        (a[1:, ::2], x[1:, ::2]),
        (a.T @ a, x.T @ x),
        (np.concatenate([a, a]), np.concatenate([x, x])),
        (np.sin(a, dtype=np.float64), np.sin(x, dtype=np.float64)),
        (a.reshape(2, 6).max(axis=0), x.reshape(2, 6).max(axis=0)),
        (np.add.reduce(a), np.add.reduce(x)),
    ):
        assert type(ours) is runmat.Array
        assert ours.device == device
        np.testing.assert_array_equal(ours, theirs)
    assert type(a.sum()) is type(a[0, 0]) is np.float32
    a[0] = 8
    a += 1
    np.add(a, 1, out=a)
    x[0] = 8
    np.testing.assert_array_equal(a, x + 2)
    assert [row.shape for row in a] == [(3,)] * 4
    with pytest.raises(AttributeError, match="no attribute 'ctypes'"):
        _ = a.ctypes


def test_copies_and_pickles_hold_the_values(device):
    a = runmat.asarray(ramp(4), device)
    scaled = runmat.jit(lambda x: x * 2, device=device)(a)
    for made in (copy.copy(scaled), copy.deepcopy(scaled), pickle.loads(pickle.dumps(scaled))):
        assert made is not scaled
        assert made.device == device
        made[0] = 77
        np.testing.assert_array_equal(scaled, ramp(4) * 2)


def test_arrays_go_when_nobody_holds_them(device):
    a = runmat.asarray(ramp(4), device)
    result = runmat.jit(lambda x: x * 2, device=device)(a)
    gone = [weakref.ref(a), weakref.ref(result), weakref.ref(result._residence)]
    del a, result
    assert [ref() for ref in gone] == [None, None, None]
    loop = [runmat.asarray(ramp(4), device)]
    loop.append(loop)
    gone = weakref.ref(loop[0])
    del loop
    gc.collect()
    assert gone() is None


def test_threads_share_functions_and_arrays(device):
    fn = runmat.jit(lambda x, t: np.tanh(x) * t, device=device)
    a = runmat.asarray(ramp(1000), device)
    expected = {t: np.asarray(fn(ramp(1000), float(t))) for t in range(8)}
    wrong = []

    def work(t):
        for _ in range(20):
            if not np.array_equal(np.asarray(fn(a, float(t))), expected[t]):
                wrong.append(t)

    threads = [threading.Thread(target=work, args=(t,)) for t in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
