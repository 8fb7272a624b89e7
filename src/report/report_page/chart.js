// Curves against updates, tokens or time. All charts share their horizontal axis, its visible range, and the position that is
// read.

const runs = data.runs;
const single = runs.length === 1;

const axes = {
  updates: { label: t('updates'), of: (t, i) => t.update[i] },
  tokens: { label: t('target tokens'), of: (t, i) => t.target_tokens[i] },
  minutes: { label: t('minutes'), of: (t, i) => t.seconds[i] / 60 },
};

// The points [[x, y]...] of a column, without missing values.
function points(table, key, axis) {
  const list = [], column = table[key] || [];
  for (let i = 0; i < column.length; ++i) {
    const x = axes[axis].of(table, i);
    if (isNumber(x) && isNumber(column[i])) list.push([x, column[i]]);
  }
  return list;
}

// A moving average with bias correction: s = b s + (1 - b) y, divided by 1 - b^t [Kingma & Ba 2015, section 3].
function smoothed(list, b) {
  if (b <= 0) return list;
  let s = 0, weight = 0;
  return list.map(([x, y]) => {
    s = b * s + (1 - b) * y;
    weight = b * weight + (1 - b);
    return [x, s / weight];
  });
}

function linearTicks(low, high, wanted) {
  const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= rough * .999);
  const first = Math.ceil(low / step - 1e-9), list = [];
  for (let n = 0; n <= 3 * wanted && (first + n) * step <= high + step * 1e-9; ++n) list.push(Number(((first + n) * step).toPrecision(12)));
  return [...new Set(list)];  // one tick in a range that is too narrow for floating point
}
function logTicks(low, high) {
  const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high)), list = [];
  const every = Math.max(1, Math.ceil((last - first) / 8)), within = last - first <= 2 ? [1, 2, 5] : [1];
  for (let e = first; e <= last; e += every) for (const m of within) list.push(Number((m * 10 ** e).toPrecision(3)));
  const seen = list.filter(t => t >= low * .999 && t <= high * 1.001);
  return seen.length >= 2 ? seen : linearTicks(low, high, 4).filter(t => t > 0);
}

// Marks of different shapes, so that runs can be distinguished without colours.
function mark(shape, x, y, r, fill) {
  const at = { fill, stroke: 'var(--back)', 'stroke-width': 1, class: 'mark' };
  const path = d => drawn('path', { ...at, d });
  switch (shape % 4) {
    case 0: return drawn('circle', { ...at, cx: x, cy: y, r });
    case 1: return drawn('rect', { ...at, x: x - r, y: y - r, width: 2 * r, height: 2 * r });
    case 2: return path(`M${x} ${y - 1.3 * r}L${x + 1.2 * r} ${y + r}L${x - 1.2 * r} ${y + r}Z`);
    default: return path(`M${x} ${y - 1.4 * r}L${x + 1.4 * r} ${y}L${x} ${y + 1.4 * r}L${x - 1.4 * r} ${y}Z`);
  }
}
const dashes = ['', '6 3', '2 3', '8 3 2 3', '1 4', '10 4'];

class Chart {
  // spec: { id, title, unit, note, wide, series(): [{ label, color, points, raw, marks, thin, dash, shape }] }
  constructor(spec, view) {
    this.spec = spec;
    this.view = view;
    this.log = element('button', { type: 'button', onclick: () => view.toggleLog(spec.id) }, t('log'));
    this.plot = element('div', { class: 'plot', tabindex: 0, role: 'group', 'aria-label': t('{0}; arrow keys read values', spec.title) });
    this.readout = element('div', { class: 'readout', role: 'status', hidden: true });
    this.box = element('figure', { class: spec.wide ? 'chart wide' : 'chart', id: `chart-${spec.id}` },
      element('header', {}, element('h3', {}, spec.title), this.log), element('figcaption', {}, spec.note || ''), this.names = element('div', { class: 'legend curves' }), this.plot);
    this.listen();
  }

  // The height is that of a column, the width is given by the page.
  size() {
    const wide = this.spec.wide, given = this.plot.clientWidth || (wide ? 1150 : 560);
    this.W = Math.max(300, Math.round(given));
    this.H = wide ? 360 : 250;
    this.left = 66, this.right = 14, this.top = 10, this.bottom = 42;
  }

  // A chart without points is hidden.
  draw() {
    const { view, spec } = this, isLog = view.log.has(spec.id);
    this.series = spec.series().filter(s => s.points.length > 0);
    this.box.hidden = this.series.length === 0;
    if (this.box.hidden) return;
    this.size();
    const all = this.series.flatMap(s => s.points).concat(this.series.flatMap(s => s.raw || []));
    const inside = all.filter(p => p[0] >= view.range[0] && p[0] <= view.range[1] && (!isLog || p[1] > 0));
    let low = Infinity, high = -Infinity;
    for (const [, y] of inside) low = Math.min(low, y), high = Math.max(high, y);
    if (low > high) low = isLog ? .1 : 0, high = 1;
    if (isLog) {
      if (high / low < 1.05) low /= 1.1, high *= 1.1;
    } else {
      const flat = high - low <= 1e-9 * Math.max(Math.abs(low), Math.abs(high));  // up to rounding by smoothing
      const room = flat ? Math.abs(high) * .05 || 1 : (high - low) * .04;
      low = low >= 0 && (low < room || low < high * .15) ? 0 : low - room;
      high += room;
    }
    const scale = isLog ? Math.log : y => y, inner = this.H - this.top - this.bottom;
    this.x = x => this.left + (x - view.range[0]) / (view.range[1] - view.range[0]) * (this.W - this.left - this.right);
    this.y = y => this.H - this.bottom - (scale(y) - scale(low)) / (scale(high) - scale(low)) * inner;
    this.log.setAttribute('aria-pressed', isLog);
    this.log.title = isLog ? t('to a linear axis') : t('to a logarithmic axis');

    const { W, H, left, right, top, bottom } = this, clip = `clip-${spec.id}`;
    const svg = drawn('svg', { viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': this.summary() });
    for (const t of isLog ? logTicks(low, high) : linearTicks(low, high, spec.wide ? 7 : 5)) {
      svg.append(drawn('line', { x1: left, x2: W - right, y1: this.y(t), y2: this.y(t), class: 'grid' }));
      svg.append(drawn('text', { x: left - 7, y: this.y(t) + 4, 'text-anchor': 'end', class: 'tick-y' }, tickText(t)));
    }
    for (const t of linearTicks(...view.range, Math.max(2, Math.floor((W - left) / 95)))) {
      svg.append(drawn('line', { x1: this.x(t), x2: this.x(t), y1: H - bottom, y2: H - bottom + 5, class: 'base' }));
      const anchor = this.x(t) + 3.6 * tickText(t).length > W ? 'end' : 'middle';
      svg.append(drawn('text', { x: anchor === 'end' ? W - 1 : this.x(t), y: H - bottom + 18, 'text-anchor': anchor, class: 'tick-x' }, tickText(t)));
    }
    svg.append(drawn('line', { x1: left, x2: W - right, y1: H - bottom, y2: H - bottom, class: 'base' }));
    svg.append(drawn('text', { x: (left + W - right) / 2, y: H - 6, 'text-anchor': 'middle', class: 'axis-x' }, axes[view.axis].label));
    svg.append(drawn('text', { transform: `translate(12 ${(H - bottom + top) / 2}) rotate(-90)`, 'text-anchor': 'middle', class: 'axis-y' }, spec.unit));

    const defs = drawn('defs'), cut = drawn('clipPath', { id: clip });
    cut.append(drawn('rect', { x: left, y: 0, width: W - left, height: H - bottom + 1 }));
    defs.append(cut);
    const body = drawn('g', { 'clip-path': `url(#${clip})` });
    for (const s of this.series) this.drawSeries(body, s, isLog);
    svg.append(defs, body);
    this.marks = drawn('g');
    svg.append(this.marks);
    this.plot.replaceChildren(svg, this.readout);
    this.names.replaceChildren(...this.legend());
    this.read();
  }

  drawSeries(body, s, isLog) {
    const fits = p => !isLog || p[1] > 0;
    const line = list => list.filter(fits).map((p, i) => `${i ? 'L' : 'M'}${this.x(p[0]).toFixed(1)} ${this.y(p[1]).toFixed(1)}`).join('');
    if (s.raw) body.append(drawn('path', { d: line(s.raw), class: 'curve raw', style: `stroke:${s.color}` }));
    const style = `stroke:${s.color};stroke-dasharray:${s.dash || 'none'}`;
    body.append(drawn('path', { d: line(s.points), class: s.thin ? 'curve thin' : 'curve', style }));
    if ((s.marks && s.points.length <= 120) || s.points.length === 1)
      for (const p of s.points.filter(fits)) body.append(mark(s.shape || 0, this.x(p[0]), this.y(p[1]), 3.4, s.color));
  }

  // The names of the curves. A chart of one curve needs none, and neither do curves whose names are those of the runs: the page
  // has a list of these. A faint curve is always explained.
  legend() {
    const inked = (s, faint) => element('span', { class: `swatch${faint ? ' faint' : ''}`, style: `background:${s.color}` });
    const own = this.series.some(s => !runs.some(run => run.name === s.label)), raw = this.series.filter(s => s.raw);
    const entries = own && (this.series.length > 1 || raw.length > 0)
      ? this.series.map(s => element('span', {}, inked(s), element('bdi', {}, plain(s.label)), s.raw ? t(', smoothed') : '')) : [];
    if (raw.length > 0) entries.push(element('span', {}, ...raw.map(s => inked(s, true)), t('as reported')));
    return entries;
  }

  summary() {
    const texts = this.series.map(s => {
      const last = s.points[s.points.length - 1];
      return t('{0} from {1} to {2} at {3} {4}', s.label, figure(s.points[0][1]), figure(last[1]), figure(last[0]), axes[this.view.axis].label);
    });
    return `${this.spec.title} (${this.spec.unit}): ${texts.join('; ')}`;
  }

  // Shows the values nearest to the reading position.
  read() {
    if (!this.series || this.box.hidden) return;
    const at = this.view.at;
    this.marks.replaceChildren();
    this.readout.hidden = at === null;
    if (at === null) return;
    const x = this.x(at);
    this.marks.append(drawn('line', { x1: x, x2: x, y1: this.top, y2: this.H - this.bottom, class: 'cross' }));
    const rows = [element('div', { class: 'soft' }, `${axes[this.view.axis].label} ${figure(at)}`)];
    for (const s of this.series) {
      const p = nearest(s.points, at);
      if (Math.abs(p[0] - at) > (this.view.range[1] - this.view.range[0]) * .1) continue;  // the run has no values there
      const y = this.y(p[1]);
      if (Number.isFinite(y)) this.marks.append(mark(s.shape || 0, this.x(p[0]), y, 4.2, s.color));
      rows.push(element('div', {}, element('span', { class: 'swatch', style: `background:${s.color}` }),
        element('b', {}, figure(p[1])), ' ', element('bdi', {}, plain(s.label)), p[0] === at ? '' : ` (${figure(p[0])})`));
    }
    this.readout.replaceChildren(...rows);
    this.placeReadout(x);
  }

  // On the side away from the reading position, at the top or bottom, wherever it covers less of the curves.
  placeReadout(x) {
    const { left, right, top, bottom, W, H } = this, style = this.readout.style, middle = (top + H - bottom) / 2;
    const onLeft = x - left > (W - left - right) / 2, width = Math.min(this.readout.offsetWidth + 30, (W - left - right) / 2);
    const [from, to] = onLeft ? [left, left + width] : [W - right - width, W - right];
    let above = 0, below = 0;
    for (const s of this.series) {
      for (const p of s.points) {
        const at = this.x(p[0]);
        if (at >= from && at <= to) this.y(p[1]) < middle ? ++above : ++below;
      }
    }
    style.left = onLeft ? `${left + 8}px` : 'auto';
    style.right = onLeft ? 'auto' : `${right + 2}px`;
    style.top = above > below ? 'auto' : '6px';
    style.bottom = above > below ? `${bottom + 6}px` : 'auto';
  }

  // Reading by pointer and arrow keys; dragging zooms to a part of the axis, a double click resets it.
  listen() {
    const { plot, view } = this;
    const value = event => {
      const box = plot.getBoundingClientRect(), share = ((event.clientX - box.left) / box.width * this.W - this.left) / (this.W - this.left - this.right);
      return view.range[0] + Math.min(1, Math.max(0, share)) * (view.range[1] - view.range[0]);
    };
    const snap = x => nearest(this.series[0].points.concat(...this.series.slice(1).map(s => s.points)).sort((a, b) => a[0] - b[0]), x)[0];
    let start = null, band = null;
    plot.addEventListener('pointermove', event => {
      if (!this.series) return;
      view.readAt(snap(value(event)));
      if (start === null) return;
      const [a, b] = [this.x(start), this.x(value(event))].sort((p, q) => p - q);
      if (!band) this.marks.before(band = drawn('rect', { y: this.top, height: this.H - this.top - this.bottom, class: 'zoom' }));
      band.setAttribute('x', a), band.setAttribute('width', b - a);
    });
    plot.addEventListener('pointerleave', () => { if (start === null) view.readAt(view.pinned); });
    plot.addEventListener('pointerdown', event => {
      if (event.pointerType === 'touch' || event.button !== 0) return;
      start = value(event);
      plot.setPointerCapture(event.pointerId);
    });
    plot.addEventListener('pointerup', event => {
      if (start === null) return;
      const from = start, to = value(event);
      start = null;
      if (band) band.remove(), band = null;
      if (Math.abs(this.x(to) - this.x(from)) > 8) view.zoom([Math.min(from, to), Math.max(from, to)]);
      else view.pin(snap(to));
    });
    plot.addEventListener('dblclick', () => view.zoom(null));
    plot.addEventListener('keydown', event => {
      if (event.key === 'Escape') return view.pin(null);
      const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -1e9, End: 1e9 }[event.key];
      if (!step) return;
      event.preventDefault();
      const places = [...new Set(this.series.flatMap(s => s.points.map(p => p[0])))].sort((a, b) => a - b);
      const now = view.at === null ? (step > 0 ? -1 : places.length) : places.indexOf(nearest(places.map(p => [p]), view.at)[0]);
      view.pin(places[Math.min(places.length - 1, Math.max(0, now + step))]);
    });
  }
}

function tickText(t) {
  const size = Math.abs(t);
  if (size >= 1e4) return short(t);
  return size > 0 && size < 1e-3 ? t.toExponential().replace('e-', 'e−') : t.toLocaleString('en', { maximumSignificantDigits: 6 });
}

function nearest(list, x) {
  let low = 0, high = list.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle][0] < x) low = middle + 1;
    else high = middle;
  }
  return low > 0 && x - list[low - 1][0] <= list[low][0] - x ? list[low - 1] : list[low];
}
