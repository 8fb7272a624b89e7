// Kinds of attention, computed here from numbers of the pass above: the softmax that runs over tiles, the state of linear attention,
// heads that share keys, and the ways in which attention learns of positions.
const kinds = { on: 'tiles', part: null, tile: 2, token: 0, groups: 1, position: 3, shift: 2 };

// softmax(row) V without ever holding the whole row [Milakov and Gimelshein 2018; Dao et al. 2022]: the largest score m so far, the sum l
// of exp(score - m), and the result o so far. A tile with a larger score shrinks what there is by exp(m_old - m). values: [T, d]
function runningSoftmax(row, values, d, tile) {
  let m = -Infinity, l = 0, o = new Float64Array(d);
  const steps = [];
  for (let from = 0; from < row.length; from += tile) {
    const scores = Array.from(row.slice(from, from + tile)), most = Math.max(m, ...scores);
    if (most === -Infinity) { steps.push({ from, scores, m, shrink: 1, l, o: o.slice() }); continue; }  // all forbidden
    const shrink = Math.exp(m - most), e = scores.map(s => Math.exp(s - most));
    m = most;
    l = l * shrink + e.reduce((a, b) => a + b, 0);
    o = o.map((x, n) => x * shrink + e.reduce((sum, w, j) => sum + w * values[(from + j) * d + n], 0));
    steps.push({ from, scores, m, shrink, l, o: o.slice() });
  }
  return { steps, result: o.map(x => l > 0 ? x / l : 0) };
}

// Linear attention [Katharopoulos et al. 2020] with phi(x) = elu(x) + 1: S and z after each token, and what the token's query reads.
const phi = x => x > 0 ? x + 1 : Math.exp(x);
function linearAttention(q, k, v, T, d, dv) {
  const S = new Float64Array(d * dv), z = new Float64Array(d), states = [], results = [];
  for (let t = 0; t < T; ++t) {
    for (let i = 0; i < d; ++i) {
      const f = phi(k[t * d + i]);
      z[i] += f;
      for (let j = 0; j < dv; ++j) S[i * dv + j] += f * v[t * dv + j];
    }
    let below = 0;
    const o = new Float64Array(dv);
    for (let i = 0; i < d; ++i) {
      const f = phi(q[t * d + i]);
      below += f * z[i];
      for (let j = 0; j < dv; ++j) o[j] += f * S[i * dv + j];
    }
    states.push(S.slice()), results.push(o.map(x => x / below));
  }
  return { states, results };
}
// The same by all pairs: what token t reads.
function linearByPairs(q, k, v, t, d, dv) {
  const o = new Float64Array(dv);
  let below = 0;
  for (let j = 0; j <= t; ++j) {
    let w = 0;
    for (let i = 0; i < d; ++i) w += phi(q[t * d + i]) * phi(k[j * d + i]);
    below += w;
    for (let n = 0; n < dv; ++n) o[n] += w * v[j * dv + n];
  }
  return o.map(x => x / below);
}

// ALiBi [Press et al. 2022]: the slopes are powers of 2^(-8/n), for n heads that are a power of two; others take every second one of the
// next power as well.
function slopesOf(heads) {
  const n = 2 ** Math.floor(Math.log2(heads)), powers = (count, of) => Array.from({ length: count }, (_, h) => 2 ** (-8 * (h + 1) / of));
  return powers(n, n).concat(powers(2 * n, 2 * n).filter((_, h) => h % 2 === 0)).slice(0, heads);
}

// The angle by which one position turns pair i of d values, in rotary embeddings and in sinusoids alike.
const angle = (i, d) => 10000 ** (-2 * i / d);
// Rotary embeddings [Su et al. 2021]: the pairs (x_i, x_{i + d/2}) turned by p angles.
function turned(x, p) {
  const d = x.length, half = d / 2, y = Float64Array.from(x);
  for (let i = 0; i < half; ++i) {
    const c = Math.cos(p * angle(i, d)), s = Math.sin(p * angle(i, d));
    y[i] = c * x[i] - s * x[i + half], y[i + half] = s * x[i] + c * x[i + half];
  }
  return y;
}
// Sinusoids [Vaswani et al. 2017]: the pair (sin, cos) of each angle.
const sinusoid = (p, d) => Float64Array.from({ length: d }, (_, n) => (n % 2 ? Math.cos : Math.sin)(p * angle(n >> 1, d)));
// PE(p) with its pairs turned by k angles: sin(a + b) = sin a cos b + cos a sin b. It is PE(p + k).
function shifted(pe, k) {
  const y = Float64Array.from(pe), d = pe.length;
  for (let n = 0; n + 1 < d; n += 2) {
    const c = Math.cos(k * angle(n / 2, d)), s = Math.sin(k * angle(n / 2, d));
    y[n] = pe[n] * c + pe[n + 1] * s, y[n + 1] = pe[n + 1] * c - pe[n] * s;
  }
  return y;
}
const apart = (a, b) => a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0);

// The self-attentions of this pass whose numbers are here. Linear attention and ALiBi look back only, as a decoder does.
function kindParts() {
  const names = new Set(now.about.points.map(p => p.name));
  return [...new Set(now.about.points.map(p => pointOf(p.name)).filter(p => p.last === 'masked_scores').map(p => p.part))]
    .filter(part => !part.endsWith('.cross') && !(['linear', 'alibi'].includes(kinds.on) && part.startsWith('encoder')) && ['q', 'k', 'v'].every(last => names.has(`${part}.${last}`)));
}
const kindNumber = (key, id, min, max) => element('label', {}, t(key), element('input', { type: 'number', id, min, max, value: kinds[id.slice(5)],
  change: e => { kinds[id.slice(5)] = Math.min(max, Math.max(min, Math.round(+e.target.value) || min)); drawKind(); } }));
const kindMatrix = (name, data, rows, columns, masked) => matrixOf({ name, data, rows, columns, masked,
  choose: (i, j) => { $('kind-readout').textContent = `${t('row')} ${rows[i]}, ${t('column')} ${columns[j]}: ${digits(data[i * columns.length + j])}`; } });
const kindTable = (heads, rows) => element('div', { class: 'stages' }, element('table', {}, element('thead', {}, element('tr', {}, ...heads.map(h => element('th', { scope: 'col' }, h)))),
  element('tbody', {}, ...rows.map(cells => element('tr', {}, ...cells.map(c => element('td', {}, String(c))))))));
const kindSays = (id, key, ...parts) => element('p', { id, class: 'readout' }, t(key, ...parts));
const numbersOf = n => Array.from({ length: n }, (_, i) => String(i));

const KINDS = {
  async tiles(a, T) {
    const i = Math.min(kinds.token, a.masked.shape[1] - 1), row = a.masked.data.slice(i * T, (i + 1) * T), dv = a.v.shape[2];
    const { steps, result } = runningSoftmax(row, a.v.data, dv, kinds.tile);
    const whole = softmax(row), direct = Float64Array.from({ length: dv }, (_, n) => whole.reduce((s, w, j) => s + w * a.v.data[j * dv + n], 0));
    return [kindNumber('k_tile', 'kind-tile', 1, T), kindNumber('k_row', 'kind-token', 0, a.masked.shape[1] - 1),
      kindTable([t('k_keys'), t('k_scores'), 'm', 'exp(m′ − m)', 'l', 'o[0]'], steps.map(s => [`${s.from}–${s.from + s.scores.length - 1}`, s.scores.map(short).join(' '), short(s.m), digits(s.shrink), digits(s.l), digits(s.o[0])])),
      kindSays('kind-check', 'k_tiles_same', digits(apart(result, direct)))];
  },
  async linear(a, T) {
    const d = a.q.shape[2], dv = a.v.shape[2], { states, results } = linearAttention(a.q.data, a.k.data, a.v.data, T, d, dv), i = Math.min(kinds.token, T - 1);
    return [kindNumber('k_after', 'kind-token', 0, T - 1), kindMatrix('S', states[i], numbersOf(d), numbersOf(dv)),
      kindSays('kind-check', 'k_linear_same', d, dv, digits(apart(results[i], linearByPairs(a.q.data, a.k.data, a.v.data, i, d, dv))))];
  },
  async groups() {
    const q = shapeOf(`${kinds.part}.q`), k = shapeOf(`${kinds.part}.k`), H = q[1], own = k[1], bytes = 4 * (k[2] + shapeOf(`${kinds.part}.v`)[2]);
    const divisors = numbersOf(H + 1).map(Number).filter(g => g > 0 && H % g === 0), groups = divisors.includes(kinds.groups) ? kinds.groups : own;
    return [element('label', {}, t('k_groups'), element('select', { id: 'kind-groups', change: e => { kinds.groups = +e.target.value; drawKind(); } }, ...divisors.map(g => element('option', { value: g, selected: g === groups }, g)))),
      kindMatrix(t('k_groups'), Float64Array.from({ length: groups * H }, (_, i) => Math.floor((i % H) * groups / H) === Math.floor(i / H) ? 1 : 0), numbersOf(groups).map(g => `k, v ${g}`), numbersOf(H).map(h => `q ${h}`)),
      kindSays('kind-check', 'k_groups_same', H, own, groups, groups * bytes, H * bytes)];
  },
  async alibi(a, T) {
    const H = shapeOf(`${kinds.part}.q`)[1], slopes = slopesOf(H), h = Math.min(view.head, H - 1), names = piecesOf(kinds.part.split('.')[0]).slice(0, T), N = names.length;
    return [kindTable([t('head'), t('k_slope')], slopes.map((m, n) => [n, digits(m)])),
      kindMatrix('ALiBi', Float64Array.from({ length: N * N }, (_, i) => -slopes[h] * (Math.floor(i / N) - i % N)), names, names, i => i % N > Math.floor(i / N)),
      kindSays('kind-check', 'k_alibi_same', h, digits(slopes[h]))];
  },
  async rotary(a, T) {
    const d = 2 * Math.floor(a.q.shape[2] / 2), i = a.q.shape[0] - 1, q = a.q.data.slice(i * a.q.shape[2], i * a.q.shape[2] + d), k = a.k.data.slice(0, d), p = kinds.position;
    const product = (m, n) => { const x = turned(q, m), y = turned(k, n); return x.reduce((s, v, c) => s + v * y[c], 0); };
    const at = [p, p + 5, p + 50].map(m => product(m, m - kinds.shift));
    const clock = n => {
      const w = p * angle(n, d), box = element('span', { class: 'clock', role: 'img', 'aria-label': t('k_pair', n, digits(w)) });
      box.innerHTML = `<svg viewBox="-12 -12 24 24"><circle r="10"/><line x2="${(10 * Math.cos(w)).toFixed(3)}" y2="${(-10 * Math.sin(w)).toFixed(3)}"/></svg>`;
      return box;
    };
    return [kindNumber('k_position', 'kind-position', 0, 1000), kindNumber('k_distance', 'kind-shift', 0, 1000),
      element('div', { class: 'clocks' }, ...numbersOf(Math.min(d / 2, 32)).map(Number).map(clock)),
      kindTable([t('k_position'), 'q · k'], at.map((x, n) => [[p, p + 5, p + 50][n], digits(x)])),
      kindSays('kind-check', 'k_rotary_same', kinds.shift, digits(Math.max(...at) - Math.min(...at)))];
  },
  async sinusoids() {
    const shape = shapeOf('decoder.stream') || [8, 32], d = 2 * Math.floor(shape[1] / 2), N = Math.max(16, shape[0]);
    const all = new Float64Array(N * d);
    for (let p = 0; p < N; ++p) all.set(sinusoid(p, d), p * d);
    const own = shapeOf('decoder.positions') ? await tensor('decoder.positions') : null;
    // Two orders are in use: sine and cosine in turn, or all sines first.
    const halves = x => x.map((_, n) => n < d / 2 ? x[2 * n] : x[2 * (n - d / 2) + 1]);
    const far = own && own.shape[1] === d ? Math.min(...[x => x, halves].map(order => Math.max(...numbersOf(own.shape[0]).map(p => apart(order(sinusoid(+p, d)), own.data.slice(p * d, (+p + 1) * d)))))) : null;
    const p = kinds.position, k = kinds.shift;
    return [kindNumber('k_position', 'kind-position', 0, 1000), kindNumber('k_shift', 'kind-shift', 0, 1000), kindMatrix('PE', all, numbersOf(N), numbersOf(d)),
      kindSays('kind-check', 'k_sinusoids_same', p, k, digits(apart(shifted(sinusoid(p, d), k), sinusoid(p + k, d)))),
      far === null ? null : element('p', { id: 'kind-own' }, far < 1e-4 ? t('k_own_sinusoids') : t('k_own_learned', digits(far)))];
  },
};

let kindTurn = 0;
async function drawKind() {
  const turn = ++kindTurn, focus = document.activeElement && document.activeElement.id;
  for (const b of $('kinds').children) b.setAttribute('aria-pressed', String(b.dataset.kind === kinds.on));
  const parts = kindParts();
  if (!parts.includes(kinds.part)) kinds.part = parts[0] || null;
  let nodes;
  try {
    const a = kinds.part ? await attentionOf(kinds.part) : null;
    const needs = !['groups', 'sinusoids'].includes(kinds.on), has = a && a.q && a.k && a.v && a.masked;
    nodes = (needs && !has) || (kinds.on === 'groups' && !kinds.part) ? [element('p', { class: 'mute' }, t('k_none'))] : await KINDS[kinds.on](a, has ? a.masked.shape[2] : 0);
  } catch (error) { nodes = [element('p', { class: 'mute' }, error.message)]; }
  if (turn !== kindTurn) return;
  const select = parts.length > 1 && kinds.on !== 'sinusoids' ? [element('label', {}, t('k_part'), element('select', { id: 'kind-part', change: e => { kinds.part = e.target.value; drawKind(); } }, ...parts.map(p => element('option', { value: p, selected: p === kinds.part }, p))))] : [];
  const settings = nodes.filter(n => n && n.tagName === 'LABEL');
  $('kind').replaceChildren(element('p', {}, t(`ka_${kinds.on}`)), element('p', { class: 'formula' }, KIND_FORMULAS[kinds.on]),
    element('div', { class: 'settings' }, ...select, ...settings), ...nodes.filter(n => n && n.tagName !== 'LABEL'), element('p', { id: 'kind-readout', class: 'readout', role: 'status' }));
  if (focus && focus.startsWith('kind-') && $(focus)) $(focus).focus();
  $('kind').dataset.drawn = kinds.on;
}
const KIND_FORMULAS = {
  tiles: 'm = max(m′, max s);  l = l′ e^(m′ − m) + Σ e^(s − m);  o = o′ e^(m′ − m) + Σ e^(s − m) v;  y = o / l',
  linear: 'S = S′ + φ(k) vᵀ;  z = z′ + φ(k);  y = φ(q)ᵀ S / φ(q)ᵀ z',
  groups: 'k, v of query head h: ⌊h · H_kv / H⌋',
  alibi: 'score = q · k / √d − m_h (i − j);  m_h = 2^(−8 (h + 1) / H),  H = 2^n',
  rotary: '(R_m q) · (R_n k) = q · (R_{n − m} k);  θ_i = 10000^(−2 i / d)',
  sinusoids: 'PE(p, 2i) = sin(p θ_i);  PE(p, 2i + 1) = cos(p θ_i);  PE(p + k) = R_k PE(p)',
};
function drawKinds() {
  $('kinds-view').hidden = false;
  kinds.part = kindParts()[0] || null, kinds.token = now.about.tokens.ids.length - 1, kinds.groups = 0;
  $('kinds').replaceChildren(...Object.keys(KINDS).map(k => element('button', { type: 'button', 'data-kind': k, click: () => { kinds.on = k; drawKind(); } }, t(`k_${k}`))));
  return drawKind();
}
