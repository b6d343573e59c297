"""Pages in headless Chromium: what a reader would see of them at some width."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
PHONE, DESKTOP = 390, 1200
_MEASURE = """
const frame = document.querySelector("iframe"), page = frame.contentDocument;
const texts = [...page.querySelectorAll("h1,h2,p,li,summary")]
  .filter(e => !e.closest(".wide")).map(e => e.getBoundingClientRect());  // what does not scroll
document.querySelector("pre").textContent = JSON.stringify({
  width: page.documentElement.scrollWidth,
  text_right: Math.max(0, ...texts.map(r => r.right)),
  font: parseFloat(frame.contentWindow.getComputedStyle(page.body.firstElementChild).fontSize),
  plots: [...page.querySelectorAll("svg,img")].filter(e => e.getBoundingClientRect().height > 9
    && (e.tagName != "IMG" || e.naturalWidth > 9)).length,
  loaded: frame.contentWindow.performance.getEntriesByType("resource")
    .filter(e => !e.name.startsWith("data:")).length,
});
"""


def seen(page: str, width: int, scratch: Path) -> dict[str, float]:
    """Return what a browser lays out: widths in pixels, plots drawn, files loaded from outside.

    Skips the test where there is no browser.
    """
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if browser is None:
        pytest.skip(f"no browser here: none of {', '.join(NAMES)} is installed")
    outer = scratch / f"outer{width}.html"
    outer.write_text(
        f'<!doctype html><meta charset=utf-8><iframe width={width} height=800 srcdoc="'
        f'{html.escape(page)}"></iframe><pre></pre><script>onload = () => {{{_MEASURE}}}</script>'
    )
    profile = f"--user-data-dir={scratch / 'profile'}"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", profile]
    command = [browser, *flags, "--enable-logging=stderr", "--dump-dom", outer.as_uri()]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    errors = re.findall(r".*CONSOLE.*", run.stderr)
    assert not errors, errors
    (found,) = re.findall(r"</iframe><pre>(.*?)</pre>", run.stdout)
    return json.loads(html.unescape(found))
