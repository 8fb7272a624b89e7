// The search of the text as a tree: its settings, the picture (tree.js), and the results with the sums of their paths.
const SEARCH = [['beam_size', 'number', 1, 16, 3], ['n', 'number', 1, 16, 3], ['length_penalty', 'number', -2, 4, 1], ['max_length', 'number', 1, 64, 16],
  ['beam_groups', 'number', 1, 16, 1], ['diversity_penalty', 'number', 0, 20, 0.5], ['temperature', 'number', 0, 2, 0], ['seed', 'number', 0, 999, 1], ['regex', 'text', null, null, ''],
  ['json_schema', 'textarea', null, null, ''], ['lookup', 'number', 0, 8, 0], ['branch', 'checkbox', null, null, false]];
const FINE = ['length_penalty', 'diversity_penalty', 'temperature'];  // settings in tenths
const searching = { asked: null, answer: null, lost: true, node: null };  // node: the one that a click or a key has chosen

function searchSettings() {
  return Object.fromEntries(SEARCH.map(([key, type]) => {
    const input = $(`search-${key}`);
    return [key, type === 'checkbox' ? input.checked : type === 'number' ? +input.value : input.value];
  }));
}
function schemaOf(text) {
  try { return JSON.parse(text); } catch (error) { throw new Error(t('s_no_schema', error.message), { cause: error }); }
}
// The request of these settings. A setting that means nothing beside another is left out. Drafts are for greedy search, groups for a
// beam.
function searchRequest(o) {
  if (o.lookup) o = { ...o, beam_size: 1, n: 1, temperature: 0, branch: false };
  const request = { model: now.question.model, text: now.question.text, n: o.n, length_penalty: o.length_penalty, max_length: o.max_length };
  if (o.temperature > 0) Object.assign(request, { temperature: o.temperature, seed: o.seed });
  else Object.assign(request, { beam_size: o.beam_size, branch: o.branch }, o.beam_size === 1 ? { temperature: 0 } : {});
  if (o.beam_groups > 1 && 'beam_size' in request && !o.lookup) Object.assign(request, { beam_groups: o.beam_groups, diversity_penalty: o.diversity_penalty });
  if (o.json_schema.trim()) request.json_schema = schemaOf(o.json_schema);
  if (o.regex) request.regex = o.regex;
  if (o.lookup) request.lookup = o.lookup;
  return request;
}
const searchState = () => searching.asked ? packed([...Object.entries(searching.asked), ['lost', searching.lost ? undefined : false], ['node', searching.node]]) : undefined;

function drawSearchControls(state) {
  const given = new URLSearchParams(state || '');
  const inputs = SEARCH.map(([key, type, min, max, value]) => {
    const kept = $(`search-${key}`), shown = given.has(key) ? given.get(key) : kept ? (type === 'checkbox' ? String(kept.checked) : kept.value) : String(value);
    const isText = type === 'text' || type === 'textarea', input = type === 'textarea'
      ? element('textarea', { id: `search-${key}`, rows: 2, maxlength: 4000, spellcheck: 'false' }, shown)
      : element('input', { id: `search-${key}`, type, min, max, step: FINE.includes(key) ? 0.1 : null, maxlength: isText ? 400 : null,
        spellcheck: isText ? 'false' : null, value: type === 'checkbox' ? null : shown, checked: type === 'checkbox' && shown === 'true' });
    return type === 'checkbox' ? element('label', { class: 'switch' }, input, t(`s_${key}`)) : element('label', {}, t(`s_${key}`), input);
  });
  $('search-controls').replaceChildren(...inputs, element('button', { id: 'search-run', class: 'strong' }, t('search_run')));
  $('search-controls').onsubmit = e => { e.preventDefault(); runSearch(); };
}

let searchTurn = 0;
async function runSearch(given = new URLSearchParams()) {
  const turn = ++searchTurn, settings = searchSettings();
  $('search-run').disabled = true;
  try {
    const answer = await ask('/search', searchRequest(settings));
    if (turn !== searchTurn) return;
    searching.asked = settings, searching.answer = answer, searching.lost = given.get('lost') !== 'false';
    searching.node = answer.nodes[+given.get('node')] && given.has('node') ? +given.get('node') : null;
    keepState();
    drawSearch();
    if (searching.node !== null) $('tree').firstChild.light(searching.node);
    trouble(null);
  } catch (error) { if (turn === searchTurn) trouble(error); } finally { if (turn === searchTurn) $('search-run').disabled = false; }
}

function legendOf(nodes) {
  const has = new Set(nodes.map(n => n.fate)), key = (mark, words) => element('span', {}, inSvg('svg', { width: 20, height: 20, viewBox: '-10 -10 20 20', 'aria-hidden': 'true' }, mark), words);
  const list = FATES.filter(f => has.has(f)).map(f => key(markOf(f), `${t(`f_${f}`)} (${nodes.filter(n => n.fate === f).length})`));
  const accepted = nodes.filter(n => n.proposed && n.fate !== 'rejected').length;
  if (accepted) list.push(key(inSvg('g', { class: 'fate-living' }, inSvg('path', { d: 'M0 -8.5L8.5 0L0 8.5L-8.5 0Z', class: 'hollow' }), inSvg('circle', { r: 5 })), `${t('f_accepted')} (${accepted})`));
  return list;
}
function resultsOf(s) {
  const heads = ['r_rank', 'r_text', 'r_sum', 'r_tokens', 'r_score', 'r_end'].map(k => element('th', { scope: 'col' }, t(k)));
  const rows = s.results.map((r, i) => element('tr', { 'data-result': i, 'data-node': r.node },
    element('td', {}, element('button', { type: 'button', 'aria-label': `${t('r_path')} ${i + 1}`, click: () => $('tree').firstChild.light(r.node) }, String(i + 1))), element('td', { class: 'text' }, r.text), element('td', {}, digits(r.log_prob)),
    element('td', {}, String(r.tokens.length)), element('td', {}, digits(r.score)), element('td', {}, t(`e_${r.stop_reason}`))));
  return element('div', { class: 'stages' }, element('table', {}, element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...rows)));
}
function drawSearch() {
  const s = searching.answer, isShown = n => searching.lost || !LOST.includes(n.fate);
  const best = s.results.reduce((at, r, i) => at < 0 || r.score > s.results[at].score ? i : at, -1);
  const picture = treePicture(s, isShown, best < 0 ? -1 : s.results[best].node, (i, chosen) => {
    $('search-readout').textContent = wordsOf(s, i);
    if (chosen && searching.asked) { searching.node = i; keepSoon(); }
  });
  $('search-shown').hidden = false;
  $('tree').replaceChildren(picture);
  $('tree').scrollTop = +picture.dataset.root - $('tree').clientHeight / 2;  // the root is in sight
  const lost = element('input', { type: 'checkbox', id: 'search-lost', checked: searching.lost, change: e => { searching.lost = e.target.checked; keepState(); drawSearch(); $('search-lost').focus(); } });
  $('search-legend').replaceChildren(...legendOf(s.nodes), element('label', { class: 'switch' }, lost, t('s_lost')));
  $('search-readout').textContent = t('search_point');
  const apart = Math.max(0, ...s.results.map(r => Math.abs(sumTo(s.nodes, r.node) - r.log_prob)));
  const notes = [t('search_same', digits(apart))];
  if (s.left_out) notes.push(t('search_left_out', s.left_out));
  if (s.proposals) notes.push(t('search_proposals', s.proposals.proposed, s.proposals.accepted, s.proposals.tokens, s.proposals.rows));
  const list = element('details', { id: 'tree-list' }, element('summary', {}, t('search_list')), treeList(s, isShown));
  $('search-results').replaceChildren(resultsOf(s), element('p', { id: 'search-check', class: 'readout' }, notes.join(' ')), list);
}

// Beside a pass: of a server, the settings, and at once the search that the address names; of a file, the search that it holds.
function drawSearchView(state) {
  ++searchTurn;  // an answer to another text comes too late
  searching.asked = null, searching.node = null, searching.answer = FILE ? FILE.search || null : null;
  $('search-view').hidden = Boolean(FILE) && !searching.answer;
  $('search-shown').hidden = true;
  if (searching.answer) return drawSearch();
  if (FILE) return undefined;
  drawSearchControls(state);
  return state ? runSearch(new URLSearchParams(state)) : undefined;
}
