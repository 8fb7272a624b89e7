// The value of the chosen operation, with its formula and what it means.
let showing = 0;

function bars(list) {
  const most = Math.max(...list.map(([, p]) => p), 1e-12), box = element('div', { class: 'bars' });
  for (const [name, p] of list) {
    const bar = element('span', { class: 'bar' });
    bar.style.width = `${100 * p / most}%`;
    box.append(element('span', { class: 'name' }, name), bar, element('span', {}, percent(p)));
  }
  return box;
}
function optionsOf(select, names, chosen) {
  select.replaceChildren(...names.map((n, i) => element('option', { value: i, selected: i === chosen }, n)));
}
// The numbers of heads that a point has; 0: none.
function headsOf(p, shape) {
  if (shape.length !== 3) return 0;
  return isOfPairs(p.name) ? shape[0] : shape[1];
}
// Whether a switch leaves a layer, or the positions, out of the pass that is shown.
const isLeftOut = name => now.edits.some(e => e.endsWith('=skip') && (e.startsWith('*') ? name.endsWith(e.slice(1, -5)) : name.startsWith(`${e.slice(0, -5)}.`))) ||
  (name.endsWith('.bias') && now.edits.includes('*positions=skip'));
// The line that computes a point.
const sourceOf = p => (now.about.points.find(one => one.name === p.name) || {}).source || OPERATIONS[p.key][1];
// The formula of a point, as this family has it.
function formulaOf(p) {
  if (p.key === 'mask') return MASK_FORMS[view.mask].formula;
  if (p.key === 'scores' && shapeOf(`${p.part}.bias`)) return 's = scale · q kᵀ + b';
  if (p.key === 'scores' && shapeOf(`${p.part}.softcap`)) return 's = c tanh(scale · q kᵀ / c)';
  return OPERATIONS[p.key][0];
}
// The forms of a mask: the formula, and the value of a pair that is allowed, or not. The trace has 1 and 0.
const MASK_FORMS = {
  boolean: { formula: 'm ∈ {true, false},  s′ = s (m true),  −∞ (m false)', of: x => x, words: x => x ? 'true' : 'false' },
  additive: { formula: 'm ∈ {0, −∞},  s′ = s + m', of: x => x ? 0 : -Infinity, words: digits },
};
async function showValue(name) {
  const turn = ++showing, p = pointOf(name), shape = shapeOf(name);
  $('value-title').textContent = t(`o_${p.words}`);
  const isMask = p.key === 'mask';
  $('value-formula').textContent = formulaOf(p);
  $('value-about').textContent = isMask ? `${t('a_mask')} ${t(`mask_${view.mask}_hint`)}` : t(`a_${p.words}`);
  $('mask-form-label').hidden = !isMask;
  if (isMask) $('mask-form').replaceChildren(...Object.keys(MASK_FORMS).map(form => element('option', { value: form, selected: form === view.mask }, t(`mask_${form}`))));
  $('value-facts').textContent = `${name} · ${t('shape')} ${shape.join(' × ')} · ${t('code')} ${sourceOf(p)}`;
  $('readout').textContent = t('waiting');
  $('zoom').replaceChildren();
  ++explaining;
  const heads = headsOf(p, shape);
  $('head-label').hidden = heads < 2;
  view.head = Math.max(0, Math.min(view.head, heads - 1));
  optionsOf($('head'), Array.from({ length: heads }, (_, i) => t('head_n', i)), view.head);
  $('row-label').hidden = p.key !== 'logits';
  if (isLeftOut(name)) { $('value').replaceChildren(); $('readout').textContent = t('left_out'); return; }
  try {
    if (p.key === 'logits') return await showLogits(turn);
    const value = await tensor(name, heads ? { head: heads > 1 ? view.head : 0 } : {});
    if (turn !== showing) return;
    if (!value) { $('value').replaceChildren(); $('readout').textContent = t('too_large'); return; }
    const m = await frameOf(p, value);
    if (turn !== showing) return;
    const matrix = value.data.length ? matrixOf(m) : null;
    ++explaining;
    $('value').replaceChildren(matrix || t('no_values'));
    $('readout').textContent = t('choose_cell');
    if (matrix && view.cell) matrix.go(...view.cell);  // of the address, or of the same value before a change
    trouble(null);
  } catch (error) {
    if (turn === showing) { $('value').replaceChildren(); $('readout').textContent = ''; trouble(error); }
  }
}
// Rows, columns and what they are called.
async function frameOf(p, value) {
  const pieces = piecesOf(p.side), numbered = n => Array.from({ length: n }, (_, i) => String(i));
  const m = { name: p.name, data: value.data, masked: null, choose: (i, j, clicked) => explain(p, value, m, [i, j], clicked) };
  if (value.shape.length === 1) return { ...m, rows: pieces, columns: ['id'], choose: (i, j, clicked) => explain(p, value, { rows: pieces, columns: ['id'] }, [i, j], clicked) };
  let columns = value.shape[value.shape.length - 1];
  if (p.key === 'state' && columns > 2048)  // one long row, which no picture could hold
    for (columns = 512; value.data.length % columns;) --columns;
  const rows = value.data.length / columns;
  m.rows = rows === pieces.length ? pieces : numbered(rows), m.columns = numbered(columns);
  if (p.crossing && /\.[kv]$/.test(p.name)) m.rows = piecesOf('encoder');  // cross-attention reads the encoder's tokens
  if (isOfPairs(p.name)) {
    m.columns = piecesOf(p.crossing ? 'encoder' : p.side);
    const mask = shapeOf(`${p.part}.mask`) ? await tensor(`${p.part}.mask`, { head: view.head }) : null;  // one that all heads share comes whole
    if (mask && !['bias', 'scores'].includes(p.last)) m.masked = i => mask.data[i] === 0;
    if (p.key === 'mask') m.data = Float32Array.from(value.data, MASK_FORMS[view.mask].of), m.words = i => MASK_FORMS[view.mask].words(m.data[i]);
  }
  return m;
}

async function showLogits(turn) {
  const tokens = piecesOf('decoder');
  view.row = Math.min(view.row, tokens.length - 1);
  optionsOf($('row'), tokens.map((s, i) => `${i} ${s}`), view.row);
  const value = await tensor('logits', { token: view.row });
  if (turn !== showing) return;
  if (!value) { $('value').replaceChildren(); $('readout').textContent = t('too_large'); return; }
  const probs = softmax(value.data), best = largest(probs, 20), names = await namesOf(best, view.row);
  if (turn !== showing) return;
  $('value').replaceChildren(bars(best.map((id, i) => [names[i], probs[id]])));
  const next = now.about.next[view.row];
  $('readout').textContent = `${t('best_before')}: ${plain(next.best)} · log p ${digits(Math.log(probs[next.best_id]))}` +
    (next.log_prob !== undefined ? ` · “${plain(next.label)}” log p ${digits(next.log_prob)}` : '');
}
$('head').addEventListener('change', () => { view.head = +$('head').value; keepState(); showValue(view.point); if (!$('kinds-view').hidden) drawKind(); });
$('mask-form').addEventListener('change', () => { view.mask = $('mask-form').value; keepState(); showValue(view.point); });
$('row').addEventListener('change', () => { view.row = +$('row').value; keepState(); showValue(view.point); });
