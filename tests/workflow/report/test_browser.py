"""The page in a real browser: on a phone nothing is wider than the screen, and the copy buttons work their way in.

Chromium opens no window narrower than 500 pixels, so that the page lies in a frame of a phone's width, which is what
its style sheet then sees. The frame has the page's own security policy: that its script runs under it is tested, too.
"""

from __future__ import annotations

import html
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from onlinear.workflow.report import page
from workflow.report.made_results import MAKERS, adult
from workflow.report.test_page import poisoned

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH: the page was not looked at in a browser")

LOOK = """
addEventListener("load", () => {
  const frame = document.querySelector("iframe"), inner = frame.contentDocument, view = frame.contentWindow;
  for (const fold of inner.querySelectorAll("details")) fold.open = true;
  const shown = one => one.checkVisibility() && one.getBoundingClientRect().width > 0;
  const found = {
    inside: view.innerWidth,
    scrolled: inner.documentElement.scrollWidth,
    buttons: [...inner.querySelectorAll("button")].filter(shown).length,
    wide: [...inner.querySelectorAll("svg.wide")].filter(shown).length,
    narrow: [...inner.querySelectorAll("svg.narrow")].filter(shown).length,
    small: [...inner.querySelectorAll("svg.narrow text")].filter(shown)
      .filter(text => text.getBoundingClientRect().height < 11).length,
    cut: [...inner.querySelectorAll("svg text")].filter(shown).filter(text => {
      const box = text.getBoundingClientRect(), all = text.ownerSVGElement.getBoundingClientRect();
      return box.left < all.left - 1 || box.right > all.right + 1;
    }).map(text => text.textContent),
    alarmed: typeof view.alarmed !== "undefined",
  };
  const button = inner.querySelector("button");
  if (button) button.click();
  setTimeout(() => {
    found.clicked = button && button.textContent;
    document.querySelector("pre").textContent = JSON.stringify(found);
  }, 500);
});
"""


def seen(source: str, width: int, folder: Path) -> dict[str, Any]:
    """What a browser sees of a page in a frame of this width, with everything unfolded."""
    frame = f'<iframe style="border:0;width:{width}px;height:800px" srcdoc="{html.escape(source)}"></iframe>'
    file = folder / "framed.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><script>{LOOK}</script><pre></pre>{frame}", encoding="utf-8")
    command = [
        str(CHROMIUM),
        "--headless",
        "--disable-gpu",
        f"--user-data-dir={folder / 'profile'}",
        "--dump-dom",
        "--virtual-time-budget=1500",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--no-sandbox")  # which the administrator cannot have
    ran = subprocess.run([*command, file.as_uri()], capture_output=True, text=True, timeout=120, check=True)
    return dict(json.loads(html.unescape(ran.stdout.split("<pre>")[1].split("</pre>")[0])))


@pytest.mark.parametrize("name", MAKERS)
def test_nothing_is_wider_than_a_phone(name: str, tmp_path: Path) -> None:
    result = MAKERS[name]()
    found = seen(page(result), 360, tmp_path)
    assert found["inside"] == 360
    assert found["scrolled"] <= 360
    assert found["buttons"] == sum(bool(one) for one in (*result["use"].values(), result["asked"]["command"]))
    assert (found["wide"], found["small"], found["cut"]) == (0, 0, [])


def test_a_wide_screen_shows_the_wide_pictures(tmp_path: Path) -> None:
    found = seen(page(adult()), 1200, tmp_path)
    assert found["scrolled"] <= 1200
    assert found["narrow"] == 0
    assert found["wide"] == 3  # the race, calibration, the path
    assert found["cut"] == []
    assert found["clicked"] in ("Copied", "Selected")


def test_no_script_of_the_data_runs(tmp_path: Path) -> None:
    bad = poisoned(adult())
    bad["notes"] = ["<script>alarmed = 1</script><img src=x onerror='alarmed = 1'>"]
    found = seen(page(bad), 390, tmp_path)
    assert not found["alarmed"]
    assert found["scrolled"] <= 390


def test_the_look_sees_what_is_too_wide_and_what_runs(tmp_path: Path) -> None:
    found = seen("<!doctype html><script>alarmed = 1</script><p style='width: 700px'>wide</p>", 390, tmp_path)
    assert found["alarmed"]
    assert found["scrolled"] > 390
