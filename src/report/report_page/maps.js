// Attention maps, for every page that shows them: small ones of each head and of their mean, and a large one with its tokens.

// A weight is stored in two bytes, or as its square root in one.
function decoded(layer) {
  const text = atob(layer.weights || layer.codes), weights = new Float32Array(layer.weights ? text.length / 2 : text.length);
  for (let i = 0; i < weights.length; ++i)
    weights[i] = layer.weights ? (text.charCodeAt(2 * i) + 256 * text.charCodeAt(2 * i + 1)) / 65535 : (text.charCodeAt(i) / 255) ** 2;
  return weights;
}

// The mean of several maps of equal size.
function meanOf(maps) {
  const mean = new Float32Array(maps[0].length);
  for (const m of maps) for (let i = 0; i < mean.length; ++i) mean[i] += m[i] / maps.length;
  return mean;
}

// For each pair of a query and a key, whether the mask forbids it; null if it forbids none.
function maskOf(layer, size) {
  if (!layer.masked) return null;
  const bits = atob(layer.masked);
  return Array.from({ length: size }, (_, i) => (bits.charCodeAt(i >> 3) >> (i & 7) & 1) === 1);
}

// { queries, keys, layers: [{ name, heads: [map...], mean, masked }], mean, masked }; maps are rows of queries by keys. A pair is
// masked in the mean if every layer masks it.
function mapsOf(attention) {
  const size = attention.queries.length * attention.keys.length;
  const layers = attention.layers.map(layer => {
    const all = decoded(layer), heads = [];
    for (let h = 0; h < layer.heads; ++h) heads.push(all.subarray(h * size, (h + 1) * size));
    return { name: layer.name, heads, mean: meanOf(heads), masked: maskOf(layer, size) };
  });
  const masked = layers.every(l => l.masked) ? layers[0].masked.map((_, i) => layers.every(l => l.masked[i])) : null;
  return { ...attention, layers, mean: meanOf(layers.map(l => l.mean)), masked };
}

function ramp() {
  const style = getComputedStyle(document.documentElement);
  const [low, high] = ['--map-low', '--map-high'].map(v => style.getPropertyValue(v).trim().split(/\s+/).map(Number));
  return t => low.map((c, i) => Math.round(c + (high[i] - c) * t));
}
const highest = map => map.reduce((a, b) => Math.max(a, b), 1e-9);

function smallMap({ map, masked }, width, height, colors) {
  const canvas = element('canvas', { width, height, class: masked ? 'hatch' : '' }), context = canvas.getContext('2d'), top = highest(map);
  const image = context.createImageData(width, height);
  map.forEach((w, i) => {
    const [r, g, b] = colors(w / top);
    image.data.set([r, g, b, masked && masked[i] ? 0 : 255], 4 * i);  // masked: the hatch behind the canvas
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

// The large map. A masked cell has a hatch and the attribute data-masked; one of weight 0 has the lowest colour. labels: names of its columns and rows; on.look(q, k) is called with the cell under the pointer (-1: neither),
// on.choose(q, k) with a clicked one. The map's look(q, k) highlights a row, a column or a cell.
function bigMap(a, { map, masked }, colors, labels, on = {}) {
  const queries = a.queries.map(t => cut(t, 16)), keys = a.keys.map(t => cut(t, 16));
  const cell = Math.max(14, Math.min(30, Math.floor(620 / Math.max(a.keys.length, a.queries.length))));
  const long = list => Math.max(...list.map(t => [...t].length)) * 7.6 + 14;
  const left = long(queries) + 22, top = long(keys) * .82 + 26, slant = long(keys) * .6;
  const W = left + cell * keys.length + slant + 8, H = top + cell * queries.length + 8, highestWeight = highest(map);
  const svg = drawn('svg', { width: W, height: H, viewBox: `0 0 ${W} ${H}`, role: 'img',
    'aria-label': t('attention of {0} tokens to {1} tokens, weights up to {2}', queries.length, keys.length, highestWeight.toFixed(2)) });
  svg.append(drawn('text', { x: left + cell * keys.length / 2, y: 13, 'text-anchor': 'middle', class: 'soft' }, labels.keys));
  svg.append(drawn('text', { transform: `translate(12 ${top + cell * queries.length / 2}) rotate(-90)`, 'text-anchor': 'middle', class: 'soft' }, labels.queries));
  const keyTexts = keys.map((t, k) => drawn('text', { transform: `translate(${left + cell * (k + .5) + 3} ${top - 6}) rotate(-55)`, class: 'key', 'data-k': k }, t));
  const queryTexts = queries.map((t, q) => drawn('text', { x: left - 6, y: top + cell * (q + .5) + 4, 'text-anchor': 'end', class: 'query', 'data-q': q }, t));
  svg.append(...keyTexts, ...queryTexts);
  if (masked) {
    const pattern = drawn('pattern', { id: 'masked', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' });
    pattern.append(drawn('rect', { width: 6, height: 6, class: 'hatch-ground' }), drawn('line', { x1: 1, x2: 1, y1: 0, y2: 6, class: 'hatch-line' }));
    const defs = drawn('defs');
    defs.append(pattern);
    svg.append(defs);
  }
  map.forEach((w, i) => {
    const q = Math.floor(i / keys.length), k = i % keys.length;
    const rect = drawn('rect', { x: left + cell * k, y: top + cell * q, width: cell, height: cell, class: 'cell', 'data-q': q, 'data-k': k,
      ...(masked && masked[i] ? { fill: 'url(#masked)', 'data-masked': '' } : { fill: `rgb(${colors(w / highestWeight)})` }) });
    rect.append(drawn('title', {}, `${plain(a.queries[q])} ← ${plain(a.keys[k])}: ${masked && masked[i] ? t('masked') : w.toFixed(3)}`));
    svg.append(rect);
  });
  svg.append(drawn('rect', { x: left, y: top, width: cell * keys.length, height: cell * queries.length, fill: 'none', class: 'base' }));
  const row = drawn('rect', { x: left, width: cell * keys.length, height: cell, class: 'band row', visibility: 'hidden' });
  const column = drawn('rect', { y: top, width: cell, height: cell * queries.length, class: 'band column', visibility: 'hidden' });
  svg.append(row, column);

  svg.look = (q, k) => {
    row.setAttribute('visibility', q < 0 ? 'hidden' : 'visible');
    row.setAttribute('y', top + cell * Math.max(q, 0));
    column.setAttribute('visibility', k < 0 ? 'hidden' : 'visible');
    column.setAttribute('x', left + cell * Math.max(k, 0));
    queryTexts.forEach((t, i) => t.classList.toggle('on', i === q));
    keyTexts.forEach((t, i) => t.classList.toggle('on', i === k));
  };
  const place = e => [e.target.dataset.q, e.target.dataset.k].map(i => i === undefined ? -1 : Number(i));
  const look = on.look || svg.look;
  svg.addEventListener('pointerover', e => look(...place(e)));
  svg.addEventListener('pointerleave', () => look(-1, -1));
  if (on.choose) svg.addEventListener('click', e => on.choose(...place(e)));
  return svg;
}

// An overview of all heads: a row for each layer, starting with the mean of its heads, and the mean of all layers. choose(layer, head); -1: the mean.
function headsTable(a, chosen, colors, choose) {
  const most = Math.max(...a.layers.map(l => l.heads.length));
  const small = (m, layer, head, title) => element('td', {}, element('button', { type: 'button', title, 'aria-label': title,
    'aria-pressed': layer === chosen.layer && head === chosen.head, onclick: () => choose(layer, head) }, smallMap(m, a.keys.length, a.queries.length, colors)));
  const head_row = element('tr', {}, element('th', {}), element('th', { scope: 'col' }, t('mean')), ...Array.from({ length: most }, (_, h) => element('th', { scope: 'col' }, t('head {0}', h + 1))));
  const rows = a.layers.map((l, i) => element('tr', {}, element('th', { scope: 'row', title: l.name }, layerTitle(l.name, i)),
    small({ map: l.mean, masked: l.masked }, i, -1, t('{0}, mean of heads', layerTitle(l.name, i))),
    ...l.heads.map((map, h) => small({ map, masked: l.masked }, i, h, t('{0}, head {1}', layerTitle(l.name, i), h + 1)))));
  rows.push(element('tr', {}, element('th', { scope: 'row' }, t('all')), small({ map: a.mean, masked: a.masked }, -1, -1, t('mean of all layers'))));
  return element('div', { class: 'scroll' }, element('table', { class: 'heads', id: 'heads' }, element('thead', {}, head_row), element('tbody', {}, ...rows)));
}

// The selected map, what it masks, and its title.
function chosenMap(a, layer, head) {
  if (layer < 0) return { map: a.mean, masked: a.masked, title: t('mean of all layers and heads') };
  const l = a.layers[layer], of = layerTitle(l.name, layer);
  return head < 0 ? { map: l.mean, masked: l.masked, title: t('{0}, mean of heads', of) } : { map: l.heads[head], masked: l.masked, title: t('{0}, head {1}', of, head + 1) };
}

// The scale of colours below a map, and the sign of masked cells.
const scaleOf = ({ map, masked }) => element('p', { class: 'soft' }, '0 ', element('span', { class: 'ramp' }), t(' {0} (the highest of the map)', highest(map).toFixed(2)),
  ...(masked ? ['   ', element('span', { class: 'ramp hatch masked' }), ` ${t('masked')}`] : []));

// "model.decoder.layers.3.encoder_attn" is layer 4.
function layerTitle(name, index) {
  const number = /layers\.(\d+)\./.exec(name);
  return t('layer {0}', number ? Number(number[1]) + 1 : index + 1);
}
