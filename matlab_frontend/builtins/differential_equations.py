"""Initial value problems: ``ode45`` and ``ode23`` with the options of ``odeset``.

Both are explicit Runge-Kutta pairs with steps controlled by the error that the pair estimates:
Dormand and Prince's of orders 5 and 4, Bogacki and Shampine's of orders 3 and 2. Between steps the
solution is a polynomial of the same order; four points a step are given by ``ode45`` where no
times are asked for. Sources: Dormand and Prince (1980), Shampine and Reichelt (1997).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from matlab_frontend.builtins.registry import Builtin, Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Struct, Value, count_of
from matlab_frontend.values.make import column, empty, reverse, struct, text, wrap
from matlab_frontend.values.read import known, number_of, struct_of, text_of
from runmat_jit.core.frozen import frozen

Slope = Callable[[float, np.ndarray], np.ndarray]
_OPTIONS = (
    *("AbsTol", "BDF", "Events", "InitialSlope", "InitialStep", "Jacobian", "JConstant"),
    *("JPattern", "Mass", "MassSingular", "MaxOrder", "MaxStep", "MinStep", "NonNegative"),
    *("NormControl", "OutputFcn", "OutputSel", "Refine", "RelTol", "Stats", "Vectorized"),
)
_UNDERSTOOD = ("AbsTol", "InitialStep", "MaxStep", "Refine", "RelTol", "Stats", "Vectorized")


@frozen
class Pair:
    """A Runge-Kutta pair: where its stages are, their weights, and those of the error.

    ``dense[k]`` are the coefficients of stage k in the powers 1, 2, ... of the part of a step.
    """

    order: int
    nodes: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]
    error: tuple[float, ...]
    dense: tuple[tuple[float, ...], ...]
    refine: int


DORMAND_PRINCE = Pair(
    order=5,
    nodes=(1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0),
    weights=(
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    ),
    error=(71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40),
    dense=(
        (1.0, -183 / 64, 37 / 12, -145 / 128),
        (0.0, 0.0, 0.0, 0.0),
        (0.0, 1500 / 371, -1000 / 159, 1000 / 371),
        (0.0, -125 / 32, 125 / 12, -375 / 64),
        (0.0, 9477 / 3392, -729 / 106, 25515 / 6784),
        (0.0, -11 / 7, 11 / 3, -55 / 28),
        (0.0, 3 / 2, -4.0, 5 / 2),
    ),
    refine=4,
)
BOGACKI_SHAMPINE = Pair(
    order=3,
    nodes=(1 / 2, 3 / 4, 1.0),
    weights=((1 / 2,), (0.0, 3 / 4), (2 / 9, 1 / 3, 4 / 9)),
    error=(-5 / 72, 1 / 12, 1 / 9, -1 / 8),
    dense=((1.0, -4 / 3, 5 / 9), (0.0, 1.0, -2 / 3), (0.0, 4 / 3, -8 / 9), (0.0, -1.0, 1.0)),
    refine=1,
)


PAIRS: Mapping[str, Pair] = {"ode45": DORMAND_PRINCE, "ode23": BOGACKI_SHAMPINE}


@builtin("odeset")
def odeset(_: Call, *arguments: Value) -> Value:
    """Options of the solvers by name; those that are not given are []."""
    held: dict[str, Value] = dict.fromkeys(_OPTIONS, empty())
    rest = list(arguments)
    while rest and isinstance(rest[0], Struct):
        given: dict[str, Value] = struct_of(rest.pop(0)).data.item()
        held.update({name: value for name, value in given.items() if count_of(value)})
    for at in range(0, len(rest), 2):
        name = _option(text_of(rest[at], "The name of an option"))
        if at + 1 == len(rest):
            raise MatlabError("MATLAB:odeset:ArgNameValueMismatch", f"'{name}' has no value.")
        held[name] = rest[at + 1]
    return struct(held)


def _option(given: str) -> str:
    exact = [name for name in _OPTIONS if name.lower() == given.lower()]
    found = exact or [name for name in _OPTIONS if name.lower().startswith(given.lower())]
    if len(found) != 1:
        raise MatlabError("MATLAB:odeset:InvalidPropName", f"Unrecognized option '{given}'.")
    return found[0]


@builtin("odeget")
def odeget(_: Call, options: Value, name: Value, default: Value | None = None) -> Value:
    """An option, or a default value where it is []."""
    held = struct_of(options).data.item().get(_option(text_of(name)), empty())
    return default if default is not None and count_of(held) == 0 else held


@frozen
class Control:
    """How steps are chosen; times in the unit of the problem."""

    relative: float
    absolute: np.ndarray
    longest: float
    first: float | None
    refine: int


def _control(call: Call, options: Value | None, pair: Pair, times: np.ndarray) -> Control:
    held: dict[str, Value] = {}
    if options is not None and count_of(options) != 0:
        held = struct_of(options).data.item()
    for name, value in held.items():
        if count_of(value) and name not in _UNDERSTOOD:
            raise MatlabError("MATLAB:ode:option", f"The option '{name}' is not supported here.")

    def number(name: str) -> float | None:
        value = held.get(name)
        return number_of(call.engine, value) if value is not None and count_of(value) else None

    tolerance = held.get("AbsTol")
    absolute = (
        1e-6 if tolerance is None or not count_of(tolerance) else known(call.engine, tolerance)
    )
    span = abs(times[-1] - times[0])
    refine = number("Refine")
    return Control(
        relative=max(number("RelTol") or 1e-3, 100 * np.finfo(float).eps),
        absolute=np.asarray(absolute, float).ravel(),
        longest=number("MaxStep") or 0.1 * span,
        first=number("InitialStep"),
        refine=pair.refine if refine is None else int(refine),
    )


def _solver(name: str, pair: Pair, doc: str) -> Builtin:
    def run(
        call: Call,
        function: Value,
        span: Value,
        start: Value,
        options: Value | None = None,
        *more: Value,
    ) -> Value | tuple[Value, ...]:
        times = known(call.engine, span).ravel().astype(float)
        y = (
            known(call.engine, start)
            .ravel(order="F")
            .astype(np.result_type(known(call.engine, start), float))
        )
        forth = np.sign(times[-1] - times[0]) if times.size > 1 else 0.0
        if times.size < 2 or np.any(np.diff(times) * forth <= 0):
            raise MatlabError(
                f"MATLAB:{name}:TspanNotMonotonic",
                "The times must strictly increase or decrease, from the first to the last.",
            )
        slope = _slope(call, name, function, more, y.size)
        control = _control(call, options, pair, times)
        problem = Problem(pair, slope, times, control)
        if call.outputs == 1:
            return _solution(name, list(_steps(call, problem, y)), times[0], y)
        reached, states = _integrate(call, problem, y)
        return column(reached), wrap("double", reverse(states))

    return Builtin(name, run, 3, None, doc)


def _slope(call: Call, name: str, function: Value, more: Sequence[Value], count: int) -> Slope:
    """The right-hand side as a function of NumPy's vectors."""

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        state = wrap("double", y.reshape(1, -1).copy())
        made = known(call.engine, call.interpreter.call_one(function, float(t), state, *more))
        if made.size != count or (made.ndim == 2 and made.shape[1] != 1):
            raise MatlabError(
                f"MATLAB:{name}:SizeIC",
                f"The function must return a column of {count} elements, as many as y0 has.",
            )
        return made.ravel()

    return slope


@frozen
class Problem:
    """What is solved: a pair, the right-hand side, the asked times, and how steps are chosen."""

    pair: Pair
    slope: Slope
    times: np.ndarray
    control: Control

    @property
    def threshold(self) -> np.ndarray:
        """The size of a component below which its error counts absolutely."""
        return self.control.absolute / self.control.relative


@frozen
class Step:
    """One step: where it begins and ends, its slopes, and its relative error."""

    t: float
    y: np.ndarray
    size: float
    stages: list[np.ndarray]
    end: float
    after: np.ndarray
    error: float


def _solution(name: str, steps: Sequence[Step], t: float, y: np.ndarray) -> Value:
    """The solution as one value: the ends of the steps, and their slopes for :func:`deval`."""
    times = [t, *(step.end for step in steps)]
    states = [y, *(step.after for step in steps)]
    stages = [np.zeros((len(PAIRS[name].dense), y.size)), *(np.array(s.stages) for s in steps)]
    return struct(
        {
            "solver": text(name),
            "x": wrap("double", np.array(times).reshape(-1, 1)),
            "y": wrap("double", np.array(states)),
            "idata": struct({"f3d": wrap("double", np.array(stages))}),
        }
    )


@builtin("deval")
def deval(
    call: Call, solution: Value, at: Value, components: Value | None = None
) -> Value | tuple[Value, ...]:
    """A solution at some times, and its derivative: a column for each of them.

    It is what the solver's own formula between the ends of a step says.
    """
    if not isinstance(solution, Struct):
        solution, at = at, solution  # MATLAB takes them in either order
    held = struct_of(solution).data.item()
    if text_of(held.get("solver", text(""))) not in PAIRS or "idata" not in held:
        message = "The solution must be a structure that ode45 or ode23 has given."
        raise MatlabError("MATLAB:deval:SolNotFromDiffEqSolver", message)
    pair = PAIRS[text_of(held["solver"])]
    times = known(call.engine, held["x"]).ravel()
    states = known(call.engine, held["y"]).T
    stages = known(call.engine, struct_of(held["idata"]).data.item()["f3d"]).T
    wanted = known(call.engine, at).ravel(order="F").astype(float)
    forth = np.sign(times[-1] - times[0]) or 1.0
    if np.any((wanted - times[0]) * forth < 0) or np.any((times[-1] - wanted) * forth < 0):
        message = "Attempting to evaluate the solution outside the interval where it is defined."
        raise MatlabError("MATLAB:deval:SolOutsideInterval", message)
    values, slopes = [], []
    for moment in wanted:
        end = int(np.clip(np.searchsorted(times * forth, moment * forth), 1, times.size - 1))
        size = times[end] - times[end - 1]
        step = Step(
            *(times[end - 1], states[end - 1], size, list(stages[end])),
            *(times[end], states[end], 0.0),
        )
        part = (moment - times[end - 1]) / size
        values.append(step.after if part == 1 else _between(pair, step, part))
        slopes.append(_slope_between(pair, step, part))
    rows = np.arange(states.shape[1])
    if components is not None:
        rows = known(call.engine, components).ravel().astype(int) - 1
    tables = [np.array(each).reshape(wanted.size, -1) for each in (values, slopes)]
    made = [wrap("double", table[:, rows]) for table in tables]
    return tuple(made) if call.outputs > 1 else made[0]


def _integrate(call: Call, problem: Problem, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times and states: at the asked times, or at all steps where only begin and end are given."""
    reached, states = [problem.times[0]], [y]
    for step in _steps(call, problem, y):
        for moment, state in _outputs(problem, step):
            reached.append(moment)
            states.append(state)
    return np.array(reached), np.array(states)


def _steps(call: Call, problem: Problem, y: np.ndarray) -> Iterator[Step]:
    """The steps from the first time to the last, or to where they would be too short."""
    t, end = problem.times[0], problem.times[-1]
    first = problem.slope(t, y)
    size = _first_size(problem, first, y)
    while t != end:
        step = _accepted(problem, t, y, first, size)
        if step is None:
            _warn(call, t)
            break
        yield step
        size = _next_size(problem, step, shrunk=abs(step.size) < min(size, abs(end - t)))
        t, y, first = step.end, step.after, step.stages[-1]


def _accepted(
    problem: Problem, t: float, y: np.ndarray, first: np.ndarray, size: float
) -> Step | None:
    """A step whose error is small enough; None where it would be too short for its numbers."""
    end, control, order = problem.times[-1], problem.control, problem.pair.order
    forth, least = np.sign(end - t), 16 * np.spacing(abs(t))
    size = min(max(size, least), control.longest)
    failed = False
    while True:
        last = 1.1 * size >= abs(end - t) and not failed
        size = abs(end - t) if last else size
        step = _take(problem, t, y, first, forth * size)
        if step.error <= control.relative:
            return replace(step, end=end) if last else step
        if size <= least:
            return None
        shrink = 0.5 if failed else max(0.1, 0.8 * (control.relative / step.error) ** (1 / order))
        size, failed = max(least, size * shrink), True


def _take(problem: Problem, t: float, y: np.ndarray, first: np.ndarray, size: float) -> Step:
    """A step of a size; the last slope is that of the state after it."""
    pair, stages, after = problem.pair, [first], y
    for node, weights in zip(pair.nodes, pair.weights, strict=True):
        after = y + size * np.asarray(sum(w * k for w, k in zip(weights, stages, strict=True)))
        stages.append(problem.slope(t + size * node, after))
    total = np.asarray(sum(w * k for w, k in zip(pair.error, stages, strict=True)))
    scale = np.maximum(np.maximum(np.abs(y), np.abs(after)), problem.threshold)
    error = abs(size) * float(np.max(np.abs(total / scale), initial=0.0))
    return Step(t, y, size, stages, t + size, after, np.inf if np.isnan(error) else error)


def _outputs(problem: Problem, step: Step) -> Iterator[tuple[float, np.ndarray]]:
    """The times of a step that are asked for, and the states there."""
    span = step.end - step.t
    if problem.times.size == 2:
        parts = np.arange(1, problem.control.refine) / problem.control.refine
        yield from ((step.t + span * part, _between(problem.pair, step, part)) for part in parts)
        yield step.end, step.after
        return
    parts = (problem.times - step.t) / span
    for moment, part in zip(problem.times, parts, strict=True):
        if moment == step.end:
            yield moment, step.after
        elif 0 < part < 1:
            yield moment, _between(problem.pair, step, part)


def _between(pair: Pair, step: Step, part: float) -> np.ndarray:
    """The state at a part of a step from 0 to 1."""
    powers = part ** np.arange(1, len(pair.dense[0]) + 1)
    weights = [float(np.dot(row, powers)) for row in pair.dense]
    total = sum(w * k for w, k in zip(weights, step.stages, strict=True))
    return step.y + step.size * np.asarray(total)


def _slope_between(pair: Pair, step: Step, part: float) -> np.ndarray:
    """The derivative of what :func:`_between` gives."""
    count = len(pair.dense[0])
    powers = np.arange(1, count + 1) * part ** np.arange(count)
    weights = [float(np.dot(row, powers)) for row in pair.dense]
    return np.asarray(sum(w * k for w, k in zip(weights, step.stages, strict=True)))


def _first_size(problem: Problem, first: np.ndarray, y: np.ndarray) -> float:
    control = problem.control
    if control.first is not None:
        return min(control.first, control.longest)
    rates = np.abs(first / np.maximum(np.abs(y), problem.threshold))
    rate = float(np.max(rates, initial=0.0)) / (0.8 * control.relative ** (1 / problem.pair.order))
    return 1 / rate if control.longest * rate > 1 else control.longest


def _next_size(problem: Problem, step: Step, *, shrunk: bool) -> float:
    """Five times as long at most; not longer after a step that had to shrink."""
    size = abs(step.size)
    if shrunk:
        return size
    part = 1.25 * (step.error / problem.control.relative) ** (1 / problem.pair.order)
    return float(size / max(part, 0.2))


def _warn(call: Call, t: float) -> None:
    """Say that the solution ends early: steps would have to be smaller than numbers allow."""
    message = f"Failure at t={t:e}. Unable to meet integration tolerances with steps that long."
    arguments = (text("MATLAB:ode:IntegrationTolNotMet"), text(message))
    call.interpreter.call(text("warning"), arguments, 0)


GENERATED = (
    _solver("ode45", DORMAND_PRINCE, "The solution of y' = f(t, y), by a pair of orders 5 and 4."),
    _solver("ode23", BOGACKI_SHAMPINE, "The solution of y' = f(t, y), by orders 3 and 2."),
)
