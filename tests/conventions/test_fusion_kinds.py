"""One fusion kind, one name, everywhere; oracle: the list of kinds in the configuration."""

from pathlib import Path

import pytest

from runmat_jit.core.config import FUSION_KINDS

ROOT = Path(__file__).parents[2]


def mentions(kind, folder):
    return [
        path for path in sorted((ROOT / folder).rglob("*.py")) if kind in path.read_text("utf-8")
    ]


@pytest.mark.parametrize("kind", FUSION_KINDS)
def test_every_kind_has_a_page_that_begins_with_its_name(kind):
    page = ROOT / "docs" / "fusion" / f"{kind}.md"
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"# {kind}\n")
    assert f"RUNMAT_DISABLE_FUSION={kind}`" in text
    assert "```python" in text


@pytest.mark.parametrize("kind", FUSION_KINDS)
def test_every_kind_is_implemented_and_tested(kind):
    assert mentions(kind, "runmat_jit/passes/fusion")
    assert mentions(kind, "tests/parity")


def test_every_page_describes_a_kind():
    pages = {path.stem for path in (ROOT / "docs" / "fusion").glob("*.md")}
    assert pages == set(FUSION_KINDS)
