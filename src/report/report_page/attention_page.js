// The attention of one sentence: the selected attention, layer, head and token. The selection is kept in the address after
// "#".

const kinds = {
  cross: { title: 'cross-attention', rows: 'target', columns: 'source',
    note: 'A row is the target token being predicted, its columns the source tokens that it reads.' },
  encoder: { title: 'encoder self-attention', rows: 'source', columns: 'source',
    note: 'A row is a source token, its columns the source tokens that it reads.' },
  decoder: { title: 'decoder self-attention', rows: 'target', columns: 'reads',
    note: 'A row is the token being predicted, its columns the tokens that the decoder has read so far.' },
  self: { title: 'self-attention', rows: 'token', columns: 'reads', note: 'A row is a token, its columns the tokens that it reads.' },
};
const sections = data.maps.map(mapsOf);
const nothing = { q: -1, k: -1 };

const view = {
  kind: sections[0].kind, layer: -1, head: -1, pinned: nothing, theme: 'auto',

  fromAddress() {
    const h = new URLSearchParams(location.hash.slice(1));
    const number = key => Number.isInteger(Number(h.get(key) ?? NaN)) && h.get(key) !== '' ? Number(h.get(key)) : -1;
    this.kind = sections.some(s => s.kind === h.get('kind')) ? h.get('kind') : sections[0].kind;
    const s = this.section(), within = (i, list) => i >= 0 && i < list.length ? i : -1;
    this.layer = within(number('layer') - 1, s.layers);
    this.head = this.layer < 0 ? -1 : within(number('head') - 1, s.layers[this.layer].heads);
    this.pinned = { q: within(number('row') - 1, s.queries), k: within(number('column') - 1, s.keys) };
    this.theme = ['light', 'dark'].includes(h.get('theme')) ? h.get('theme') : 'auto';
  },
  toAddress() {
    const h = new URLSearchParams(), put = (key, i) => { if (i >= 0) h.set(key, String(i + 1)); };
    h.set('kind', this.kind);
    put('layer', this.layer), put('head', this.head), put('row', this.pinned.q), put('column', this.pinned.k);
    if (this.theme !== 'auto') h.set('theme', this.theme);
    try { history.replaceState(null, '', '#' + h); } catch { /* a page in a frame may not */ }
  },
  section() { return sections.find(s => s.kind === this.kind); },
  set(change) {
    if ('kind' in change && change.kind !== this.kind) change = { layer: -1, head: -1, pinned: nothing, ...change };
    Object.assign(this, change);
    this.toAddress();
    draw();
  },
};

function overview() {
  const list = element('dl');
  for (const [title, text] of data.facts) list.append(element('dt', {}, title), element('dd', { dir: 'auto' }, visible(text)));
  document.getElementById('overview').replaceChildren(list);
}

function controls() {
  const s = view.section(), button = (pressed, text, click) => element('button', { type: 'button', 'aria-pressed': pressed, onclick: click }, text);
  const select = (title, names, value, change) => element('label', {}, title, element('select', { 'aria-label': title, id: `choose-${title}`,
    onchange: e => change(Number(e.target.value)) },
    element('option', { value: -1, selected: value < 0 }, 'mean of all'), ...names.map((text, i) => element('option', { value: i, selected: i === value }, text))));
  document.getElementById('controls').replaceChildren(
    element('span', {}, ...sections.map(x => button(x.kind === view.kind, kinds[x.kind].title, () => view.set({ kind: x.kind })))),
    select('layer', s.layers.map((l, i) => layerTitle(l.name, i)), view.layer, layer => view.set({ layer, head: -1 })),
    ...(view.layer < 0 ? [] : [select('head', s.layers[view.layer].heads.map((_, h) => `head ${h + 1}`), view.head, head => view.set({ head }))]));
}

// The weights of one row (what token q reads) or of one column (which tokens read token k).
const rowOf = (map, s, q) => Array.from(map.subarray(q * s.keys.length, (q + 1) * s.keys.length));
const columnOf = (map, s, k) => s.queries.map((_, q) => map[q * s.keys.length + k]);

function strongest(tokens, weights) {
  return weights.map((w, i) => [w, i]).sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, 6).filter(([w], i) => i === 0 || w >= .01)
    .flatMap(([w, i]) => [element('b', {}, visible(tokens[i])), ` ${w.toFixed(3)}  `]);
}

let look = () => {};

function draw() {
  controls();
  const s = view.section(), kind = kinds[s.kind], colors = ramp(), chosen = chosenMap(s, view.layer, view.head), { map, title } = chosen;
  const strip = (side, label, tokens) => {
    const buttons = tokens.map((t, i) => element('button', { type: 'button', 'aria-pressed': i === view.pinned[side], 'data-token': i,
      onclick: () => pin(side, i), onpointerenter: () => look({ ...nothing, [side]: i }), onpointerleave: () => look(view.pinned),
      onfocus: () => look({ ...nothing, [side]: i }), onblur: () => look(view.pinned) }, visible(t)));
    return { buttons, box: element('div', { class: 'strip', id: `strip-${side}` }, element('h3', {}, label), ...buttons) };
  };
  const pin = (side, i) => view.set({ pinned: view.pinned[side] === i ? nothing : { ...nothing, [side]: i } });
  const columns = strip('k', kind.columns, s.keys), rows = strip('q', kind.rows, s.queries);
  const reading = element('p', { id: 'reading', role: 'status' });
  const shade = (buttons, weights) => {
    const top = weights ? Math.max(...weights, 1e-9) : 1;
    buttons.forEach((b, i) => {
      const t = weights ? weights[i] / top : 0;
      b.style.setProperty('--shade', weights ? `rgb(${colors(t)})` : '');
      b.style.setProperty('--shade-ink', weights ? (t > .5 ? 'var(--back)' : 'var(--ink)') : '');
    });
  };
  const big = bigMap(s, chosen, colors, { keys: kind.columns, queries: kind.rows }, {
    look: (q, k) => look(q < 0 && k < 0 ? view.pinned : { q, k }),
    choose: (q, k) => { if (q >= 0) pin('q', q); else if (k >= 0) pin('k', k); },
  });
  look = ({ q, k }) => {
    big.look(q, k);
    shade(columns.buttons, q >= 0 ? rowOf(map, s, q) : null);
    shade(rows.buttons, k >= 0 ? columnOf(map, s, k) : null);
    columns.buttons.forEach((b, i) => b.classList.toggle('on', i === k));
    rows.buttons.forEach((b, i) => b.classList.toggle('on', i === q));
    if (q >= 0) reading.replaceChildren(element('b', {}, visible(s.queries[q])), ' reads ', ...strongest(s.keys, rowOf(map, s, q)));
    else if (k >= 0) reading.replaceChildren(element('b', {}, visible(s.keys[k])), ' is read by ', ...strongest(s.queries, columnOf(map, s, k)));
    else reading.replaceChildren(element('span', { class: 'soft' }, 'Point at a token to see what it reads and what reads it; click to keep it selected.'));
  };
  document.getElementById('strips').replaceChildren(element('p', { class: 'soft' }, kind.note), columns.box, rows.box, reading);
  document.getElementById('attention').replaceChildren(element('div', { class: 'maps' },
    element('div', { class: 'big', id: 'map' }, element('h3', { id: 'map-title' }, title), big,
      scaleOf(chosen)),
    headsTable(s, view, colors, (layer, head) => view.set({ layer, head }))));
  look(view.pinned);
}

function applyTheme() {
  if (view.theme === 'auto') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', view.theme);
  document.getElementById('theme').textContent = { auto: 'colours: system', light: 'colours: light', dark: 'colours: dark' }[view.theme];
}

function start() {
  view.fromAddress();
  applyTheme();
  draw();
}
overview();
start();
document.getElementById('theme').addEventListener('click', () => {
  view.set({ theme: { auto: 'light', light: 'dark', dark: 'auto' }[view.theme] });
  start();
});
addEventListener('hashchange', start);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
document.body.dataset.ready = 'true';
