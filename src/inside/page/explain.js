// How a number came about: recomputed here from the values that it follows from, so that what the page says is what it shows.
function softmax(row) {
  let most = -Infinity, sum = 0;
  for (const x of row) most = Math.max(most, x);
  if (most === -Infinity) return new Float64Array(row.length);
  const list = Float64Array.from(row, x => Math.exp(x - most));
  for (const e of list) sum += e;
  return list.map(e => e / sum);
}
function largest(list, n) {
  return Array.from(list.keys()).sort((a, b) => list[b] - list[a] || a - b).slice(0, n);
}
const dot = (a, i, b, j, d) => {
  let sum = 0;
  for (let n = 0; n < d; ++n) sum += a[i * d + n] * b[j * d + n];
  return sum;
};
// The scores of an attention from its products q · k: scaled, with the soft cap c, and with the bias b of a pair; 0: it has none.
const capOf = a => a.softcap ? a.softcap.data[0] : 0, biasOf = (a, i) => a.bias ? a.bias.data[i] : 0;
const capped = (x, c) => c ? c * Math.tanh(x / c) : x;
const scoreOf = (a, i, scaled) => capped(scaled, capOf(a)) + biasOf(a, i);
const productOf = (a, i) => {
  const T = a.scores.shape[2];
  return dot(a.q.data, Math.floor(i / T), a.k.data, i % T, a.d);
};
// The factor between q · k and the scores without cap and bias: 1/√d, or what the scores say where a family has another. Not exact: no
// factor gives these scores, because the family computes them in yet another way.
function scaleOf(a) {
  const { scores, d } = a, c = capOf(a);
  const worst = s => {
    let most = 0;
    for (let i = 0; i < scores.data.length; ++i) most = Math.max(most, Math.abs(scores.data[i] - scoreOf(a, i, s * productOf(a, i))) / (1 + Math.abs(scores.data[i])));
    return most;
  };
  let above = 0, below = 0;
  for (let i = 0; i < scores.data.length; ++i) {
    const x = productOf(a, i), score = scores.data[i] - biasOf(a, i);
    if (c && Math.abs(score) > 0.9 * c) continue;  // near the cap little of the product is left
    above += x * (c ? c * Math.atanh(score / c) : score), below += x * x;
  }
  const usual = 1 / Math.sqrt(d), fitted = below ? above / below : usual;
  const found = [usual, 1, fitted].find(s => worst(s) < 1e-4);
  return found === undefined ? { scale: usual, exact: false } : { scale: found, exact: true };
}
// q, k, bias, soft cap, scores, mask, masked scores and weights of the shown head of an attention; null where the family, or this file,
// has none.
async function attentionOf(part) {
  const head = view.head, other = keyHead(part, head);
  const at = (last, which) => shapeOf(`${part}.${last}`) && !isLeftOut(`${part}.${last}`) ? tensor(`${part}.${last}`, { head: which }) : null;
  const [q, k, v, bias, softcap, scores, masked, weights, allowed] = await Promise.all([at('q', head), at('k', other), at('v', other),
    at('bias', head), at('softcap', head), at('scores', head), at('masked_scores', head), at('weights', head), at('mask', head)]);  // a mask of all heads comes whole
  return { q, k, v, bias, softcap, scores, masked, weights, allowed, d: q ? q.shape[2] : 0 };
}
const isAllowed = (a, i) => !a.allowed || a.allowed.data[i] !== 0;
// The largest difference between the shown weights and softmax(scale q kᵀ + bias + mask), computed from the shown q, k and bias.
async function recomputed(part) {
  const a = await attentionOf(part), { scale, exact } = scaleOf(a), T = a.scores.shape[2];
  let most = 0;
  for (let i = 0; i < a.scores.shape[1]; ++i) {
    const row = Array.from({ length: T }, (_, j) => isAllowed(a, i * T + j) ? scoreOf(a, i * T + j, scale * productOf(a, i * T + j)) : -Infinity);
    softmax(row).forEach((w, j) => { most = Math.max(most, Math.abs(w - a.weights.data[i * T + j])); });
  }
  return { difference: most, scale, exact };
}

let explaining = 0;  // an explanation of a value that is shown no more comes too late
async function explain(p, value, m, [i, j], clicked) {
  const turn = ++explaining, C = m.columns.length, x = value.data[i * C + j];
  const say = how => {
    const masked = m.masked && m.masked(i * C + j) ? ` · ${t('masked')}` : '';
    $('readout').textContent = `${t('value')} ${m.words ? m.words(i * C + j) : digits(x)}${masked} · ${t('row')} ${i} “${m.rows[i]}” · ${t('column')} ${j}${m.columns[j] === String(j) ? '' : ` “${m.columns[j]}”`}${how ? ` · ${how}` : ''} · ${sourceOf(p)}`;
  };
  say('');
  if (clicked) {
    view.cell = [i, j];
    keepSoon();
  }
  try {
    const shown = await howOf(p, m, [i, j], x);
    if (turn !== explaining) return;
    say(shown.how);
    if (clicked) $('zoom').replaceChildren(...(shown.table ? [element('h2', {}, t('h_zoom')), shown.table] : []));
  } catch (error) { if (turn === explaining) trouble(error); }
}
function tableOf(heads, rows, foot) {
  const line = (cells, tag) => element('tr', {}, ...cells.map(c => element(tag, {}, String(c))));
  return element('div', { class: 'scroll' }, element('table', {}, element('thead', {}, line(heads, 'th')), element('tbody', {}, ...rows.map(r => line(r, 'td'))),
    element('tfoot', {}, ...foot.map(r => line(r, 'td')))));
}
// { how, table }
async function howOf(p, m, [i, j], x) {
  if (p.key === 'tokens') return { how: t('h_tokens', m.rows[i], x) };
  if (p.key === 'mask') return { how: t(x ? 'h_mask_1' : 'h_mask_0', m.rows[i], m.columns[j]) };
  const ofAttention = ['scores', 'masked_scores', 'weights', 'heads'].includes(p.key);
  if (ofAttention && shapeOf(`${p.part}.scores`)) return howOfAttention(p, m, [i, j]);  // recurrent layers have none
  if (['stream', 'after', 'output'].includes(p.key)) {
    const [a, b] = termsOf(p);
    if (shapeOf(a) && shapeOf(b)) {
      const [left, right] = await Promise.all([tensor(a), tensor(b)]), C = m.columns.length;
      if (left && right) {
        const [l, r] = [left.data[i * C + j], right.data[i * C + j]];
        return { how: Math.abs(l + r - x) < 1e-4 * (1 + Math.abs(x)) ? t('h_sum', digits(l), digits(r), digits(x)) : t('h_sum_norm', digits(l), digits(r)) };
      }
    }
  }
  return { how: t('h_row', m.rows[i], j) };
}
// The two values whose sum a stream is.
function termsOf(p) {
  const layer = `${p.side}.${p.layer}`, cross = shapeOf(`${layer}.after_cross`);
  if (p.key === 'stream') return [`${p.side}.embeddings`, `${p.side}.positions`];
  if (p.key === 'output') return [`${layer}.${cross ? 'after_cross' : 'after_self'}`, `${layer}.feed_forward.out`];
  return p.last === 'after_cross' ? [`${layer}.after_self`, `${layer}.cross.out`] : [`${layer}.input`, `${layer}.self.out`];
}
async function howOfAttention(p, m, [i, j]) {
  const a = await attentionOf(p.part);
  const needed = { scores: [a.q, a.k], weights: [a.weights], masked_scores: [], heads: [a.weights, a.v] }[p.key];
  if (!a.scores || needed.some(value => !value)) return { how: t('too_large') };
  const T = a.scores.shape[2], keys = piecesOf(p.crossing ? 'encoder' : p.side);
  if (p.key === 'heads') {
    const d = a.v.shape[2], rows = keys.map((key, n) => [key, digits(a.weights.data[i * T + n]), digits(a.v.data[n * d + j]), digits(a.weights.data[i * T + n] * a.v.data[n * d + j])]);
    let sum = 0;
    for (let n = 0; n < T; ++n) sum += a.weights.data[i * T + n] * a.v.data[n * d + j];
    return { how: `${t('h_mix', T)} = ${digits(sum)}`, table: tableOf([t('h_key'), 'w', 'v', 'w v'], rows, [[t('sum'), '', '', digits(sum)]]) };
  }
  if (p.key === 'weights') {
    const row = Array.from({ length: T }, (_, n) => isAllowed(a, i * T + n) ? a.scores.data[i * T + n] : -Infinity), most = Math.max(...row);
    const e = row.map(s => most === -Infinity ? 0 : Math.exp(s - most)), w = a.weights.data.subarray(i * T, (i + 1) * T);
    const shown = w.reduce((s, one) => s + one, 0), sum = e.reduce((s, one) => s + one, 0);
    const sinks = shown > 0 && shown < 1 - 1e-5, all = sinks ? sum / shown : sum;  // a sink takes a part, and gives nothing
    const rows = keys.map((key, n) => [key, digits(row[n]), digits(e[n]), digits(w[n])]);
    if (sinks) rows.push([t('h_sink'), '', digits(all - sum), digits(1 - shown)]);
    return { how: row[j] === -Infinity ? t('h_minus') : t('h_weight', `${digits(row[j])} − ${digits(most)}`, digits(all)) + ` = ${digits(e[j] / all)}`,
      table: tableOf([t('h_key'), t('h_score_name'), t('h_exp'), 'w'], rows, [[t('sum'), '', digits(all), digits(sinks ? 1 : shown)]]) };
  }
  if (p.key === 'masked_scores') return { how: isAllowed(a, i * T + j) ? t('h_same') : t('h_minus') };
  const { scale, exact } = scaleOf(a), product = productOf(a, i * T + j), score = a.scores.data[i * T + j];
  const rows = Array.from({ length: a.d }, (_, n) => [n, digits(a.q.data[i * a.d + n]), digits(a.k.data[j * a.d + n]), digits(a.q.data[i * a.d + n] * a.k.data[j * a.d + n])]);
  const table = foot => tableOf([t('h_dimension'), `q “${m.rows[i]}”`, `k “${m.columns[j]}”`, t('h_product')], rows, [[t('sum'), '', '', digits(product)], ...foot]);
  if (!exact) return { how: t('h_score_other', digits(product), digits(score)), table: table([[t('h_score_name'), '', '', digits(score)]]) };
  const c = capOf(a), bias = biasOf(a, i * T + j), inCap = capped(scale * product, c), shown = inCap + bias;
  const foot = [[t('h_scale'), '', digits(scale), digits(scale * product)]];
  if (c) foot.push([t('h_cap'), '', digits(c), digits(inCap)]);
  if (a.bias) foot.push([t('h_bias'), '', digits(bias), digits(shown)]);
  const key = c ? 'h_score_cap' : a.bias ? 'h_score_bias' : 'h_score';
  return { how: `${t(key, digits(scale), digits(product), c ? digits(c) : bias < 0 ? `(${digits(bias)})` : digits(bias))} = ${digits(shown)}`, table: table(foot) };
}
