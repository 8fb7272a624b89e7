// From logits to a token, on the real distribution: penalties, temperature, the cuts of top-k, top-p and min-p, and a draw.
const CONTROLS = [['temperature', 0, 2, 0.05, 1], ['top_k', 0, 100, 1, 0], ['top_p', 0.05, 1, 0.01, 1], ['min_p', 0, 0.5, 0.01, 0], ['repetition', 1, 2, 0.05, 1], ['presence', 0, 2, 0.1, 0], ['frequency', 0, 2, 0.1, 0], ['seed', 1, 50, 1, 1]];
const draw = { token: 0, last: 0, logits: null };

// The stages of one step of sampling: { penalised, probs: after temperature, kept: ids, best first, cut: their probabilities, drawn }.
// `before`: the ids of the text so far, of which all but the prompt's count for presence and frequency.
function stagesOf(logits, before, generated, o) {
  const penalised = Float64Array.from(logits);
  for (const id of new Set(before)) if (o.repetition !== 1) penalised[id] = penalised[id] > 0 ? penalised[id] / o.repetition : penalised[id] * o.repetition;
  for (const id of generated) penalised[id] -= o.frequency;
  for (const id of new Set(generated)) penalised[id] -= o.presence;
  if (o.temperature === 0) {
    const best = largest(penalised, 1)[0], probs = softmax(penalised);
    return { penalised, probs, kept: [best], cut: [1], drawn: best };
  }
  const probs = softmax(penalised.map(x => x / o.temperature));
  let kept = largest(probs, probs.length);
  if (o.top_k > 0 && o.top_k < kept.length) kept = kept.filter(id => probs[id] >= probs[kept[o.top_k - 1]]);  // and those equal to the k-th
  const total = list => list.reduce((s, id) => s + probs[id], 0);
  if (o.top_p < 1) {
    const all = total(kept);
    let sum = 0;
    kept = kept.filter(id => { const goes = sum >= o.top_p * all; sum += probs[id]; return !goes; });
  }
  if (o.min_p > 0) kept = kept.filter(id => probs[id] >= o.min_p * probs[kept[0]]);
  const all = total(kept), cut = kept.map(id => probs[id] / all);
  let left = random(o.seed), drawn = kept[kept.length - 1];
  for (let i = 0; i < kept.length; ++i) if ((left -= cut[i]) < 0) { drawn = kept[i]; break; }
  return { penalised, probs, kept, cut, drawn };
}
// A number below 1 that depends on the seed alone.
function random(seed) {
  let x = (seed * 0x9E3779B1) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x85EBCA6B) >>> 0;
  x = Math.imul(x ^ (x >>> 13), 0xC2B2AE35) >>> 0;
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
}
// The pieces of these ids: of the best tokens after `token`, and of the text.
async function namesOf(ids, token) {
  const known = new Map(), tokens = now.about.tokens;
  tokens.ids.forEach((id, i) => known.set(id, plain(tokens.pieces[i])));
  const top = FILE ? now.about.next[token].top : (await topOf(token)).next[token].top;
  for (const [id, piece] of top || []) known.set(id, plain(piece));
  return ids.map(id => known.get(id) || `#${id}`);
}
function topOf(token) {
  const key = JSON.stringify(['top', token, passOf()]);
  if (!now.kept.has(key)) {
    const reply = trace({ edit: now.edits, token, top: 100 });
    now.kept.set(key, reply);
    reply.catch(() => now.kept.delete(key));
  }
  return now.kept.get(key);
}
// The token, and the settings that are not the first ones, for the page's address.
const drawState = () => !$('draw-token') ? undefined : packed([['token', draw.token === draw.last ? undefined : draw.token],
  ...CONTROLS.filter(([key, , , , value]) => +$(`draw-${key}`).value !== value).map(([key]) => [key, $(`draw-${key}`).value])]);
function drawControls(state) {
  const given = new URLSearchParams(state || '');
  const tokens = piecesOf('decoder'), shown = FILE ? tokens.map((_, i) => i).filter(i => FILE.rows[`logits@${i}`] || FILE.values.logits) : tokens.map((_, i) => i);
  draw.last = shown[shown.length - 1];
  draw.token = given.has('token') && shown.includes(+given.get('token')) ? +given.get('token') : draw.last;
  const select = element('select', { id: 'draw-token', change: e => { draw.token = +e.target.value; keepState(); drawDistribution(); } }, ...shown.map(i => element('option', { value: i, selected: i === draw.token }, `${i} ${tokens[i]}`)));
  const ranges = CONTROLS.map(([key, min, max, step, first]) => {
    const input = element('input', { type: 'range', id: `draw-${key}`, 'aria-label': t(key), min, max, step, value: given.get(key) ?? first, input: () => { output.textContent = input.value; drawStages(); }, change: keepSoon });
    const output = element('output', {}, input.value);  // within its bounds, whatever the address says
    return element('label', {}, t(key), ' ', output, input);
  });
  $('draw-controls').replaceChildren(element('label', {}, t('after_token'), ' ', select), ...ranges);
}
// After another token: the choices name the tokens of the pass.
function nameTokens() {
  const tokens = piecesOf('decoder');
  for (const option of $('draw-token').options) option.textContent = `${option.value} ${tokens[option.value]}`;
}
let drawing = 0, staging = 0;
async function drawDistribution() {
  const turn = ++drawing;
  draw.logits = null;
  try {
    const value = await tensor('logits', { token: draw.token });
    if (turn !== drawing) return;
    if (!value) { $('draw').textContent = t('too_large'); return; }
    draw.logits = value.data;
    await drawStages();
  } catch (error) { if (turn === drawing) trouble(error); }
}
async function drawStages() {
  const logits = draw.logits, token = draw.token, turn = ++staging;
  if (!logits) return;
  const o = Object.fromEntries(CONTROLS.map(([key]) => [key, +$(`draw-${key}`).value]));
  const before = now.about.tokens.ids.slice(0, token + 1), generated = before.slice(now.about.prompt_tokens);
  const s = stagesOf(logits, before, generated, o), place = new Map(s.kept.map((id, i) => [id, i]));
  const shown = [...new Set([...largest(logits, 14), ...s.kept.slice(0, 14), s.drawn])].sort((a, b) => s.probs[b] - s.probs[a]);
  const names = await namesOf(shown, token), plainProbs = softmax(logits);
  if (turn !== staging || logits !== draw.logits) return;  // another token or setting was chosen meanwhile
  const heads = ['token', 'logit', 'penalised', 'scaled', 'kept'].map(k => element('th', { scope: 'col' }, t(k)));
  const most = s.cut.reduce((a, b) => Math.max(a, b), 0);
  const rows = shown.map((id, i) => {
    const p = place.has(id) ? s.cut[place.get(id)] : 0, bar = element('span', { class: 'bar' });
    bar.style.width = `${(5 * p / most).toFixed(3)}rem`;
    return element('tr', { class: id === s.drawn ? 'drawn' : place.has(id) ? null : 'cut', 'data-id': id }, element('td', {}, names[i]), element('td', {}, short(logits[id])), element('td', {}, short(s.penalised[id])),
      element('td', {}, percent(s.probs[id])), element('td', {}, place.has(id) ? percent(p) : '0', bar));
  });
  const words = o.temperature === 0 ? t('greedy') : t('drawn', names[shown.indexOf(s.drawn)], s.kept.length, logits.length, percent(s.kept.reduce((sum, id) => sum + plainProbs[id], 0)));
  $('draw').replaceChildren(element('p', { id: 'drawn', 'data-id': s.drawn }, words), element('div', { class: 'stages' }, element('table', {}, element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...rows))));
}
