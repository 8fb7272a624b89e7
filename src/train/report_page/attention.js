// Maps of attention: small ones of every head and of their mean by layer, and a large one with its tokens.

function decoded(layer) {
  const text = atob(layer.codes), weights = new Float32Array(text.length);
  for (let i = 0; i < text.length; ++i) weights[i] = (text.charCodeAt(i) / 255) ** 2;
  return weights;
}

// The mean of several maps of one size.
function meanOf(maps) {
  const mean = new Float32Array(maps[0].length);
  for (const m of maps) for (let i = 0; i < mean.length; ++i) mean[i] += m[i] / maps.length;
  return mean;
}

// { queries, keys, layers: [{ name, heads: [map...], mean }], mean }; maps are rows of queries by keys.
function mapsOf(attention) {
  const size = attention.queries.length * attention.keys.length;
  const layers = attention.layers.map(layer => {
    const all = decoded(layer), heads = [];
    for (let h = 0; h < layer.heads; ++h) heads.push(all.subarray(h * size, (h + 1) * size));
    return { name: layer.name, heads, mean: meanOf(heads) };
  });
  return { ...attention, layers, mean: meanOf(layers.map(l => l.mean)) };
}

function ramp() {
  const style = getComputedStyle(document.documentElement);
  const [low, high] = ['--map-low', '--map-high'].map(v => style.getPropertyValue(v).trim().split(/\s+/).map(Number));
  return t => low.map((c, i) => Math.round(c + (high[i] - c) * t));
}
const highest = map => map.reduce((a, b) => Math.max(a, b), 1e-9);

function smallMap(map, width, height, colors) {
  const canvas = element('canvas', { width, height }), context = canvas.getContext('2d'), top = highest(map);
  const image = context.createImageData(width, height);
  map.forEach((w, i) => {
    const [r, g, b] = colors(w / top);
    image.data.set([r, g, b, 255], 4 * i);
  });
  context.putImageData(image, 0, 0);
  const scale = Math.max(1, Math.floor(78 / Math.max(width, height)));
  canvas.style.width = `${width * scale}px`;
  canvas.style.height = `${height * scale}px`;
  return canvas;
}

function cut(token, most) {
  const letters = [...plain(token)];
  return letters.length > most ? letters.slice(0, most - 1).join('') + '…' : letters.join('');
}

function bigMap(a, map, colors) {
  const queries = a.queries.map(t => cut(t, 16)), keys = a.keys.map(t => cut(t, 16));
  const cell = Math.max(14, Math.min(30, Math.floor(620 / Math.max(a.keys.length, a.queries.length))));
  const long = list => Math.max(...list.map(t => [...t].length)) * 7.6 + 14;
  const left = long(queries) + 22, top = long(keys) * .82 + 26, slant = long(keys) * .6;
  const W = left + cell * keys.length + slant + 8, H = top + cell * queries.length + 8, highestWeight = highest(map);
  const svg = drawn('svg', { width: W, height: H, viewBox: `0 0 ${W} ${H}`, role: 'img',
    'aria-label': `attention of ${queries.length} tokens to ${keys.length} tokens, weights up to ${highestWeight.toFixed(2)}` });
  svg.append(drawn('text', { x: left + cell * keys.length / 2, y: 13, 'text-anchor': 'middle', class: 'soft' }, a.kind === 'cross' ? 'source' : 'reads'));
  svg.append(drawn('text', { transform: `translate(12 ${top + cell * queries.length / 2}) rotate(-90)`, 'text-anchor': 'middle', class: 'soft' },
    a.kind === 'cross' ? 'reference, token foretold' : 'token'));
  keys.forEach((t, k) => svg.append(drawn('text', { transform: `translate(${left + cell * (k + .5) + 3} ${top - 6}) rotate(-55)`, class: 'key' }, t)));
  queries.forEach((t, q) => svg.append(drawn('text', { x: left - 6, y: top + cell * (q + .5) + 4, 'text-anchor': 'end', class: 'query' }, t)));
  map.forEach((w, i) => {
    const q = Math.floor(i / keys.length), k = i % keys.length;
    const rect = drawn('rect', { x: left + cell * k, y: top + cell * q, width: cell, height: cell, class: 'cell', fill: `rgb(${colors(w / highestWeight)})` });
    rect.append(drawn('title', {}, `${plain(a.queries[q])} ← ${plain(a.keys[k])}: ${w.toFixed(3)}`));
    svg.append(rect);
  });
  svg.append(drawn('rect', { x: left, y: top, width: cell * keys.length, height: cell * queries.length, fill: 'none', class: 'base' }));
  return svg;
}

// Of each run, the sentences that have maps: [{ title, at: [{ update, attention }] }]
function mappedSentences(run) {
  const found = new Map();
  for (const v of run.samples) for (const s of v.samples) {
    if (!s.attention || s.attention.queries.length === 0) continue;
    if (!found.has(s.source)) found.set(s.source, { title: s.source, at: [] });
    found.get(s.source).at.push({ update: v.update, attention: s.attention });
  }
  return [...found.values()];
}

const clampTo = (i, length) => i < 0 ? length - 1 : Math.min(i, length - 1);

function attention(view) {
  const box = document.getElementById('attention');
  box.replaceChildren(element('h2', {}, 'Attention'));
  const having = runs.map((run, r) => ({ r, sentences: mappedSentences(run) })).filter(x => x.sentences.length > 0);
  if (having.length === 0) {
    box.append(element('p', { class: 'empty' }, 'No maps yet: they come with the first validation of a run that has --valid-sets, and not with --valid-attention 0.'));
    return;
  }
  const chosen = having.find(x => x.r === view.map.run) || having[0];
  const sentence = chosen.sentences[clampTo(Math.max(0, view.map.sentence), chosen.sentences.length)];
  const index = clampTo(view.map.at, sentence.at.length), { update, attention: coded } = sentence.at[index];
  const a = mapsOf(coded), colors = ramp();
  const set = change => view.set({ map: { ...view.map, run: chosen.r, ...change } });

  const select = (title, options, value, change) => element('label', {}, title, element('select', { 'aria-label': title, onchange: e => change(Number(e.target.value)) },
    ...options.map(([v, text]) => element('option', { value: v, selected: v === value }, text))));
  const slider = element('input', { type: 'range', min: 0, max: sentence.at.length - 1, value: index, 'aria-label': 'validation',
    oninput: e => set({ at: Number(e.target.value) === sentence.at.length - 1 ? -1 : Number(e.target.value) }) });
  const layer = view.map.layer < a.layers.length ? view.map.layer : -1;
  const head = layer >= 0 && view.map.head < a.layers[layer].heads.length ? view.map.head : -1;
  const map = layer < 0 ? a.mean : head < 0 ? a.layers[layer].mean : a.layers[layer].heads[head];

  const most = Math.max(...a.layers.map(l => l.heads.length));
  const small = (m, l, h, title) => element('td', {}, element('button', { type: 'button', title, 'aria-label': title, 'aria-pressed': l === layer && h === head,
    onclick: () => set({ layer: l, head: h }) }, smallMap(m, a.keys.length, a.queries.length, colors)));
  const head_row = element('tr', {}, element('th', {}), element('th', { scope: 'col' }, 'mean'), ...Array.from({ length: most }, (_, h) => element('th', { scope: 'col' }, `head ${h + 1}`)));
  const rows = a.layers.map((l, i) => element('tr', {}, element('th', { scope: 'row', title: l.name }, layerTitle(l.name, i)),
    small(l.mean, i, -1, `${layerTitle(l.name, i)}, mean of heads`), ...l.heads.map((m, h) => small(m, i, h, `${layerTitle(l.name, i)}, head ${h + 1}`))));
  rows.push(element('tr', {}, element('th', { scope: 'row' }, 'all'), small(a.mean, -1, -1, 'mean of all layers')));

  const what = layer < 0 ? 'mean of all layers and heads' : `${layerTitle(a.layers[layer].name, layer)}, ${head < 0 ? 'mean of heads' : `head ${head + 1}`}`;
  const focused = document.activeElement && document.activeElement.type === 'range';
  box.append(
    element('p', { class: 'soft' }, a.kind === 'cross'
      ? 'Cross-attention while the model is given the reference, as in training: a row is the token that is being foretold, its columns the source tokens that are read for it.'
      : 'Self-attention over the text: a row is a token, its columns the tokens that it reads.'),
    element('div', { class: 'controls' },
      having.length > 1 ? select('run', having.map(x => [x.r, plain(runs[x.r].name)]), chosen.r, r => view.set({ map: { ...view.map, run: r, at: -1 } })) : null,
      select('sentence', chosen.sentences.map((s, i) => [i, cut(s.title, 60)]), chosen.sentences.indexOf(sentence), i => set({ sentence: i, at: -1 })),
      element('label', {}, 'validation', slider, element('output', { id: 'map-update' }, `update ${whole(update)}`))),
    element('div', { class: 'maps' },
      element('div', { class: 'big', id: 'map' }, element('h3', { id: 'map-title' }, what), bigMap(a, map, colors),
        element('p', { class: 'soft' }, '0 ', element('span', { class: 'ramp' }), ` ${highest(map).toFixed(2)} (the map's highest)`)),
      element('div', { class: 'scroll' }, element('table', { class: 'heads', id: 'heads' }, element('thead', {}, head_row), element('tbody', {}, ...rows)))));
  if (focused) slider.focus();
}

// "model.decoder.layers.3.encoder_attn" is layer 4.
function layerTitle(name, index) {
  const number = /layers\.(\d+)\./.exec(name);
  return `layer ${number ? Number(number[1]) + 1 : index + 1}`;
}
