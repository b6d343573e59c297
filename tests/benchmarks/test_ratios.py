"""Ratios of rounds; oracles: small examples by hand, and binomial tables."""

from benchmarks.ratios import ratio_of_rounds


def test_rounds_are_divided_one_by_one():
    assert ratio_of_rounds([2.0, 9.0, 4.0], [1.0, 3.0, 1.0]).median == 3.0


def test_a_slow_spell_of_the_machine_cancels():
    assert str(ratio_of_rounds([2.0, 20.0, 2.0], [1.0, 10.0, 1.0])) == "2.00x [2.00, 2.00]"


def test_fifteen_rounds_leave_out_three_at_each_end():
    ratio = ratio_of_rounds([float(k) for k in range(15, 0, -1)], [1.0] * 15)
    assert (ratio.low, ratio.median, ratio.high) == (4.0, 8.0, 12.0)
    assert 0.95 <= ratio.coverage < 0.97


def test_too_few_rounds_give_the_extremes_and_say_how_little_they_cover():
    ratio = ratio_of_rounds([1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
    assert (ratio.low, ratio.high, ratio.coverage) == (1.0, 3.0, 0.75)
