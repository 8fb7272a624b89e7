// The page of the training report: a frame with our own few lines of script that draw the curves as SVG from the log's
// lines.
#include "train/report.h"

namespace tril::train {
namespace {

constexpr const char* page_head = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Training report</title>
<style>
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #667080; --line: #d5dae1; --back: #fff; --a: #0b62c4; --b: #c2410c; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --soft: #98a2b3; --line: #39424e; --back: #14181d; --a: #6cb2ff; --b: #ffa366; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back); max-width: 1100px; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.05rem; margin: 1.5rem 0 .3rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(440px, 1fr)); gap: 1rem 2rem; }
svg { width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: var(--soft); }
.axis { stroke: var(--line); stroke-width: 1; } path { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
table { border-collapse: collapse; } td, th { text-align: left; padding: .15rem 1.2rem .15rem 0; border-bottom: 1px solid var(--line); }
td:last-child { font-family: ui-monospace, monospace; font-size: 13px; overflow-wrap: anywhere; }
.soft { color: var(--soft); } button { font: inherit; }
</style></head><body>
<h1 id="title"></h1><p id="summary"></p>
<p>Horizontal axis: <button id="axis" type="button">updates</button></p>
<div class="charts" id="charts"></div>
<h2>Options</h2><table id="options"><thead><tr><th>option</th><th>value</th></tr></thead><tbody></tbody></table>
)html";

constexpr const char* page_script = R"html(<script>
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const train = data.lines.filter(l => l.type === 'train'), valid = data.lines.filter(l => l.type === 'valid');
const charts = [
  { title: 'Training loss (with label smoothing)', unit: 'nats for each target token', rows: train, key: 'loss', color: '--a' },
  { title: 'Validation cross-entropy', unit: 'nats for each target token', rows: valid, key: 'cross_entropy', color: '--b' },
  { title: 'Validation BLEU', unit: 'BLEU', rows: valid, key: 'bleu', color: '--b' },
  { title: 'Validation chrF', unit: 'chrF', rows: valid, key: 'chrf', color: '--b' },
  { title: 'Learning rate', unit: 'rate', rows: train, key: 'learning_rate', color: '--a' },
  { title: 'Gradient norm (before clipping)', unit: 'norm', rows: train, key: 'gradient_norm', color: '--a' },
  { title: 'Speed', unit: 'target tokens a second', rows: train, key: 'tokens_per_second', color: '--a' },
];
const axes = { updates: { of: l => l.update, label: 'updates' }, minutes: { of: l => l.seconds / 60, label: 'minutes' } };
let axis = 'updates';
const show = x => Math.abs(x) >= 1000 ? Math.round(x).toLocaleString('en') : String(Number(x.toPrecision(3)));
function ticks(low, high) {
  const step = 10 ** Math.floor(Math.log10((high - low) / 4)), wide = [1, 2, 5, 10].map(f => f * step).find(s => (high - low) / s <= 6);
  const list = [];
  for (let i = Math.ceil(low / wide); i * wide <= high * (1 + 1e-12) + 1e-300; ++i) list.push(i * wide);
  return list;
}
function node(name, attributes, text) {
  const n = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [k, v] of Object.entries(attributes)) n.setAttribute(k, v);
  if (text !== undefined) n.textContent = text;
  return n;
}
function draw(chart) {
  const points = chart.rows.filter(l => typeof l[chart.key] === 'number').map(l => [axes[axis].of(l), l[chart.key]]);
  if (points.length === 0) return null;
  const W = 520, H = 260, left = 64, right = 14, top = 10, bottom = 44;
  const xs = points.map(p => p[0]), ys = points.map(p => p[1]);
  let x0 = Math.min(0, ...xs), x1 = Math.max(...xs), y0 = Math.min(...ys), y1 = Math.max(...ys);
  if (x1 <= x0) x1 = x0 + 1;
  if (y1 <= y0) { y1 = y0 + (Math.abs(y0) || 1) * .05; y0 -= (Math.abs(y0) || 1) * .05; }
  const X = x => left + (x - x0) / (x1 - x0) * (W - left - right), Y = y => H - bottom - (y - y0) / (y1 - y0) * (H - top - bottom);
  const svg = node('svg', { viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': chart.title });
  for (const t of ticks(y0, y1)) {
    svg.append(node('line', { x1: left, x2: W - right, y1: Y(t), y2: Y(t), class: 'axis' }));
    svg.append(node('text', { x: left - 6, y: Y(t) + 4, 'text-anchor': 'end' }, show(t)));
  }
  for (const t of ticks(x0, x1)) svg.append(node('text', { x: X(t), y: H - bottom + 16, 'text-anchor': 'middle' }, show(t)));
  svg.append(node('line', { x1: left, x2: W - right, y1: H - bottom, y2: H - bottom, class: 'axis' }));
  svg.append(node('text', { x: (left + W - right) / 2, y: H - 8, 'text-anchor': 'middle' }, axes[axis].label));
  svg.append(node('text', { transform: `translate(13 ${(H - bottom + top) / 2}) rotate(-90)`, 'text-anchor': 'middle' }, chart.unit));
  const color = `var(${chart.color})`;
  svg.append(node('path', { d: points.map((p, i) => `${i ? 'L' : 'M'}${X(p[0]).toFixed(1)} ${Y(p[1]).toFixed(1)}`).join(''), style: `stroke:${color}` }));
  if (points.length < 60) for (const p of points) {
    const dot = node('circle', { cx: X(p[0]), cy: Y(p[1]), r: 2.6, style: `fill:${color}` });
    dot.append(node('title', {}, `${axes[axis].label} ${show(p[0])}: ${p[1]}`));
    svg.append(dot);
  }
  const box = document.createElement('section'), heading = document.createElement('h2');
  heading.textContent = chart.title;
  box.append(heading, svg);
  return box;
}
function all() {
  document.getElementById('axis').textContent = axis;
  document.getElementById('charts').replaceChildren(...charts.map(draw).filter(Boolean));
}
document.getElementById('axis').addEventListener('click', () => { axis = axis === 'updates' ? 'minutes' : 'updates'; all(); });
document.getElementById('title').textContent = 'Training report: ' + data.title;
document.title = data.title + ', training report';
const last = data.lines[data.lines.length - 1], best = valid.filter(l => l.best).pop();
document.getElementById('summary').textContent = last === undefined ? 'Nothing reported yet.' :
  `${show(last.update)} updates, ${last.epoch} epochs, ${show(last.target_tokens)} target tokens in ${show(last.seconds / 60)} minutes.` +
  (best ? ` Best validation at update ${show(best.update)}: cross-entropy ${show(best.cross_entropy)}, perplexity ${show(best.perplexity)}` +
    (best.bleu === undefined ? '' : `, BLEU ${best.bleu.toFixed(2)}`) + (best.chrf === undefined ? '' : `, chrF ${best.chrf.toFixed(2)}`) + '.' : '');
for (const [k, v] of Object.entries(data.options)) {
  const row = document.querySelector('#options tbody').insertRow();
  row.insertCell().textContent = k;
  row.insertCell().textContent = Array.isArray(v) ? v.join(' ') : v === null ? '' : String(v);
}
all();
</script></body></html>
)html";

// JSON inside a script element: "<" may begin its end, so it is written as an escape.
std::string harmless(const std::string& json) {
  std::string out;
  for (char ch : json) {
    if (ch == '<')
      out += "\\u003c";
    else
      out += ch;
  }
  return out;
}

}  // namespace

std::string report_html(const std::string& title, const std::vector<std::string>& lines, const std::string& options) {
  std::string json = "{\"title\": " + json_quoted(title) + ", \"lines\": [";
  for (std::size_t i = 0; i < lines.size(); ++i) json += (i ? ",\n" : "\n") + lines[i];
  json += "],\n\"options\": " + options + "}";
  return std::string(page_head) + "<script type=\"application/json\" id=\"data\">" + harmless(json) + "</script>\n" +
         page_script;
}

}  // namespace tril::train
