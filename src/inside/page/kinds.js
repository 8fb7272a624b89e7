// Kinds of attention, shown with numbers of the pass above (attention_kinds.js computes them): the softmax that runs over tiles, the state
// of linear attention, heads that share keys, and the ways in which attention learns of positions.
const KINDS_FIRST = { on: 'tiles', tile: 2, groups: 0, position: 3, shift: 2 };
const kinds = { ...KINDS_FIRST, part: null, token: 0, first: null };
const KIND_FORMULAS = {
  tiles: 'm = max(m′, max s);  l = l′ e^(m′ − m) + Σ e^(s − m);  o = o′ e^(m′ − m) + Σ e^(s − m) v;  y = o / l',
  linear: 'S = S′ + φ(k) vᵀ;  z = z′ + φ(k);  y = φ(q)ᵀ S / φ(q)ᵀ z',
  groups: 'k, v of query head h: ⌊h · H_kv / H⌋',
  alibi: 'score = q · k / √d − m_h (i − j);  m_h = 2^(−8 (h + 1) / H),  H = 2^n',
  rotary: '(R_m q) · (R_n k) = q · (R_{n − m} k);  θ_i = 10000^(−2 i / d)',
  sinusoids: 'PE(p, 2i) = sin(p θ_i);  PE(p, 2i + 1) = cos(p θ_i);  PE(p + k) = R_k PE(p)',
};

// The self-attentions of this pass whose numbers are here. Linear attention and ALiBi look back only, as a decoder does.
function kindParts() {
  const names = new Set(now.about.points.map(p => p.name));
  const looksBack = ['linear', 'alibi'].includes(kinds.on);
  const parts = now.about.points.map(p => pointOf(p.name)).filter(p => p.last === 'masked_scores').map(p => p.part);
  return [...new Set(parts)].filter(part => !part.endsWith('.cross') && !(looksBack && part.startsWith('encoder')) &&
    ['q', 'k', 'v'].every(last => names.has(`${part}.${last}`)));
}

// What the views below are made of. A setting's id is "kind-" and the key of `kinds` that it sets.
function kindNumber(key, id, min, max) {
  const setting = id.slice('kind-'.length);
  const change = e => {
    kinds[setting] = Math.min(max, Math.max(min, Math.round(+e.target.value) || min));
    drawKind();
  };
  return element('label', {}, t(key), element('input', { type: 'number', id, min, max, value: kinds[setting], change }));
}
function kindSelect(key, id, values, chosen, choose) {
  const options = values.map(value => element('option', { value, selected: value === chosen }, value));
  return element('label', {}, t(key), element('select', { id, change: e => { choose(e.target.value); drawKind(); } }, ...options));
}
function kindMatrix(name, data, rows, columns, masked) {
  const choose = (i, j) => {
    $('kind-readout').textContent = `${t('row')} ${rows[i]}, ${t('column')} ${columns[j]}: ${digits(data[i * columns.length + j])}`;
  };
  return matrixOf({ name, data, rows, columns, masked, choose });
}
function kindTable(heads, rows) {
  const head = element('tr', {}, ...heads.map(h => element('th', { scope: 'col' }, h)));
  const body = rows.map(cells => element('tr', {}, ...cells.map(c => element('td', {}, String(c)))));
  return element('div', { class: 'stages' }, element('table', {}, element('thead', {}, head), element('tbody', {}, ...body)));
}
const kindCheck = (key, ...parts) => element('p', { id: 'kind-check', class: 'readout' }, t(key, ...parts));
const numbersOf = n => Array.from({ length: n }, (_, i) => String(i));

// The view of each kind, from one head's numbers a: q, k, v and masked scores of T keys. The last node says what was checked.
const KINDS = {
  async tiles(a, T) {
    const tokens = a.masked.shape[1], i = Math.min(kinds.token, tokens - 1), dv = a.v.shape[2];
    const row = a.masked.data.slice(i * T, (i + 1) * T);
    const { steps, result } = runningSoftmax(row, a.v.data, dv, kinds.tile);
    const weights = softmax(row);
    const direct = Float64Array.from({ length: dv }, (_, n) => weights.reduce((sum, w, j) => sum + w * a.v.data[j * dv + n], 0));
    const rows = steps.map(s => [`${s.from}–${s.from + s.scores.length - 1}`, s.scores.map(short).join(' '), short(s.m), digits(s.shrink),
      digits(s.l), digits(s.o[0])]);
    return [kindNumber('k_tile', 'kind-tile', 1, T), kindNumber('k_row', 'kind-token', 0, tokens - 1),
      kindTable([t('k_keys'), t('k_scores'), 'm', 'exp(m′ − m)', 'l', 'o[0]'], rows), kindCheck('k_tiles_same', digits(apart(result, direct)))];
  },

  async linear(a, T) {
    const d = a.q.shape[2], dv = a.v.shape[2], i = Math.min(kinds.token, T - 1);
    const { states, results } = linearAttention(a.q.data, a.k.data, a.v.data, T, d, dv);
    const byPairs = linearByPairs(a.q.data, a.k.data, a.v.data, i, d, dv);
    return [kindNumber('k_after', 'kind-token', 0, T - 1), kindMatrix('S', states[i], numbersOf(d), numbersOf(dv)),
      kindCheck('k_linear_same', d, dv, digits(apart(results[i], byPairs)))];
  },

  async groups() {
    const q = shapeOf(`${kinds.part}.q`), k = shapeOf(`${kinds.part}.k`), v = shapeOf(`${kinds.part}.v`);
    const H = q[1], own = k[1], bytes = 4 * (k[2] + v[2]);  // bytes: of one key head and token
    const divisors = numbersOf(H + 1).map(Number).filter(g => g > 0 && H % g === 0);
    const groups = divisors.includes(kinds.groups) ? kinds.groups : own;
    const shares = Float64Array.from({ length: groups * H }, (_, i) => Math.floor((i % H) * groups / H) === Math.floor(i / H) ? 1 : 0);
    return [kindSelect('k_groups', 'kind-groups', divisors, groups, value => { kinds.groups = +value; }),
      kindMatrix(t('k_groups'), shares, numbersOf(groups).map(g => `k, v ${g}`), numbersOf(H).map(h => `q ${h}`)),
      kindCheck('k_groups_same', H, own, groups, groups * bytes, H * bytes)];
  },

  async alibi(a, T) {
    const H = shapeOf(`${kinds.part}.q`)[1], slopes = slopesOf(H), h = Math.min(view.head, H - 1);
    const names = piecesOf(kinds.part.split('.')[0]).slice(0, T), N = names.length;
    const bias = Float64Array.from({ length: N * N }, (_, i) => -slopes[h] * (Math.floor(i / N) - i % N));
    const isLater = i => i % N > Math.floor(i / N);
    const far = a.bias ? bias.reduce((most, x, i) => isLater(i) ? most : Math.max(most, Math.abs(x - a.bias.data[i])), 0) : null;
    return [kindTable([t('head'), t('k_slope')], slopes.map((m, n) => [n, digits(m)])),
      kindMatrix('ALiBi', bias, names, names, isLater), kindCheck('k_alibi_same', h, digits(slopes[h])),
      far === null ? null : element('p', { id: 'kind-own' }, far < 1e-4 ? t('k_own_alibi') : t('k_own_bias', digits(far)))];
  },

  async rotary(a) {
    const width = a.q.shape[2], d = 2 * Math.floor(width / 2), last = a.q.shape[0] - 1;
    const q = a.q.data.slice(last * width, last * width + d), k = a.k.data.slice(0, d);
    const product = (m, n) => { const x = turned(q, m), y = turned(k, n); return x.reduce((sum, v, c) => sum + v * y[c], 0); };
    const positions = [0, 5, 50].map(further => kinds.position + further);
    const products = positions.map(m => product(m, m - kinds.shift));
    const clock = n => {
      const w = kinds.position * angle(n, d);
      const box = element('span', { class: 'clock', role: 'img', 'aria-label': t('k_pair', n, digits(w)) });
      const x = (10 * Math.cos(w)).toFixed(3), y = (-10 * Math.sin(w)).toFixed(3);
      box.innerHTML = `<svg viewBox="-12 -12 24 24"><circle r="10"/><line x2="${x}" y2="${y}"/></svg>`;
      return box;
    };
    return [kindNumber('k_position', 'kind-position', 0, 1000), kindNumber('k_distance', 'kind-shift', 0, 1000),
      element('div', { class: 'clocks' }, ...numbersOf(Math.min(d / 2, 32)).map(Number).map(clock)),
      kindTable([t('k_position'), 'q · k'], products.map((x, n) => [positions[n], digits(x)])),
      kindCheck('k_rotary_same', kinds.shift, digits(Math.max(...products) - Math.min(...products)))];
  },

  async sinusoids() {
    const shape = shapeOf('decoder.stream') || [8, 32], d = 2 * Math.floor(shape[1] / 2), N = Math.max(16, shape[0]);
    const all = new Float64Array(N * d);
    for (let p = 0; p < N; ++p) all.set(sinusoid(p, d), p * d);
    const own = shapeOf('decoder.positions') ? await tensor('decoder.positions') : null;
    // Two orders are in use: sine and cosine in turn, or all sines first.
    const inTurn = x => x, sinesFirst = x => x.map((_, n) => n < d / 2 ? x[2 * n] : x[2 * (n - d / 2) + 1]);
    const differences = order => numbersOf(own.shape[0]).map(p => apart(order(sinusoid(+p, d)), own.data.slice(p * d, (+p + 1) * d)));
    const far = own && own.shape[1] === d ? Math.min(...[inTurn, sinesFirst].map(order => Math.max(...differences(order)))) : null;
    const p = kinds.position, k = kinds.shift;
    return [kindNumber('k_position', 'kind-position', 0, 1000), kindNumber('k_shift', 'kind-shift', 0, 1000),
      kindMatrix('PE', all, numbersOf(N), numbersOf(d)),
      kindCheck('k_sinusoids_same', p, k, digits(apart(shifted(sinusoid(p, d), k), sinusoid(p + k, d)))),
      far === null ? null : element('p', { id: 'kind-own' }, far < 1e-4 ? t('k_own_sinusoids') : t('k_own_learned', digits(far)))];
  },
};

// The chosen kind's nodes; a sentence if this pass has not the numbers that it needs.
async function kindNodes() {
  const none = [element('p', { class: 'mute' }, t('k_none'))];
  try {
    const a = kinds.part ? await attentionOf(kinds.part) : null;
    const complete = a && a.q && a.k && a.v && a.masked;
    if (kinds.on === 'groups' ? !kinds.part : kinds.on !== 'sinusoids' && !complete) return none;
    return await KINDS[kinds.on](a, complete ? a.masked.shape[2] : 0);
  } catch (error) {
    return [element('p', { class: 'mute' }, error.message)];
  }
}

let kindTurn = 0;  // a later choice overtakes an earlier one that still loads
async function drawKind() {
  const turn = ++kindTurn, focus = document.activeElement && document.activeElement.id;
  for (const b of $('kinds').children) b.setAttribute('aria-pressed', String(b.dataset.kind === kinds.on));
  const parts = kindParts();
  if (!parts.includes(kinds.part)) kinds.part = parts[0] || null;
  const nodes = (await kindNodes()).filter(n => n);
  if (turn !== kindTurn) return;
  const isSetting = n => n.tagName === 'LABEL';
  const choosesPart = parts.length > 1 && kinds.on !== 'sinusoids';
  const part = choosesPart ? [kindSelect('k_part', 'kind-part', parts, kinds.part, value => { kinds.part = value; })] : [];
  $('kind').replaceChildren(element('p', {}, t(`ka_${kinds.on}`)), element('p', { class: 'formula' }, KIND_FORMULAS[kinds.on]),
    element('div', { class: 'settings' }, ...part, ...nodes.filter(isSetting)), ...nodes.filter(n => !isSetting(n)),
    element('p', { id: 'kind-readout', class: 'readout', role: 'status' }));
  if (focus && focus.startsWith('kind-') && $(focus)) $(focus).focus();
  $('kind').dataset.drawn = kinds.on;
  keepState();
}

// The kind and its settings, for the page's address.
const KIND_SETTINGS = ['tile', 'token', 'groups', 'position', 'shift'];
const kindState = () => now.about && kinds.first ? packed([['on', kinds.on === kinds.first.on ? undefined : kinds.on], ['part', kinds.part === kinds.first.part ? undefined : kinds.part],
  ...KIND_SETTINGS.filter(key => kinds[key] !== kinds.first[key]).map(key => [key, kinds[key]])]) : undefined;
function drawKinds(state) {
  const given = new URLSearchParams(state || '');
  $('kinds-view').hidden = false;
  kinds.part = kindParts()[0] || null, kinds.token = now.about.tokens.ids.length - 1, kinds.groups = 0;
  kinds.first = { ...KINDS_FIRST, part: kinds.part, token: kinds.token };
  if (state !== undefined) Object.assign(kinds, KINDS_FIRST, { token: kinds.token, part: given.get('part') || kinds.part, on: Object.hasOwn(KINDS, given.get('on')) ? given.get('on') : KINDS_FIRST.on });
  for (const key of KIND_SETTINGS) if (/^\d{1,4}$/.test(given.get(key) || '')) kinds[key] = +given.get(key);
  kinds.tile = Math.max(1, kinds.tile);
  const button = k => element('button', { type: 'button', 'data-kind': k, click: () => { kinds.on = k; drawKind(); } }, t(`k_${k}`));
  $('kinds').replaceChildren(...Object.keys(KINDS).map(button));
  return drawKind();
}
