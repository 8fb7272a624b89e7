// The model's outputs for the same few sentences at each validation.

// The sentences of all runs, merged if source and reference are equal: [{ key, source, reference, line, kind, of: [history for each run] }]
// where a history is [{ from, to, times, text }], oldest first, with repetitions merged.
function sentencesOf() {
  const found = new Map();
  runs.forEach((run, r) => {
    for (const validation of run.samples) for (const s of validation.samples) {
      const key = JSON.stringify([s.source, s.reference]);
      if (!found.has(key))
        found.set(key, { source: s.source, reference: s.reference, line: s.line, kind: validation.kind, of: runs.map(() => []) });
      const history = found.get(key).of[r], last = history[history.length - 1];
      if (last && last.text === s.hypothesis) last.to = validation.update, last.times += 1;
      else history.push({ from: validation.update, to: validation.update, times: 1, text: s.hypothesis });
    }
  });
  return [...found.values()];
}

function marked(entry, before, reference, view) {
  const text = element('span', { class: 'text', dir: 'auto' });
  if (entry.text === '') return element('span', { class: 'text soft' }, t('(nothing)'));
  if (view.mark === 'none' || (view.mark === 'changes' && !before)) text.append(visible(entry.text));
  else if (view.mark === 'reference')
    for (const p of compared(reference, entry.text)) {
      if (!p.lost) text.append(p.kept ? element('ins', { class: 'same' }, visible(p.text)) : visible(p.text));
    }
  else
    for (const p of compared(before.text, entry.text)) {
      if (p.lost && view.lost) text.append(element('del', {}, visible(p.text)), ' ');
      if (!p.lost) text.append(p.space || p.kept ? visible(p.text) : element('ins', {}, visible(p.text)));
    }
  return text;
}

const times = e => (e.from === e.to ? whole(e.from) : `${whole(e.from)}–${whole(e.to)}`) + (e.times > 1 ? ` (${e.times}×)` : '');

function historyRows(history, sentence, view) {
  return history.map((entry, i) => [element('span', { class: 'when', title: t('update') }, times(entry)),
    marked(entry, history[i - 1], sentence.reference, view)]).reverse();
}

const shownAtOnce = 4;
function sentenceCard(sentence, view) {
  const label = sentence.kind === 'continuation' ? [t('beginning'), t('goes on'), t('continuation')] : [t('source'), t('reference'), t('translation')];
  const grid = element('div', { class: 'history' });
  const row = (when, text) => grid.append(element('span', { class: 'when' }, when), element('span', { class: 'text', dir: 'auto' }, visible(text)));
  row(label[0], sentence.source);
  row(label[1], sentence.reference);
  sentence.of.forEach((history, r) => {
    if (history.length === 0 || view.hidden.has(r)) return;
    if (!single) grid.append(element('div', { class: 'run' }, swatch(r), name(runs[r])));
    const rows = historyRows(history, sentence, view), first = single ? shownAtOnce : 1;
    rows.slice(0, first).forEach(([when, text], i) => {
      if (i === 0) text.classList.add('latest');
      grid.append(when, text);
    });
    if (rows.length > first)
      grid.append(element('details', {}, element('summary', {}, t('{0} earlier', rows.length - first)),
        element('div', { class: 'history' }, ...rows.slice(first).flat())));
  });
  return element('article', { class: 'sentence', 'aria-label': t('line {0}', sentence.line) }, grid);
}

function samples(view) {
  const box = document.getElementById('samples'), list = sentencesOf();
  const continues = list.some(s => s.kind === 'continuation');
  const open = new Set([...box.querySelectorAll('.sentence')].map((c, i) => c.querySelector('details[open]') ? i : -1));
  box.replaceChildren(element('h2', {}, continues ? t('Sample continuations') : t('Sample translations')));
  if (list.length === 0) {
    box.append(element('p', { class: 'empty' }, t('None yet: they appear at the first validation of a run with --valid-sets, unless --valid-samples is 0.')));
    return;
  }
  const choice = (value, text) => element('button', { type: 'button', 'aria-pressed': view.mark === value, onclick: () => view.set({ mark: value }) }, text);
  box.append(element('div', { class: 'controls' },
    element('span', {}, t('mark'), choice('changes', t('what changed')), choice('reference', t('words of the reference')), choice('none', t('nothing'))),
    view.mark === 'changes' ? element('label', {}, element('input', { type: 'checkbox', checked: view.lost, onchange: e => view.set({ lost: e.target.checked }) }), t('show removed words')) : null,
    element('span', {}, t('Newest first, by update; translations that stayed the same over several validations share one line.'))));
  list.forEach((s, i) => {
    const card = sentenceCard(s, view);
    if (open.has(i)) for (const d of card.querySelectorAll('details')) d.open = true;
    box.append(card);
  });
}
