// The interventions as switches, and what they change: logits, loss and the text that follows.
const NEW_TOKENS = 12;

// Each switch: its key, its further fields, and the edits of the pass (docs/trace.md) that it stands for.
function switchesOf(about) {
  const points = about.points.map(p => pointOf(p.name)), has = last => points.some(p => p.last === last);
  const parts = [...new Set(points.filter(p => p.last === 'heads').map(p => p.part))];
  const layers = [...new Set(points.filter(p => p.last === 'output').map(p => p.part))];
  const field = (name, options) => ({ name, options });
  const heads = part => Array.from({ length: shapeOf(`${part}.heads`)[1] }, (_, h) => [`${part}.heads[${h}]`, `${part} ${h}`]);
  const allHeads = parts.filter(part => shapeOf(`${part}.heads`).length === 3).flatMap(heads);
  const tokens = side => piecesOf(side).map((s, i) => [`${side}.tokens@${i}`, `${i} ${s}`]);
  const allTokens = [...(about.source ? tokens('encoder') : []), ...tokens('decoder')];
  const outputs = layers.flatMap(l => piecesOf(l.split('.')[0]).map((s, i) => [`${l}.output@${i}`, `${l} @ ${i} ${s}`]));
  const others = otherModels().map(m => [m.id, m.id]);
  return [
    has('mask') && { key: 'mask', edits: () => ['decoder.*.self.mask=all'] },
    has('scores') && { key: 'uniform', edits: () => ['*.scores=uniform'] },
    has('scores') && { key: 'temperature', fields: [field('x', 'number')], value: '2', edits: x => [`*.scores=temperature ${x}`] },
    has('mask') && { key: 'window', fields: [field('x', 'number')], value: '3', edits: x => [`decoder.*.self.mask=window ${x}`] },
    (has('positions') || has('scores')) && { key: 'positions', edits: () => ['*positions=skip'] },
    has('inner') && { key: 'ff', edits: () => ['*.feed_forward.out=zero'] },
    allHeads.length && { key: 'head', fields: [field('x', allHeads)], edits: x => [`${x}=zero`] },
    allHeads.length && { key: 'head_mean', fields: [field('x', allHeads)], edits: x => [`${x}=mean`] },
    layers.length && { key: 'layer', fields: [field('x', layers.map(l => [l, l]))], edits: x => [`${x}=skip`] },
    { key: 'token', fields: [field('x', allTokens), field('y', 'text')], edits: (x, y) => y ? [`${x}=${y}`] : [] },
    others.length && { key: 'against', fields: [field('x', others)], edits: () => [], against: x => x },
    outputs.length && { key: 'patch', fields: [field('x', outputs), field('y', 'text')], edits: (x, y) => y ? [`${x}=patch`] : [], other: (x, y) => y },
  ].filter(Boolean);
}
// The served models of the same kind, which may be this one in another precision.
function otherModels() {
  const own = (now.models || []).find(m => m.id === now.question.model);
  return own ? now.models.filter(m => m.id !== own.id && m.translates === own.translates) : [];
}
// The switches that are on, and what their fields say; of a file, the number of its change.
const changeState = () => packed([...now.on].flatMap(([key, values]) => values.length ? values.map(v => [key, v]) : [[key, 'on']]));
function drawSwitches(state) {
  if (FILE) return drawComputed(state);
  const list = switchesOf(now.about);
  $('switches').replaceChildren(...list.map(s => {
    const fields = (s.fields || []).map(f => Array.isArray(f.options)
      ? element('select', { 'data-field': f.name, 'aria-label': `${t(`sw_${s.key}`)}: ${t('sw_at')}` }, ...f.options.map(([value, words]) => element('option', { value }, words)))
      : element('input', { 'data-field': f.name, type: f.options === 'number' ? 'number' : 'text', step: 'any', min: f.options === 'number' ? '0.01' : null, value: s.value || '', size: 6, 'aria-label': `${t(`sw_${s.key}`)}: ${t('sw_text')}` }));
    return element('label', { class: 'switch', 'data-switch': s.key }, element('input', { type: 'checkbox' }), t(`sw_${s.key}`), ...fields);
  }));
  $('effect').replaceChildren(element('p', { class: 'mute' }, t('nothing_on')));
  $('switches').onchange = () => apply(list);
  $('switches').onsubmit = e => { e.preventDefault(); apply(list); };
  return restoreSwitches(list, new URLSearchParams(state || ''));
}
// Those of the address; one that this model does not have stays off.
function restoreSwitches(list, given) {
  for (const s of list.filter(one => given.has(one.key))) {
    const { box, fields } = switchOf(s), values = given.getAll(s.key);
    fields.forEach((f, i) => { f.value = values[i] ?? f.value; });
    box.checked = fields.every((f, i) => f.value === (values[i] ?? f.value));
  }
  return list.some(s => switchOf(s).box.checked) ? apply(list) : undefined;
}
let applying = 0;
const switchOf = s => {
  const label = document.querySelector(`[data-switch="${s.key}"]`);
  return { box: label.querySelector('[type=checkbox]'), fields: [...label.querySelectorAll('[data-field]')] };
};
// The pass with the switches that are on. What the page shows, and the switches, stay those of the last pass that came.
async function apply(list) {
  const turn = ++applying, edits = [], on = new Map();
  let patch, against;
  for (const s of list) {
    const { box, fields } = switchOf(s);
    if (!box.checked) continue;
    const values = fields.map(f => f.value);
    on.set(s.key, values);
    edits.push(...s.edits(...values));
    if (s.other && s.other(...values)) patch = s.other(...values);
    if (s.against) against = s.against(...values);
  }
  const question = { ...now.question, patch_text: patch, patch_target: patch && now.about.source ? now.question.target : undefined };
  try {
    const changes = edits.length > 0 || against !== undefined;
    const reply = await ask('/trace', { ...question, edit: edits, against, new_tokens: changes ? NEW_TOKENS : undefined });
    const { change, against: difference, ...about } = reply;
    if (turn !== applying) return;
    now.question = question, now.edits = edits, now.on = on;
    now.about = { ...now.about, ...about };  // with its tokens, of which one may be another
    if (changes) showChange(change || difference.change); else $('effect').replaceChildren(element('p', { class: 'mute' }, t('nothing_on')));
    trouble(null);
    drawTokens();
    nameTokens();
    keepState();
    await Promise.all([showValue(view.point), drawDistribution()]);
  } catch (error) {
    if (turn !== applying) return;
    for (const s of list) {
      const { box, fields } = switchOf(s), values = now.on.get(s.key);
      box.checked = Boolean(values);
      if (values) fields.forEach((f, i) => { f.value = values[i]; });
    }
    trouble(error);
  }
}
function showChange(change) {
  const facts = [], tokens = piecesOf('decoder');
  if (change.bit_identical) facts.push([t('identical'), '']);
  if (change.loss_before !== undefined) facts.push([t('loss_before'), digits(change.loss_before)], [t('loss_after'), digits(change.loss_after)]);
  facts.push([t('most_logit'), digits(Math.max(...change.tokens.map(c => c.largest_logit_difference)))]);
  if (change.text_before !== undefined) facts.push([t('text_before'), change.text_before], [t('text_after'), change.text_after]);
  const list = element('table', { id: 'change-facts' }, ...facts.map(([name, value]) => element('tr', {}, element('th', { scope: 'row' }, name), element('td', {}, value))));
  const heads = ['token', 'best_before', 'probability', 'best_after', 'most_logit', 'divergence'].map(k => element('th', { scope: 'col' }, t(k)));
  const rows = change.tokens.map((c, i) => element('tr', {}, element('td', {}, tokens[i]), element('td', {}, plain(c.best_before)), element('td', {}, `${percent(Math.exp(c.log_prob_before))} → ${percent(Math.exp(c.log_prob_after))}`),
    element('td', { class: c.best_before === c.best_after ? null : 'changed' }, plain(c.best_after)), element('td', {}, digits(c.largest_logit_difference)), element('td', {}, digits(c.kl_divergence))));
  $('effect').replaceChildren(element('div', { class: 'scroll' }, list), element('div', { class: 'scroll' }, element('table', { id: 'changes' }, element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...rows))));
}
// A file from disk has no model to ask: it holds the changes that were computed with it.
function drawComputed(state) {
  $('change-view').hidden = !FILE.changes.length;
  const choose = n => {
    buttons.forEach((b, i) => b.setAttribute('aria-pressed', i === n));
    now.on = new Map([['number', [n]]]);
    showChange(FILE.changes[n].change);
    keepState();
  };
  const buttons = FILE.changes.map((c, n) => element('button', { type: 'button', 'aria-pressed': 'false', click: () => choose(n) }, c.switch ? t(`sw_${c.switch}`) + (c.of ? ` ${c.of}` : '') : c.edit.join(', ')));
  $('switches').replaceChildren(element('p', { class: 'mute' }, t('precomputed')), ...buttons);
  const given = +new URLSearchParams(state || '').get('number');
  if (state && FILE.changes[given]) choose(given);
}
