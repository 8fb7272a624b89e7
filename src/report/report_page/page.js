// The reader's selection, kept in the address after "#", so that a link shows the same; and the page itself.

const known = new Set(['type', 'update', 'epoch', 'seconds', 'target_tokens', 'loss', 'learning_rate', 'gradient_norm', 'tokens_per_second', 'skipped',
  'cross_entropy', 'perplexity', 'bleu', 'chrf', 'best']);

const view = {
  axis: 'updates', log: new Set(), smooth: .6, theme: 'auto', hidden: new Set(), pinned: null, at: null, part: null, range: [0, 1],
  mark: 'changes', lost: false, map: { run: 0, sentence: 0, at: -1, layer: -1, head: -1 },

  fromAddress() {
    const h = new URLSearchParams(location.hash.slice(1)), list = key => (h.get(key) || '').split(',').filter(s => s !== '');
    const number = key => h.has(key) && h.get(key) !== '' && Number.isFinite(Number(h.get(key))) ? Number(h.get(key)) : null;
    const one = (key, allowed, otherwise) => allowed.includes(h.get(key)) ? h.get(key) : otherwise;
    this.axis = one('x', Object.keys(axes), 'updates');
    this.log = new Set(list('log'));
    this.smooth = Math.min(.99, Math.max(0, number('smooth') ?? .6));
    this.theme = one('theme', ['light', 'dark'], 'auto');
    this.hidden = new Set(list('hide').map(Number));
    this.pinned = this.at = number('at');
    const part = list('part').map(Number);
    this.part = part.length === 2 && part.every(Number.isFinite) && part[0] < part[1] ? part : null;
    this.mark = one('mark', ['reference', 'none'], 'changes');
    this.lost = h.get('lost') === '1';
    const map = list('map').map(Number);
    if (map.length === 5 && map.every(Number.isInteger)) [this.map.run, this.map.sentence, this.map.at, this.map.layer, this.map.head] = map;
  },
  toAddress() {
    const h = new URLSearchParams(), m = this.map, map = [m.run, m.sentence, m.at, m.layer, m.head].join(',');
    const put = (key, value, usual) => { if (value !== usual) h.set(key, value); };
    put('x', this.axis, 'updates');
    put('log', [...this.log].join(','), '');
    put('smooth', String(this.smooth), '0.6');
    put('theme', this.theme, 'auto');
    put('hide', [...this.hidden].join(','), '');
    put('at', this.pinned === null ? '' : String(this.pinned), '');
    put('part', this.part ? this.part.map(x => Number(x.toPrecision(8))).join(',') : '', '');
    put('mark', this.mark, 'changes');
    put('lost', this.lost ? '1' : '', '');
    put('map', map, '0,0,-1,-1,-1');
    try { history.replaceState(null, '', '#' + h); } catch { /* a page in a frame may not */ }
  },

  set(change) {
    Object.assign(this, change);
    this.toAddress();
    if ('map' in change) attention(this);
    else if ('mark' in change || 'lost' in change) samples(this);
    else if ('theme' in change) applyTheme(), attention(this);
    else this.redraw();
  },
  toggleLog(id) {
    const log = new Set(this.log);
    log.delete(id) || log.add(id);
    this.set({ log });
  },
  readAt(x) {
    this.at = x;
    for (const c of charts) c.read();
  },
  pin(x) {
    this.pinned = this.at = x;
    this.toAddress();
    for (const c of charts) c.read();
  },
  zoom(part) { this.set({ part }); },
  redraw() {
    this.range = this.part || wholeRange();
    controls();
    legend();
    for (const c of charts) c.draw();
  },
};

function wholeRange() {
  let most = 0;
  runs.forEach((run, r) => {
    if (view.hidden.has(r)) return;
    for (const table of [run.train, run.valid])
      for (let i = 0; i < (table.update || []).length; ++i) most = Math.max(most, axes[view.axis].of(table, i) || 0);
  });
  return [0, most || 1];
}

const shownRuns = () => runs.map((run, r) => [run, r]).filter(([, r]) => !view.hidden.has(r));
const labelOf = (run, what) => single ? what : `${run.name}, ${what}`;

// Series of one column for each run.
function simple(table, key, what, options = {}) {
  return shownRuns().map(([run, r]) => {
    const raw = points(run[table], key, view.axis);
    const soft = options.smooth ? smoothed(raw, view.smooth) : raw;
    return { label: single ? what : run.name, color: color(single ? options.color || 0 : r), points: soft, raw: options.smooth && view.smooth > 0 ? raw : null,
      marks: options.marks, shape: single ? 0 : r, dash: '' };
  });
}

// Columns without a chart of their own: one chart for each name, with a curve for each nested name.
function others(table) {
  const groups = new Map();
  for (const run of runs) for (const key of Object.keys(run[table])) {
    const [outer, inner] = [key.split('.')[0], key.split('.').slice(1).join('.')];
    if (known.has(key)) continue;
    if (!groups.has(outer)) groups.set(outer, new Map());
    groups.get(outer).set(key, inner);
  }
  return [...groups].map(([outer, keys]) => ({
    id: `other-${outer.replace(/[^\w-]/g, '_')}`, title: plain(t(titleOf(outer))), unit: table === 'valid' ? t('at validations') : '', note: '',
    series: () => [...keys].flatMap(([key, inner], k) => shownRuns().map(([run, r]) => ({
      label: [single ? '' : run.name, inner || (single ? t(titleOf(outer)) : '')].filter(Boolean).join(', '), color: color(single ? k : r),
      dash: keys.size > 1 && !single ? dashes[k % dashes.length] : '', points: smoothed(points(run[table], key, view.axis), table === 'train' ? view.smooth : 0),
      marks: table === 'valid', shape: single ? k : r,
    }))),
  }));
}
const titleOf = key => key.charAt(0).toUpperCase() + key.slice(1).replace(/_/g, ' ');

const chartsOf = () => [
  { id: 'loss', title: t('Loss'), unit: t('nats per target token'), wide: true,
    note: single ? t('Training: smoothed, with label smoothing; faint: as reported. Validation: cross-entropy without label smoothing.')
      : t('Thin: training, smoothed, with label smoothing. With marks: validation cross-entropy without label smoothing.'),
    series: () => [
      ...shownRuns().map(([run, r]) => {
        const raw = points(run.train, 'loss', view.axis);
        return { label: labelOf(run, t('training')), color: color(r), points: smoothed(raw, view.smooth), raw: single && view.smooth > 0 ? raw : null, thin: !single };
      }),
      ...shownRuns().map(([run, r]) => ({ label: labelOf(run, t('validation')), color: color(single ? 1 : r), points: points(run.valid, 'cross_entropy', view.axis), marks: true, shape: r + (single ? 1 : 0) })),
    ] },
  { id: 'bleu', title: t('Validation BLEU'), unit: 'BLEU', series: () => simple('valid', 'bleu', 'BLEU', { marks: true, color: 1 }) },
  { id: 'chrf', title: t('Validation chrF'), unit: 'chrF', series: () => simple('valid', 'chrf', 'chrF', { marks: true, color: 1 }) },
  { id: 'learning_rate', title: t('Learning rate'), unit: t('rate'), series: () => simple('train', 'learning_rate', t('rate')) },
  { id: 'gradient_norm', title: t('Gradient norm'), unit: t('before clipping'), series: () => simple('train', 'gradient_norm', t('norm'), { smooth: true }) },
  { id: 'tokens_per_second', title: t('Speed'), unit: t('target tokens per second'), series: () => simple('train', 'tokens_per_second', t('tokens/s'), { smooth: true }) },
  ...others('train'), ...others('valid'),
].map(spec => new Chart(spec, view));
let charts = chartsOf();

function controls() {
  const box = document.getElementById('controls');
  if (box.contains(document.activeElement) && document.activeElement.type === 'range') {
    box.querySelector('output').textContent = view.smooth.toFixed(2);  // keeps the slider that is being moved
    return;
  }
  const button = (pressed, text, click) => element('button', { type: 'button', 'aria-pressed': pressed, onclick: click }, text);
  box.replaceChildren(
    element('span', {}, t('against'), ...Object.entries(axes).map(([key, a]) => button(view.axis === key, a.label, () => view.set({ axis: key, part: null, pinned: null, at: null })))),
    element('label', {}, t('smoothing'), element('input', { type: 'range', min: 0, max: .99, step: .01, value: view.smooth, oninput: e => view.set({ smooth: Number(e.target.value) }) }),
      element('output', {}, view.smooth.toFixed(2))),
    element('span', {}, button(charts.every(c => c.box.hidden || view.log.has(c.spec.id)), t('all logarithmic'), e =>
      view.set({ log: e.currentTarget.getAttribute('aria-pressed') === 'true' ? new Set() : new Set(charts.map(c => c.spec.id)) }))),
    view.part ? button(false, t('show the whole axis'), () => view.zoom(null)) : element('span', {}, t('drag over a chart to zoom in')));
}

function legend() {
  const box = document.getElementById('legend');
  const entry = (i, ...text) => element('span', {}, swatch(i), ...text);
  if (single) {
    box.replaceChildren(entry(0, t('training')), ...(runs[0].valid.update ? [entry(1, t('validation'))] : []));
    return;
  }
  box.replaceChildren(...runs.map((run, r) => element('button', { type: 'button', 'aria-pressed': !view.hidden.has(r), title: t('show or hide'), onclick: () => {
    const hidden = new Set(view.hidden);
    hidden.delete(r) || hidden.add(r);
    view.set({ hidden });
    samples(view);
  } }, swatch(r), name(run))));
}

function applyTheme() {
  if (view.theme === 'auto') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', view.theme);
  document.getElementById('theme').textContent = { auto: t('colours: system'), light: t('colours: light'), dark: t('colours: dark') }[view.theme];
}

view.fromAddress();
applyTheme();
document.getElementById('theme').addEventListener('click', () => view.set({ theme: { auto: 'light', light: 'dark', dark: 'auto' }[view.theme] }));
// The words of the page itself, and the choice of the language, which keeps the rest of the address.
document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
document.querySelector('#curves h2').textContent = t('Curves');
for (const section of document.querySelectorAll('section')) section.setAttribute('aria-label', t(section.getAttribute('aria-label')));
document.getElementById('languages').append(...Object.entries(languages).map(([l, title]) => element('a', { href: `?lang=${l}`, lang: l, hreflang: l,
  ...(l === language ? { 'aria-current': 'page' } : {}), onclick: e => { e.currentTarget.search = `?lang=${l}`; e.currentTarget.hash = location.hash; } }, title)));
overview();
differing();
document.getElementById('charts').append(...charts.map(c => c.box));
view.redraw();
controls();
if (charts.every(c => c.box.hidden)) document.getElementById('curves').hidden = true;
samples(view);
attention(view);
tables();
addEventListener('resize', () => view.redraw());
addEventListener('hashchange', () => { view.fromAddress(); applyTheme(); view.redraw(); samples(view); attention(view); });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => attention(view));
document.body.dataset.ready = 'true';
