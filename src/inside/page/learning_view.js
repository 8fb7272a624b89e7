// How the page shows the model that learns: controls, curves, samples, and the attention of a head as it takes shape.
const MODEL_KEYS = ['l_with', 'l_without'], MODEL_CLASSES = ['with', 'without'];
const sayOfLearning = words => { $('learning-readout').textContent = words; };
const mean = list => list.reduce((a, b) => a + b, 0) / list.length;
const wholePercent = p => `${Math.round(100 * p)} %`;
const shownCharacter = c => c === '\n' ? '↵' : c;

function drawLearning(state) {
  const given = new URLSearchParams(state || '');
  for (const key of Object.keys(LEARNING_SETTINGS)) learning.settings[key] = given.has(key) ? learningValue(key, given.get(key)) : firstOf(key);
  const control = key => {
    const { values, isSwitch, isText, least, most } = LEARNING_SETTINGS[key], value = learning.settings[key], id = `learning-${key}`;
    const change = e => {
      learning.settings[key] = learningValue(key, isSwitch ? String(e.target.checked) : e.target.value);
      if (!isSwitch) e.target.value = learning.settings[key];
      $('learning-text').parentElement.hidden = learning.settings.task !== 'text';
      keepState();
      const wasRunning = learning.isRunning;
      if ($('learning-readout').textContent) resetLearning();  // it has begun, or was refused
      if (wasRunning && learning.run) startLearning();
    };
    if (isSwitch) return element('label', { class: 'switch' }, element('input', { id, type: 'checkbox', checked: value, change }), t(`l_${key}`, LEARNING.warmup, LEARNING.smoothing));
    const names = v => key === 'task' ? t(`l_${v}`) : String(v);
    const input = values ? element('select', { id, change }, ...values.map(v => element('option', { value: v, selected: v === value }, names(v))))
      : isText ? element('textarea', { id, rows: 4, maxlength: TEXT.most, spellcheck: 'false', change })
      : element('input', { id, type: 'number', min: least, max: most, value, change });
    if (isText) input.value = value;
    return element('label', { class: isText ? 'grow' : null, hidden: isText && learning.settings.task !== 'text' }, t(`l_${key}`), ' ', input);
  };
  $('learning-controls').replaceChildren(...Object.keys(LEARNING_SETTINGS).map(control));
  const button = (id, click) => element('button', { type: 'button', id: `learning-${id}`, click }, t(`l_${id}`));
  $('learning-buttons').replaceChildren(button('start', () => learning.isRunning ? pauseLearning() : startLearning()), button('step', stepLearning), button('reset', resetLearning));
  $('learning-start').classList.add('strong');
}
function drawLearningButtons() {
  $('learning-start').textContent = t(learning.isRunning ? 'l_pause' : 'l_start');
}

// The losses of training near the last update, or null before the first.
const recentLoss = (run, model) => run.losses.length ? mean(run.losses.slice(-10).map(l => l[model])) : null;
function learningFacts() {
  const run = learning.run, results = run.last.results, each = i => `${t(MODEL_KEYS[i])}: ${t('l_training')} ${digits(recentLoss(run, i))}, ${t('l_right')} ${wholePercent(results[i].right)}`;
  return [t('l_update', run.updates), each(0), each(1)].join(' · ');
}
function drawRun() {
  const run = learning.run;
  $('learning-speed').textContent = t('l_update', run.updates) + (learning.speed ? ` · ${t('l_speed', short(learning.speed))}` : '');
  drawLearningTable(run);
  drawCurves(run);
  drawLearningSamples(run);
  fillLearningMaps(run);
}
function tableWithHeads(heads, rows) {
  const cell = (c, i) => i ? element('td', {}, c) : element('th', { scope: 'row' }, c);
  return element('table', {}, element('thead', {}, element('tr', {}, ...heads.map(h => element('th', { scope: 'col' }, h)))), element('tbody', {}, ...rows.map(r => element('tr', {}, ...r.map(cell)))));
}
function drawLearningTable(run) {
  const results = run.last && run.last.results;
  const rows = MODEL_KEYS.map((key, i) => [t(key), run.losses.length ? digits(recentLoss(run, i)) : '', results ? digits(results[i].loss) : '', results ? wholePercent(results[i].right) : '']);
  $('learning-table').replaceChildren(tableWithHeads(['', t('l_training'), t('l_generating'), t('l_right')], rows));
}

// Points [x, y] as at most `most` points: each the mean of those that it stands for.
function thinned(points, most) {
  const each = Math.ceil(points.length / most);
  if (each <= 1) return points;
  return Array.from({ length: Math.ceil(points.length / each) }, (_, i) => points.slice(i * each, (i + 1) * each)).map(list => [mean(list.map(p => p[0])), mean(list.map(p => p[1]))]);
}
const CURVE = { width: 320, height: 150, left: 34, right: 6, top: 8, bottom: 20, points: 160 };
// series: [{ points, model, isBefore }]
function curvePicture(title, series, { xMost, yMost, words }) {
  const { width, height, left, right, top, bottom } = CURVE;
  const x = v => left + (width - left - right) * v / xMost, y = v => top + (height - top - bottom) * (1 - Math.min(v, yMost) / yMost);
  const lines = series.filter(s => s.points.length).map(s => inSvg('path', { class: `curve ${MODEL_CLASSES[s.model]}${s.isBefore ? ' before' : ''}`,
    d: thinned(s.points, CURVE.points).map(([u, v], i) => `${i ? 'L' : 'M'}${x(u).toFixed(1)} ${y(v).toFixed(1)}`).join('') }));
  const mark = (v, words) => [inSvg('path', { class: 'grid', d: `M${left} ${y(v)}H${width - right}` }), inSvg('text', { x: left - 4, y: y(v) + 4, 'text-anchor': 'end' }, words)];
  const picture = inSvg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': title }, ...mark(0, '0'), ...mark(yMost / 2, words(yMost / 2)), ...mark(yMost, words(yMost)),
    inSvg('text', { x: left, y: height - 5 }, '0'), inSvg('text', { x: width - right, y: height - 5, 'text-anchor': 'end' }, t('l_update', xMost)), ...lines);
  return element('figure', {}, element('figcaption', {}, title), picture);
}
function drawCurves(run) {
  const before = learning.before && learning.before.settings.task === run.settings.task ? learning.before : null, runs = before ? [before, run] : [run];
  const all = of => runs.flatMap(r => [0, 1].map(model => ({ model, isBefore: r !== run, points: of(r, model) })));
  const losses = all((r, m) => r.losses.map((l, i) => [i + 1, l[m]]));
  const tested = (r, m, which) => r.tests.map(test => [test.update, test.results[m][which]]);
  const generating = all((r, m) => tested(r, m, 'loss')), right = all((r, m) => tested(r, m, 'right'));
  const xMost = Math.max(100, ...runs.map(r => r.updates));
  const top = series => Math.max(1, Math.ceil(Math.max(0, ...series.flatMap(s => thinned(s.points, CURVE.points).map(p => p[1])))));
  $('learning-curves').replaceChildren(curvePicture(t('l_training'), losses, { xMost, yMost: top(losses), words: String }),
    curvePicture(t('l_generating'), generating, { xMost, yMost: top(generating), words: String }),
    curvePicture(t('l_right'), right, { xMost, yMost: 1, words: wholePercent }));
  const line = (names, words) => element('span', {}, inSvg('svg', { width: 34, height: 10, viewBox: '0 0 34 10', 'aria-hidden': 'true' }, inSvg('path', { class: `curve ${names}`, d: 'M1 5H33' })), words);
  $('learning-legend').replaceChildren(line('with', t('l_with')), line('without', t('l_without')), ...(before ? [line('with before', t('l_before', changedSettings(before.settings, run.settings)))] : []));
}

// The settings of the run before that are others now.
function changedSettings(before, now) {
  const words = key => {
    const value = LEARNING_SETTINGS[key].isSwitch ? t(before[key] ? 'l_on' : 'l_off') : LEARNING_SETTINGS[key].isText ? '…' : before[key];
    return `${t(`l_${key}`, LEARNING.warmup, LEARNING.smoothing)}: ${value}`;
  };
  return Object.keys(LEARNING_SETTINGS).filter(key => before[key] !== now[key]).map(words).join(', ') || t('l_same');
}

// An answer, in which a wrong character is underlined and coloured.
function answerOf(run, example, result, i) {
  const wanted = example.ids.slice(example.given), written = result.written[i].slice(example.given);
  const sign = result.isRight[i] ? '✓' : '✗', letters = written.map((id, n) => element('span', { class: id === wanted[n] ? null : 'wrong' }, shownCharacter(run.task.characters[id])));
  return element('span', { class: 'answer' }, ...letters, ` ${sign}`);
}
const textOfIds = (run, ids) => ids.map(id => shownCharacter(run.task.characters[id])).join('');
function drawLearningSamples(run) {
  if (!run.last) return;
  const shown = run.examples.slice(0, 5);
  const rows = shown.map((e, i) => [textOfIds(run, e.ids.slice(0, e.given)), element('span', { class: 'answer' }, textOfIds(run, e.ids.slice(e.given))), ...run.last.results.map(r => answerOf(run, e, r, i))]);
  $('learning-samples').replaceChildren(tableWithHeads([t('l_given'), t('l_wanted'), ...MODEL_KEYS.map(k => t(k))], rows));
  $('learning-samples-hint').textContent = t(run.task.isHeldOut ? 'l_held_out' : 'l_not_held_out', LEARNING.examples);
}

// The attention of both models over the first tested text. A row is a token, and after the arrow the token that it is to predict.
function drawLearningMaps() {
  const run = learning.run, { ids, from } = run.examples[0], T = ids.length, { layers, heads } = run.models[0].sizes;
  learning.layer = Math.min(learning.layer, layers - 1), learning.head = Math.min(learning.head, heads - 1);
  const select = (key, count) => {
    const change = e => { learning[key] = +e.target.value; keepState(); fillLearningMaps(learning.run); };
    return element('label', {}, t(`l_${key}`), ' ', element('select', { id: `learning-map-${key}`, change }, ...numbersOf(count).map((n, i) => element('option', { value: n, selected: i === learning[key] }, n))));
  };
  $('learning-map-controls').replaceChildren(select('layer', layers), select('head', heads));
  const columns = ids.map(id => shownCharacter(run.task.characters[id])), rows = columns.map((c, i) => i + 1 >= from && i + 1 < T ? `${c} → ${columns[i + 1]}` : c);
  const map = (model, i) => {
    const data = new Float64Array(T * T);
    const choose = (r, c) => { $('learning-cell').textContent = t('l_cell', t(MODEL_KEYS[i]), rows[r], columns[c], digits(matrix.numbers[r * T + c])); };
    const matrix = matrixOf({ name: t(MODEL_KEYS[i]), data, rows, columns, masked: model.causal ? n => n % T > Math.floor(n / T) : null, choose, isBare: true, most: 1 });
    return element('figure', { 'data-model': MODEL_CLASSES[i] }, element('figcaption', {}, t(MODEL_KEYS[i])), matrix);
  };
  $('learning-maps').replaceChildren(...run.models.map(map));
  $('learning-cell').textContent = t('l_map_hint');
}
// Of a pass over one text, the weights [T, T] of a head.
const weightsOfHead = (pass, layer, head) => {
  const T = pass.R;
  return pass.kept[layer].self.weights[0].subarray(head * T * T, (head + 1) * T * T);
};
function fillLearningMaps(run) {
  const { ids } = run.examples[0];
  [...$('learning-maps').querySelectorAll('.matrix')].forEach((matrix, i) => matrix.fill(weightsOfHead(forward(run.models[i], [ids]), learning.layer, learning.head)));
  const { layer, head, share } = mostAhead(run.models[1], run.examples[0]);
  $('learning-why').textContent = t('l_ahead', layer, head, percent(share));
}
// The head that looks most at the token that is to be predicted: how much of its attention goes there, as the mean over the rows that
// are asked.
function mostAhead(model, { ids, from }) {
  const { layers, heads } = model.sizes, T = ids.length, pass = forward(model, [ids]), asked = numbersOf(T - from).map(n => from - 1 + +n);
  let best = { share: -1 };
  for (let layer = 0; layer < layers; ++layer)
    for (let head = 0; head < heads; ++head) {
      const w = weightsOfHead(pass, layer, head), share = mean(asked.map(t => w[t * T + t + 1]));
      if (share > best.share) best = { layer, head, share };
    }
  return best;
}
