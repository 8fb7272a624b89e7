// The runs' results: tiles for one run, a table for several; and their options.

const lastOf = column => column === undefined ? undefined : column.filter(isNumber).pop();

// The lowest or highest value of a validation column, and its update.
function bestOf(run, key, highest) {
  const column = run.valid[key] || [];
  let best = -1;
  column.forEach((v, i) => {
    if (isNumber(v) && (best < 0 || (highest ? v > column[best] : v < column[best]))) best = i;
  });
  return best < 0 ? null : { value: column[best], update: run.valid.update[best] };
}

// The last value of a count in either file.
function reached(run, key) {
  const values = [lastOf(run.train[key]), lastOf(run.valid[key])].filter(isNumber);
  return values.length ? Math.max(...values) : undefined;
}

// [{ name, value(run), text(run), note(run), better: 1 (higher) or -1 }]
const facts = [
  { name: t('updates'), value: r => reached(r, 'update'), text: whole },
  { name: t('epochs done'), value: r => reached(r, 'epoch'), text: whole },
  { name: t('time'), value: r => reached(r, 'seconds') / 60, text: duration },
  { name: t('target tokens'), value: r => reached(r, 'target_tokens'), text: short },
  { name: t('target tokens/s'), value: r => {
    const list = (r.train.tokens_per_second || []).filter(isNumber);
    return list.length ? list.reduce((a, b) => a + b, 0) / list.length : undefined;
  }, text: short, note: () => t('mean') },
  { name: t('parameters'), plan: true, value: r => r.parameters, text: short },
  { name: t('threads'), plan: true, value: r => r.threads, text: whole },
  { name: t('training loss'), value: r => lastOf(r.train.loss), text: x => x.toFixed(3), note: () => t('last, with smoothing') },
  ...[['cross_entropy', t('best cross-entropy'), -1, 4], ['perplexity', t('best perplexity'), -1, 3], ['bleu', t('best BLEU'), 1, 2], ['chrf', t('best chrF'), 1, 2]]
    .map(([key, title, better, digits]) => ({
      name: title, better, id: key, value: r => (bestOf(r, key, better > 0) || {}).value, text: x => x.toFixed(digits),
      note: r => t('at update {0}', whole(bestOf(r, key, better > 0).update)),
    })),
  { name: t('updates skipped'), value: r => lastOf(r.train.skipped) || undefined, text: whole, note: () => t('not finite') },
  { name: t('options changed'), value: r => r.begun.length > 1 ? r.begun.length - 1 : undefined, text: whole,
    note: r => t('at update {0}', r.begun.slice(1).map(whole).join(', ')) },
];

function overview() {
  const box = document.getElementById('overview'); box.replaceChildren();
  const known = facts.filter(f => runs.some(r => isNumber(f.value(r))));
  document.getElementById('title').replaceChildren(...(single ? [name(runs[0])] : [t('{0} runs compared', runs.length)]));
  document.title = single ? t('{0}: training report', plain(runs[0].name)) : t('{0}: training report', runs.map(r => plain(r.name)).join(', '));
  if (known.every(f => f.plan))
    box.append(element('p', { class: 'empty' }, t('Nothing reported yet: the first figures appear after --disp-freq updates.')));
  if (single) {
    box.append(element('dl', { class: 'tiles' }, ...known.map(f => element('div', {}, element('dt', {}, f.name),
      element('dd', f.id ? { id: `best-${f.id}` } : {}, f.text(f.value(runs[0])), f.note ? element('small', {}, f.note(runs[0])) : null)))));
    return;
  }
  const head = element('tr', {}, element('th', { scope: 'col' }, t('run')), ...known.map(f => element('th', { scope: 'col', class: 'number' }, f.name)));
  const winner = f => {
    const values = runs.map(r => f.value(r)).filter(isNumber);
    return f.better && values.length > 1 ? (f.better > 0 ? Math.max(...values) : Math.min(...values)) : undefined;
  };
  const rows = runs.map((r, i) => element('tr', {}, element('th', { scope: 'row' }, swatch(i), name(r)), ...known.map(f => {
    const v = f.value(r), best = isNumber(v) && v === winner(f);
    return element('td', { class: best ? 'number best' : 'number' }, isNumber(v) ? f.text(v) : '–',
      isNumber(v) && f.better ? element('div', { class: 'soft' }, element('small', {}, f.note(r))) : null);
  })));
  box.append(element('div', { class: 'scroll' }, element('table', { id: 'runs' }, element('thead', {}, head), element('tbody', {}, ...rows))));
}

const optionText = v => Array.isArray(v) ? v.join(' ') : v === null || v === undefined || v === '' ? '' : String(v);
function optionCell(v) {
  const text = optionText(v);
  return element('td', { class: 'value' }, element('bdi', {}, text === '' ? '–' : visible(text)));
}

function differing() {
  if (single) return;
  const box = document.getElementById('differing');
  box.hidden = false;
  box.append(element('h2', {}, t('Options that differ')));
  if (data.differing.length === 0) {
    box.append(element('p', { class: 'empty' }, t('None: these runs had the same options.')));
    return;
  }
  const head = element('tr', {}, element('th', { scope: 'col' }, t('option')), ...runs.map((r, i) => element('th', { scope: 'col' }, swatch(i), name(r))));
  const rows = data.differing.map(d => element('tr', {}, element('th', { scope: 'row', title: d.help }, `--${d.name}`), ...d.values.map(optionCell)));
  box.append(element('div', { class: 'scroll' }, element('table', { id: 'differing-options' }, element('thead', {}, head), element('tbody', {}, ...rows))));
}

function validationsTable(run) {
  const columns = [['update', t('update'), whole], ['epoch', t('epochs'), whole], ['seconds', t('time'), s => duration(s / 60)], ['target_tokens', t('target tokens'), short],
    ['cross_entropy', t('cross-entropy'), x => x.toFixed(4)], ['perplexity', t('perplexity'), x => x.toFixed(3)], ['bleu', 'BLEU', x => x.toFixed(2)],
    ['chrf', 'chrF', x => x.toFixed(2)]].filter(([key]) => run.valid[key]);
  const rows = run.valid.update.map((_, i) => element('tr', {}, ...columns.map(([key, , text]) =>
    element('td', { class: 'number' }, isNumber(run.valid[key][i]) ? text(run.valid[key][i]) : '–')),
    element('td', {}, run.valid.best && run.valid.best[i] ? t('best so far') : '')));
  return element('div', { class: 'scroll' }, element('table', { class: 'validations' },
    element('thead', {}, element('tr', {}, ...columns.map(([, title]) => element('th', { scope: 'col', class: 'number' }, title)), element('th', {}))),
    element('tbody', {}, ...rows)));
}

function tables() {
  const box = document.getElementById('tables');
  const open = [...box.querySelectorAll('details')].map(d => d.open);
  box.replaceChildren(element('h2', {}, t('Tables')));
  runs.forEach((run, i) => {
    const of = () => single ? [] : [t(' of '), swatch(i), name(run)];
    if (run.valid.update)
      box.append(element('details', {}, element('summary', {}, t('{0} validations', whole(run.valid.update.length)), ...of()), validationsTable(run)));
    const options = Object.entries(run.options || {});
    const rows = options.map(([key, value]) => element('tr', {}, element('th', { scope: 'row' }, plain(key)), optionCell(value)));
    if (rows.length)
      box.append(element('details', { class: 'options' }, element('summary', {}, t('All options'), ...of()),
        element('table', {}, element('tbody', {}, ...rows))));
  });
  box.querySelectorAll('details').forEach((d, i) => { d.open = Boolean(open[i]); });
}
