// Attention maps of the sentences that runs have recorded at their validations.

// For each run, the sentences that have maps: [{ title, at: [{ update, attention }] }]
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
  box.replaceChildren(element('h2', {}, t('Attention')));
  const having = runs.map((run, r) => ({ r, sentences: mappedSentences(run) })).filter(x => x.sentences.length > 0);
  if (having.length === 0) {
    box.append(element('p', { class: 'empty' }, t('No maps yet: they appear at the first validation of a run with --valid-sets, unless --valid-attention is 0.')));
    return;
  }
  const chosen = having.find(x => x.r === view.map.run) || having[0];
  const sentence = chosen.sentences[clampTo(Math.max(0, view.map.sentence), chosen.sentences.length)];
  const index = clampTo(view.map.at, sentence.at.length), { update, attention: coded } = sentence.at[index];
  const a = mapsOf(coded), colors = ramp();
  const set = change => view.set({ map: { ...view.map, run: chosen.r, ...change } });

  const select = (title, options, value, change) => element('label', {}, title, element('select', { 'aria-label': title, onchange: e => change(Number(e.target.value)) },
    ...options.map(([v, text]) => element('option', { value: v, selected: v === value }, text))));
  const slider = element('input', { type: 'range', min: 0, max: sentence.at.length - 1, value: index, 'aria-label': t('validation'),
    oninput: e => set({ at: Number(e.target.value) === sentence.at.length - 1 ? -1 : Number(e.target.value) }) });
  const layer = view.map.layer < a.layers.length ? view.map.layer : -1;
  const head = layer >= 0 && view.map.head < a.layers[layer].heads.length ? view.map.head : -1;
  const shown = chosenMap(a, layer, head);
  const focused = document.activeElement && document.activeElement.type === 'range';
  box.append(
    element('p', { class: 'soft' }, a.kind === 'cross'
      ? t('Cross-attention while the model is given the reference, as in training: a row is the token being predicted, its columns the source tokens that it reads.')
      : t('Self-attention over the text: a row is a token, its columns the tokens that it reads.')),
    element('div', { class: 'controls' },
      having.length > 1 ? select(t('run'), having.map(x => [x.r, plain(runs[x.r].name)]), chosen.r, r => view.set({ map: { ...view.map, run: r, at: -1 } })) : null,
      select(t('sentence'), chosen.sentences.map((s, i) => [i, cut(s.title, 60)]), chosen.sentences.indexOf(sentence), i => set({ sentence: i, at: -1 })),
      element('label', {}, t('validation'), slider, element('output', { id: 'map-update' }, t('update {0}', whole(update))))),
    element('div', { class: 'maps' },
      element('div', { class: 'big', id: 'map' }, element('h3', { id: 'map-title' }, shown.title),
        bigMap(a, shown, colors, a.kind === 'cross' ? { keys: t('source'), queries: t('reference, predicted token') } : { keys: t('reads'), queries: t('token') }),
        scaleOf(shown)),
      headsTable(a, { layer, head }, colors, (l, h) => set({ layer: l, head: h }))));
  if (focused) slider.focus();
}
