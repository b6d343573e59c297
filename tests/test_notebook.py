"""Notebooks, run by nbclient in a kernel of their own. Oracle: what their cells must show."""

from __future__ import annotations

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: no notebook is run")
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed: no notebook is run")
pytest.importorskip("ipykernel", reason="ipykernel is not installed: no notebook is run")


def run(*cells: str) -> list[list[dict[str, str]]]:
    """Return the outputs of each cell: their data by media type, or the text of a stream."""
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return [
        [dict(each.data) if "data" in each else {"text/plain": each.text} for each in cell.outputs]
        for cell in notebook.cells
    ]


def test_a_notebook_shows_an_explanation_with_its_source():
    *_, ((shown,)) = run(
        "import numpy as np, runmat_jit as runmat",
        "@runmat.jit\ndef wave(x):\n    return np.sin(x) * 2",
        "wave.explain(np.ones(50))",
    )
    assert "return np.sin(x) * 2" in shown["text/html"]
    assert "<div class=rm>" in shown["text/html"]
    assert "elementwise" in shown["text/plain"]
