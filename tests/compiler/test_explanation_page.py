"""Pages of explanations. Oracles: the text of the explanation, the source, and a real browser."""

import html
import inspect
import os
import pickle
import re
import time
from html.parser import HTMLParser

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.core.reasons import CAUSES
from tests.browser import DESKTOP, PHONE, seen

VOID = {"meta", "br", "circle", "rect", "path", "link"}


@runmat.jit
def shown(x, k):
    y = np.exp(-x * k) * np.sin(x)  # kernel
    total = 0.0
    for i in range(1, len(x)):  # loop
        total = 0.9 * total + y[i] * x[i - 1]  # loop
    s = np.sort(y)  # numpy
    name = f"<b>&{os.getpid()}"  # python
    z = y - y.mean()  # kernel
    return z / z.std(), total, s, name  # kernel


@pytest.fixture
def explanation():
    x = np.linspace(0, 5, 3000)
    for _ in range(3):
        shown(x, 1.5)
    return shown.explain(x, 1.5)


def page_of(explanation, tmp_path):
    explanation.to_html(tmp_path / "page.html")
    return (tmp_path / "page.html").read_text()


class Balance(HTMLParser):
    """The tags that are open at the end of a page, and those that were closed out of order."""

    def __init__(self):
        super().__init__()
        self.open, self.wrong = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if self.open[-1:] == [tag]:
            self.open.pop()
        elif tag not in VOID:
            self.wrong.append(tag)


def test_each_line_has_the_color_of_what_became_of_it(explanation, tmp_path):
    page = page_of(explanation, tmp_path)
    lines, first = inspect.getsourcelines(shown.__wrapped__)
    expected = {
        number: line.rsplit("# ")[-1].strip()
        for number, line in enumerate(lines, first)
        if "  # " in line
    }
    rows = re.findall(r'<div class="row (\w*)"[^>]*><i>(\d+)</i><b>(.*?)</b>', page)
    assert [html.unescape(text) for _, _, text in rows] == [line.rstrip() for line in lines]
    assert {int(number): state for state, number, _ in rows if state} == expected


def test_a_page_is_whole_and_loads_nothing(explanation, tmp_path):
    page = page_of(explanation, tmp_path)
    assert not re.search(r"https?:|<script|<link|src=|@import|url\(", page)
    balance = Balance()
    balance.feed(page)
    assert (balance.open, balance.wrong) == ([], [])
    assert "<b>&{" not in page


def test_the_page_has_each_kernel_and_each_cause(explanation, tmp_path):
    page = html.unescape(page_of(explanation, tmp_path))
    launches = [
        launch
        for program in explanation.behind.programs
        for group in program.lowered.launches
        for launch in group
    ]
    assert len(launches) >= 2
    assert page.count("<pre>") == len({launch.kernel for launch in launches})
    ids = {reason.id for reason in explanation.reasons}
    assert ids
    assert all(CAUSES[name].hint in page for name in ids)


def test_an_explanation_that_traveled_has_a_page_without_source(explanation, tmp_path):
    copy = pickle.loads(pickle.dumps(explanation))
    assert copy == explanation
    page = page_of(copy, tmp_path)
    assert "total = 0.9" not in page
    assert "map_reduce_broadcast" in page


def test_two_hundred_operations_make_a_page_soon(tmp_path):
    @runmat.jit
    def long(x):
        for _ in "." * 100:  # no loop that runs natively
            x = np.sort(np.sin(x))
        return x

    explanation = long.explain(np.ones(40))
    assert len(explanation.regions) >= 200
    start = time.process_time()
    page = page_of(explanation, tmp_path)
    assert len(page) < 200_000
    assert time.process_time() - start < 3  # takes 0.01 s


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_a_browser_shows_the_page(explanation, tmp_path, width):
    found = seen(page_of(explanation, tmp_path), width, tmp_path)
    assert found["width"] <= width
    assert found["text_right"] <= width
    assert found["font"] >= 14
    assert found["plots"] == 2
    assert found["loaded"] == 0
