"""How the page looks, on screens wide and narrow, light and dark, and on paper; and its few lines of script."""

from __future__ import annotations

import base64
import hashlib

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1b1d1f; --quiet: #565c62; --rule: #dcdfe3; --shade: #f4f5f6;
  --s0: #0b5c8f; --s1: #a8430a; --s2: #1c6b4a; --s3: #7a4a8f; --s4: #6b5b00; --warn: #a8430a; --tint: 11 92 143;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15181b; --ink: #e4e6e8; --quiet: #a2a9b0; --rule: #363c42; --shade: #1f2327;
    --s0: #74b9e6; --s1: #f0996a; --s2: #71c9a3; --s3: #c9a0dc; --s4: #d8c65a; --warn: #f0996a; --tint: 116 185 230;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: anywhere;
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif;
}
main { max-width: 46rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: .2rem 0 1rem; font-weight: 650; letter-spacing: -.01em; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 0 0 .8rem; font-weight: 650; }
h3 { font-size: 1rem; margin: 1.8rem 0 .4rem; font-weight: 650; }
section { margin-top: 2.6rem; padding-top: 1.6rem; border-top: 1px solid var(--rule); }
p, ul, dl, figure { margin: .7rem 0; }
ul { padding-left: 1.2rem; } li { margin: .25rem 0; }
a { color: var(--s0); }
code, pre {
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: .875em;
}
.over { color: var(--quiet); font-size: .875rem; margin: 0; }
.quiet, figcaption, caption, small { color: var(--quiet); }
small { font-size: .8125rem; } figcaption { font-size: .875rem; margin-top: .4rem; }
pre code { font-size: 1em; }
.lead { font-size: 1.15rem; line-height: 1.5; }
.warn { border-left: 3px solid var(--warn); padding: .1rem 0 .1rem .8rem; }
.flag { color: var(--warn); font-weight: 600; }
nav ul { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .2rem 1rem; font-size: .9rem; }
nav li { margin: 0; }
dl { margin-left: 0; } dt { color: var(--quiet); font-size: .8125rem; } dd { margin: 0; }
.figures { display: flex; flex-wrap: wrap; gap: 1rem 3rem; margin: 1.4rem 0; }
.figures dd { font-size: 1.9rem; line-height: 1.2; font-weight: 650; }
.figures div:first-child dd { color: var(--s0); }
.figures dd small { display: block; font-weight: 400; }
.cells { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); gap: .5rem 1rem; }
.cells dd { font-size: .9rem; }
.print div {
  display: grid; grid-template-columns: 9rem 1fr; gap: 0 1rem; padding: .3rem 0; border-bottom: 1px solid var(--rule);
}
.print dd { font-size: .9rem; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-size: .875rem; padding: 0 0 .4rem; caption-side: top; }
th, td { text-align: left; vertical-align: top; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid var(--rule); }
th { font-weight: 400; }
td, thead th { overflow-wrap: break-word; }
thead th { color: var(--quiet); font-size: .8125rem; border-bottom-color: var(--quiet); vertical-align: bottom; }
th:last-child, td:last-child { padding-right: 0; }
.n { text-align: right; white-space: nowrap; overflow-wrap: normal; }
th small, td small { display: block; }
tr.noted td { border-bottom: 0; padding-bottom: .1rem; }
tr.note td { padding-top: 0; }
.first th { font-weight: 650; }
.columns th[scope=row] { min-width: 7rem; max-width: 16rem; }
.columns .range { min-width: 6rem; max-width: 18rem; }
.bars { table-layout: fixed; }
.bars th:first-child { width: 38%; } .bars .n { width: 22%; white-space: normal; }
.bars tbody th, .bars td { vertical-align: middle; }
.confusion { width: auto; min-width: min(22rem, 100%); }
.confusion td, .confusion thead th + th { text-align: right; padding: .4rem .6rem; white-space: nowrap; }
.confusion th[scope=row] { max-width: 14rem; min-width: 5rem; }
.confusion td { border: 1px solid var(--paper); }
.confusion td.right { font-weight: 650; }
.confusion.dense { font-size: .75rem; } .confusion.dense th[scope=row] { white-space: nowrap; }
.confusion th:first-child { position: sticky; left: 0; background: var(--paper); }
.confusion.dense td, .confusion.dense thead th + th { padding: .25rem .35rem; }
details { margin: .8rem 0; } summary { cursor: pointer; color: var(--s0); font-size: .9rem; padding: .2rem 0; }
.copy { position: relative; }
pre { background: var(--shade); border-radius: 4px; padding: .8rem 1rem; margin: .5rem 0; white-space: pre-wrap; }
.copy pre { padding-right: 5rem; }
button { position: absolute; top: .5rem; right: .5rem; font: inherit; font-size: .8125rem; color: var(--ink);
  background: var(--paper); border: 1px solid var(--quiet); border-radius: 4px; padding: .2rem .6rem; cursor: pointer; }
:focus-visible { outline: 2px solid var(--s0); outline-offset: 2px; }
svg { display: block; width: 100%; height: auto; }
svg.wide { max-width: 680px; } svg.narrow { display: none; }
svg.strip { height: 1.25rem; }
svg text { font-size: 12px; fill: var(--quiet); }
svg text.label { fill: var(--ink); }
.grid { stroke: var(--rule); } .axis { stroke: var(--quiet); }
.grid, .axis, .whisker, .tick { vector-effect: non-scaling-stroke; }
.level { stroke: var(--quiet); stroke-dasharray: 2 4; stroke-width: 1.5; }
.mark { stroke: var(--warn); stroke-dasharray: 5 4; } .wedge { fill: var(--warn); }
.curve { fill: none; stroke: var(--hue); stroke-width: 2; stroke-linejoin: round; }
.dot { fill: var(--hue); } .bubble { fill: var(--hue); fill-opacity: .55; stroke: var(--hue); }
svg text.end { fill: var(--hue); } svg text.end.quiet { fill: var(--quiet); }
.s0 { --hue: var(--s0); } .s1 { --hue: var(--s1); } .s2 { --hue: var(--s2); } .s3 { --hue: var(--s3); }
.s4 { --hue: var(--s4); } .back { --hue: var(--rule); }
.curve.s1 { stroke-dasharray: 8 3; } .curve.s2 { stroke-dasharray: 2 3; } .curve.s3 { stroke-dasharray: 8 3 2 3; }
.curve.s4 { stroke-dasharray: 4 4; } .curve.back { stroke-width: 1.5; } .curve.solid { stroke-dasharray: none; }
.up { fill: var(--s0); fill-opacity: .7; } .down { fill: var(--s1); fill-opacity: .7; }
.whisker { stroke: var(--ink); fill: none; stroke-width: 1.5; } .tick { stroke: var(--ink); stroke-width: 2.5; }
.span { fill: var(--s0); fill-opacity: .45; }
@media (max-width: 40rem) {
  main { padding: 1.5rem 1rem 3rem; }
  h1 { font-size: 1.5rem; } .lead { font-size: 1.05rem; } .figures dd { font-size: 1.6rem; }
  svg.wide { display: none; } svg.narrow { display: block; }
  table { font-size: .84rem; } th, td { padding-right: .55rem; }
  .columns th[scope=row] { min-width: 5.5rem; } .columns .range { min-width: 4.5rem; }
  .bars th:first-child { width: 36%; } .bars .n { width: 34%; }
  .print div { grid-template-columns: 1fr; }
}
@media print {
  :root {
    color-scheme: light;
    --paper: #fff; --ink: #000; --quiet: #444; --rule: #ccc; --shade: #f4f4f4; --tint: 11 92 143;
    --s0: #0b5c8f; --s1: #a8430a; --s2: #1c6b4a; --s3: #7a4a8f; --s4: #6b5b00; --warn: #a8430a;
  }
  @page { margin: 16mm 15mm; }
  html { font-size: 13px; }
  body { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main { max-width: none; padding: 0; }
  nav, button { display: none; }
  section { margin-top: 1.4rem; padding-top: 1rem; }
  h2, h3, h2 + p, h3 + p, caption, summary { break-after: avoid; }
  p { orphans: 3; widows: 3; }
  #use, #print { break-inside: avoid; }
  tr, figure, pre, li, .figures, .example, .bars, .confusion, .proof, .race { break-inside: avoid; }
  thead { display: table-header-group; }
  tr.noted { break-after: avoid; }
  .scroll { overflow: visible; }
  .confusion.dense { font-size: 6.5pt; } .confusion th:first-child { position: static; }
  .confusion.dense td, .confusion.dense thead th + th { padding: .1rem .2rem; }
  svg.wide { display: block; } svg.narrow { display: none; }
  .copy pre { padding-right: 1rem; }
}
""".strip()

# The buttons are hidden until the script that makes them work has run.
SCRIPT = """
for (const box of document.querySelectorAll(".copy")) {
  const button = box.querySelector("button"), code = box.querySelector("code");
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}
""".strip()

# Nothing is loaded, and no script runs but ours: whatever a cell of the data may hold, it stays text.
_DIGEST = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_DIGEST}'; base-uri 'none'"
