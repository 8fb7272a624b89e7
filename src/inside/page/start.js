// The page's beginning: its language, its question, and the view that the address names.
function drawLanguages() {
  document.documentElement.lang = LANGUAGE === 'zh' ? 'zh-CN' : LANGUAGE;
  document.title = `tril · ${t('title')}`;
  $('languages').replaceChildren(...Object.keys(STRINGS).map(l => element('a', { href: `?lang=${l}`, lang: l, hreflang: l, 'aria-current': l === LANGUAGE ? 'page' : null }, STRINGS[l].name)));
}
function drawTokens() {
  const row = (side, tokens) => element('div', { class: 'row' }, element('b', {}, t(side)), ...tokens.pieces.map((p, i) => element('span', { class: 'piece' }, plain(p), element('small', {}, tokens.ids[i]))));
  $('token-rows').replaceChildren(...(now.about.source ? [row('encoder', now.about.source)] : []), row('decoder', now.about.tokens));
  const facts = [`${t('family')} ${now.about.family}`, t('parts_of', now.about.tokens.ids.length)];
  if (now.about.loss !== undefined) facts.push(`${t('loss')} ${digits(now.about.loss)}`);
  $('facts').textContent = facts.join(' · ');
}
// Shows a pass: { family, tokens, points, next … }.
async function show(about, state, question = null) {
  ++applying;  // the switches are those of this pass: an answer to others comes too late
  now.question = question, now.about = about, now.edits = [], now.on = new Map(), now.kept.clear();
  view.point = null, view.head = +state.head || 0, view.row = +state.row || 0;
  if (Object.hasOwn(MASK_FORMS, state.mask)) view.mask = state.mask;
  drawTokens();
  drawStrip();
  drawSteps();
  for (const id of ['tokens', 'model-view', 'bench', 'change-view', 'draw-view']) $(id).hidden = false;
  const known = about.points.some(p => p.name === state.point) ? state.point : null;
  const stages = new Set(about.points.map(p => String(pointOf(p.name).stage)));
  const cell = /^\d+,\d+$/.test(state.cell || '') ? state.cell.split(',').map(Number) : null;
  await chooseStage(known ? pointOf(known).stage : stages.has(state.stage) ? state.stage : stages.has('0') ? '0' : 'begin', known, cell);
  const restored = drawSwitches(state.change);
  drawControls(state.draw);
  await Promise.all([restored, drawDistribution(), drawKinds(state.kind), drawSearchView(state.search)]);
  showAsked(state);
  keepState();
  document.body.dataset.ready = 'true';
}
let runs = 0;
async function run(state = {}) {
  const turn = ++runs;
  delete document.body.dataset.ready;
  const question = { model: $('model').value, text: $('text').value };
  if ($('target').value) question.target = $('target').value;
  $('run').disabled = true;
  try {
    const about = await ask('/trace', { ...question, points: true });
    if (turn !== runs) return;
    trouble(null);
    await show(about, state, question);
  } catch (error) { if (turn === runs) trouble(error); } finally { if (turn === runs) $('run').disabled = false; }
}
// The model's own text: the translation, or a continuation, so that there is something to look at.
async function complete() {
  const turn = runs;
  try {
    const model = $('model').value, text = $('text').value;
    const { translates } = now.models.find(m => m.id === model);
    const found = await ask('/search', { model, text, ...(translates ? { max_length: 128 } : { max_length: NEW_TOKENS, beam_size: 1, temperature: 0 }) });
    if (turn !== runs) return;  // another pass was asked for meanwhile
    $('target').value = found.results[0].text;
    await run();
  } catch (error) { if (turn === runs) trouble(error); }
}
async function start() {
  translate(document);
  drawLanguages();
  drawTools();
  const state = stateOf(location.hash);
  drawLearning(state.learn);
  resumeLearning(state.learn);
  if (FILE) return show(FILE.about, state);
  $('question').hidden = false;
  $('question').addEventListener('submit', e => { e.preventDefault(); run(); });
  $('complete').addEventListener('click', complete);
  $('text').value = state.text || '', $('target').value = state.target || '';
  const list = async () => {
    try {
      now.models = (await ask('/v1/models')).data;
      $('model').replaceChildren(...now.models.map(m => element('option', { value: m.id, selected: m.id === state.model }, m.id)));
      trouble(null);
    } catch (error) { trouble(error); }
  };
  $('key').addEventListener('change', list);
  await list();
  if (state.text && now.models) await run(state);
  else {
    showAsked(state);
    document.body.dataset.ready = 'true';
  }
}
start();
