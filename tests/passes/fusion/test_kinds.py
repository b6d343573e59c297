"""Fusion kinds by name. Oracle: the mathematics written out beside each case."""

import pytest

from runmat_jit.core.config import FUSION_KINDS
from runmat_jit.passes.fusion.grower import grow
from runmat_jit.passes.fusion.kinds import KINDS, enabled_kinds, permitted_merges
from runmat_jit.passes.pipeline import optimize
from tests.graph.written import written

SHAPE = (2, 30, 40)
IMAGES = f"float32{list(SHAPE)}"


def mean(x, axes=(1, 2), count=1200.0):
    total = f"sum({x}, axis={axes}, dtype='float32', keepdims=True)"
    wide = f"divide(cast({total}, dtype='float64'), float64({count}))"
    return f"cast({wide}, dtype='float32')"


def normalized(
    *,
    sigma="sqrt(add({variance}, 1e-06))",
    axes=(1, 2),
    count=1200.0,
    squares_count=1200.0,
    clamped="maximum({shifted}, 0.0)",
    gamma="power({clamped}, 1.8, exponent=1.8)",
):
    centered = f"subtract($0, {mean('$0', axes, count)})"
    variance = mean(f"square({centered})", axes, squares_count)
    whitened = f"divide({centered}, {sigma.format(variance=variance)})"
    shifted = f"subtract(multiply({whitened}, 1.0123), 0.02)"
    return gamma.format(clamped=clamped.format(shifted=shifted))


def labels(*expressions, disabled=()):
    graph = optimize(written([IMAGES], *expressions))
    return [region.kind for region in grow(graph, frozenset(disabled))]


def test_whitening_gain_bias_clamp_and_gamma_are_image_normalize():
    assert labels(normalized()) == ["image_normalize"]


@pytest.mark.parametrize(("about", "kind"), [("$0", "image_normalize"), ("$1", None)])
def test_variances_of_images_of_several_cells_belong_to_it(about, kind):
    images, center = "float32[2, 300, 400]", mean("$0", count=120_000.0)
    variance = f"var({about}, axis=(1, 2), ddof=0, keepdims=True)"
    whitened = f"divide(subtract($0, {center}), sqrt(add({variance}, 1e-06)))"
    shifted = f"subtract(multiply({whitened}, 1.0123), 0.02)"
    graph = optimize(
        written([images, images], f"power(maximum({shifted}, 0.0), 1.8, exponent=1.8)")
    )
    assert (kind == "image_normalize") == ("image_normalize" in [r.kind for r in grow(graph)])


def test_a_metric_of_the_result_belongs_to_it():
    out = normalized()
    error = f"sum(square(subtract({out}, $0)), axis=(0, 1, 2), dtype='float32', keepdims=False)"
    assert labels(out, error) == ["image_normalize"]


@pytest.mark.parametrize(
    "changed",
    [
        {"sigma": "add(sqrt({variance}), 1e-06)"},
        {"sigma": "sqrt({variance})"},
        {"squares_count": 1199.0},
        {"count": 1199.0},
        {"clamped": "{shifted}"},
        {"clamped": "absolute({shifted})"},
        {"gamma": "exp({clamped})"},
    ],
    ids=str,
)
def test_what_only_looks_like_it_keeps_the_general_name(changed):
    assert labels(normalized(**changed)) == ["map_reduce_broadcast"]


@pytest.mark.parametrize(("axes", "count"), [((0, 1), 60.0), ((2,), 40.0), ((0, 1, 2), 2400.0)])
def test_statistics_over_other_axes_keep_the_general_name(axes, count):
    found = labels(normalized(axes=axes, count=count, squares_count=count))
    assert "image_normalize" not in found


def test_a_name_alone_is_switched_off_without_a_change_of_regions():
    assert labels(normalized(), disabled=["image_normalize"]) == ["map_reduce_broadcast"]


def test_kinds_build_on_one_another():
    builds_on = {
        "elementwise": set(FUSION_KINDS),
        "reduction": {
            *("reduction", "map_reduce_broadcast", "image_normalize"),
            *("power_step_normalize", "explained_variance"),
        },
        "map_reduce_broadcast": {
            *("map_reduce_broadcast", "image_normalize", "power_step_normalize"),
        },
        "matmul_epilogue": {"matmul_epilogue", "centered_gram"},
    }
    for name in FUSION_KINDS:
        left = {each.name for each in enabled_kinds(frozenset({name}))}
        assert left == set(FUSION_KINDS) - builds_on.get(name, {name})


def test_parents_come_before_their_children():
    names = ["", *(kind.name for kind in KINDS)]
    assert all(kind.parent in names[: names.index(kind.name)] for kind in KINDS)
    assert tuple(names[1:]) == FUSION_KINDS


def test_switching_a_kind_off_takes_the_merges_of_its_descendants():
    assert permitted_merges(frozenset({"reduction"})) == {"elementwise"}
    assert permitted_merges(frozenset({"elementwise"})) == frozenset()
    assert len(permitted_merges(frozenset())) == 3


def test_every_kind_says_what_it_is():
    assert all(kind.doc.endswith(".") for kind in KINDS)
