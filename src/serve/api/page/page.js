'use strict';
const $ = id => document.getElementById(id);
const api = async (path, body, signal) => {
  const headers = {};
  const form = body instanceof FormData;
  if (body && !form) headers['Content-Type'] = 'application/json';
  if ($('key').value) headers['Authorization'] = 'Bearer ' + $('key').value;
  let answer;
  try {
    answer = await fetch(path, {method: body ? 'POST' : 'GET', headers, signal, body: form ? body : body && JSON.stringify(body)});
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Error('The server does not answer. The next request tries again.');
  }
  if (!answer.ok) {
    let message = answer.status + ' ' + answer.statusText;
    try { const e = (await answer.json()).error; message = e.message || e; } catch (none) { /* no JSON: the status says it */ }
    throw new Error(message);
  }
  return answer;
};
// Server-sent events, one object at a time.
const events = async (path, body, signal, take) => {
  if (body instanceof FormData) body.set('stream', 'true');
  const answer = await api(path, body instanceof FormData ? body : {...body, stream: true}, signal);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = '';
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    held += value;
    for (let end; (end = held.indexOf('\n\n')) >= 0; held = held.slice(end + 2)) {
      const data = held.slice(6, end);
      if (data === '[DONE]') continue;
      const event = JSON.parse(data);
      if (event.error) throw new Error(event.error.message || event.error);
      take(event);
    }
  }
};
const trouble = error => {
  if (error && error.name === 'AbortError') return;
  $('trouble').hidden = !error;
  $('trouble').textContent = error ? error.message : '';
};
const element = (name, text, set = {}) => Object.assign(document.createElement(name), {textContent: text ?? ''}, set);

// --- views ---
const tabs = [...document.querySelectorAll('[role=tab]')];
const show = tab => {
  for (const t of tabs) {
    t.setAttribute('aria-selected', t === tab);
    t.tabIndex = t === tab ? 0 : -1;
    $(t.getAttribute('aria-controls')).hidden = t !== tab;
  }
  watching = tab.id === 'tab-status';
  if (watching) look();
};
for (const t of tabs) {
  t.onclick = () => show(t);
  t.onkeydown = e => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[e.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(t) + step + tabs.length) % tabs.length];
    show(next); next.focus();
  };
}
$('key-form').onsubmit = (event) => event.preventDefault();
$('key').value = sessionStorage.getItem('tril-key') || '';
$('key').onchange = () => { sessionStorage.setItem('tril-key', $('key').value); begin(); };

// --- models ---
let ready = false;
// By model: the languages that it can be told to read and to write. "left-" and "right-" are the sides of a comparison.
let languages = {};
// The public codes (BCP 47) of the models' own names.
let publicCodes = {};
const languageNames = new Intl.DisplayNames([...navigator.languages, 'en'], {type: 'language', fallback: 'none'});
const languageTag = code => publicCodes[code] || code;  // as in documents
const languageName = code => {
  let name;
  try { name = languageNames.of(languageTag(code)); } catch (none) { /* no code: it stands for itself */ }
  return name ? `${name} (${code})` : code;
};
const offerLanguages = side => {
  const of = languages[$(side + 'model').value] || {from: [], into: []};
  for (const which of ['from', 'into']) {
    const select = $(side + which), before = select.value, codes = of[which].length > 1 ? of[which] : [];
    const named = codes.map(code => [languageName(code), code]).sort((a, b) => a[0].localeCompare(b[0], 'en'));
    select.replaceChildren(element('option', which === 'from' ? 'detect' : 'as usual', {value: ''}), ...named.map(([name, value]) => element('option', name, {value})));
    select.value = codes.includes(before) ? before : '';
    select.parentElement.hidden = !codes.length;
  }
};
const chosenLanguages = side => ({source: $(side + 'from').value || ($(side + 'from').options.length > 1 ? 'auto' : undefined), target: $(side + 'into').value || undefined});
// What was detected, in the list where a language can be chosen.
const tellDetected = (side, detected) => {
  const option = $(side + 'from').options[0], told = detected && detected.confidence > 0;
  if (option) option.textContent = told ? `detect: ${languageName(detected.language)}, ${detected.confidence} %` : 'detect';
};
// How a text or a file was translated: "French, 98 % sure; through English".
const how = answer => {
  const detected = answer.detectedLanguage;
  return [detected && detected.confidence > 0 && `detected: ${languageName(detected.language)}, ${detected.confidence} %`, answer.pivot && `through ${answer.pivot.map(languageName).join(', ')}`].filter(Boolean).join('; ');
};
const tellHow = answer => {
  $('how').textContent = answer ? how(answer) : '';
  $('how').hidden = !$('how').textContent;
};
// Language tokens before and after sentences are no words: ">>de<<", "__de__", "de_DE".
const isLanguage = token => {
  const code = token.replace(/^>>(.*)<<$|^__(.*)__$/, '$1$2');
  return (code !== token || token.includes('_')) && (languages[$('model').value] || {into: []}).into.includes(code);
};
// Without a model, the server chooses one, or a path through other languages.
const anyModel = 'any model';
const offerAnyModel = async () => {
  const list = await (await api('/languages')).json();
  languages[''] = {from: list.filter(l => l.targets.length && l.code !== 'und').map(l => l.code), into: [...new Set(list.flatMap(l => l.targets))]};
  $('model').append(element('option', anyModel, {value: ''}));
};
const begin = async () => {
  try {
    const all = (await (await api('/v1/models')).json()).data;
    let anyBefore = false;
    for (const [ids, translates] of [[['model', 'left-model', 'right-model'], true], [['writer'], false]])
      for (const id of ids) {
        const names = all.filter(m => translates ? m.translates : m.continues).map(m => m.id);
        const before = $(id).selectedOptions.length ? $(id).value : undefined;
        $(id).replaceChildren(...names.map(n => element('option', n, {value: n})));
        if (names.includes(before)) $(id).value = before;
        anyBefore ||= id === 'model' && before === '';
      }
    languages = Object.fromEntries(all.filter(m => m.translates).map(m => [m.id, {from: m.sources, into: m.targets}]));
    publicCodes = Object.assign({}, ...all.map(m => m.codes || {}));
    if (all.filter(m => m.translates).length > 1) await offerAnyModel();
    if (anyBefore) $('model').value = '';
    offerFiles(await (await api('/frontend/settings')).json());
    for (const side of ['', 'left-', 'right-']) offerLanguages(side);
    $('tab-write').disabled = !$('writer').value;
    ready = all.length > 0;
    trouble(ready ? null : new Error('The models are being loaded.'));
  } catch (error) { ready = false; trouble(error); }
  if (!ready) setTimeout(begin, 2000);
};

// --- translating while typing ---
let running = null, timer = 0, found = null;
const terms = () => {
  const list = $('terms').value.split('\n').map(l => l.split('=').map(s => s.trim())).filter(p => p.length === 2 && p[0] && p[1]);
  return list.length ? Object.fromEntries(list) : undefined;
};
const settings = () => ({model: $('model').value || undefined, ...chosenLanguages(''), beam_size: +$('beam').value || undefined, length_penalty: $('length-penalty').value === '' ? undefined : +$('length-penalty').value, terminology: terms()});
// The request fields for scoring or attention of an existing translation.
const scored = () => ({model: $('model').value || undefined, source_language: $('from').value || (found && found.detected) || undefined, target_language: $('into').value || undefined});
const translate = async () => {
  if (running) running.abort();
  const mine = running = new AbortController();
  closeMenu();
  const text = $('source').value;
  const out = $('target');
  if (!text.trim()) { out.replaceChildren(); $('source-words').hidden = true; found = null; tellHow(); out.setAttribute('aria-busy', false); return; }
  out.setAttribute('aria-busy', true);
  out.lang = languageTag($('into').value);
  try {
    tellDetected('');
    // Without a model, the translation may go through other languages, and has no alignment then.
    await events('/translate', {q: text, scores: true, alignment: $('model').value ? true : undefined, ...settings()}, mine.signal, e => {
      if (e.partial !== undefined) out.textContent = e.partial;
      if (e.translatedText === undefined) return;
      tellDetected('', e.detectedLanguage);
      tellHow(e);
      found = {text, pivot: e.pivot && e.pivot.at(-1), detected: e.detectedLanguage && e.detectedLanguage.confidence > 0 && e.detectedLanguage.language, pieces: e.details.map(d => ({source: d.source, best: d.translations[0]}))};
      draw(e.translatedText);
    });
    trouble(null);
    await confidence(mine.signal);
  } catch (error) { trouble(error); if (error.name !== 'AbortError' && !ready) setTimeout(begin, 1000); }
  if (running === mine) out.setAttribute('aria-busy', false);
};
const later = () => { clearTimeout(timer); timer = setTimeout(translate, 180); };
$('source').oninput = later;
for (const id of ['from', 'into', 'beam', 'length-penalty', 'terms']) $(id).onchange = translate;
$('model').onchange = () => { offerLanguages(''); translate(); };

// A text's tokens grouped into words: a token that begins with the space mark begins a word.
const wordsOf = tokens => {
  const words = [];
  tokens.forEach((t, i) => {
    if (/^<.*>$/.test(t) || isLanguage(t)) return;
    if (t.startsWith('\u2581') || t.startsWith('\u0120') || !words.length) words.push({text: t.replace(/^[\u2581\u0120]/, ''), tokens: [i]});
    else { words.at(-1).text += t; words.at(-1).tokens.push(i); }
  });
  return words;
};
// Source and translation as words, with the gaps of the texts between them.
const draw = whole => {
  let at = 0, nodes = [];
  found.pieces.forEach((piece, p) => {
    const begin = whole.indexOf(piece.best.text, at);
    nodes.push(whole.slice(at, begin));
    piece.words = [];
    piece.targets = [];
    const tokens = wordsOf(piece.best.tokens);
    let inside = 0;
    for (const m of piece.best.text.matchAll(/\S+/g)) {
      nodes.push(piece.best.text.slice(inside, m.index));
      const b = element('button', m[0], {className: 'word', type: 'button'});
      const n = piece.words.length;
      b.onclick = () => branch(p, n, m.index, b);
      b.onmouseenter = b.onfocus = () => light(p, n);
      b.onmouseleave = b.onblur = () => light(-1);
      b.setAttribute('aria-haspopup', 'listbox');
      piece.words.push({begin: m.index, button: b, tokens: (tokens[n] || {tokens: []}).tokens});
      nodes.push(b);
      inside = m.index + m[0].length;
    }
    at = begin + piece.best.text.length;
  });
  nodes.push(whole.slice(at));
  $('target').replaceChildren(...nodes);
  const list = [];
  found.pieces.forEach(piece => {
    piece.sources = wordsOf(piece.best.source_tokens || []).map(w => {
      const span = element('span', w.text);
      list.push(span, ' ');
      return {span, tokens: w.tokens};
    });
  });
  $('source-words').replaceChildren(...list);
  $('source-words').hidden = !list.length;
};
// Highlights the source words of a target word.
const light = (p, n) => {
  for (const piece of found ? found.pieces : []) for (const s of piece.sources || []) s.span.style.backgroundColor = '';
  if (p < 0 || !found) return;
  const piece = found.pieces[p], rows = piece.words[n].tokens.map(t => (piece.best.attention || [])[t]).filter(Boolean);
  for (const s of piece.sources) {
    const weight = rows.reduce((sum, row) => sum + s.tokens.reduce((x, t) => x + row[t], 0), 0) / Math.max(1, rows.length);
    s.span.style.backgroundColor = `rgba(var(--mark), ${Math.min(0.7, weight).toFixed(2)})`;
  }
};
// The model's certainty, word by word.
const confidence = async signal => {
  const mine = found;
  if (!mine || !mine.pieces.length || !$('model').value) return;  // scores are those of one model
  const scores = (await (await api('/score', {...scored(), source: mine.pieces.map(p => p.source), target: mine.pieces.map(p => p.best.text)}, signal)).json()).scores;
  if (mine !== found) return;
  mine.pieces.forEach((piece, p) => {
    const words = wordsOf(scores[p].tokens);
    piece.words.forEach((w, n) => {
      if (!words[n]) return;
      const least = Math.exp(Math.min(...words[n].tokens.map(t => scores[p].token_log_probs[t])));
      w.button.title = `${Math.round(100 * least)} %`;
      w.button.classList.toggle('sure1', least < 0.2);
      w.button.classList.toggle('sure2', least >= 0.2 && least < 0.6);
    });
  });
};
// Alternative continuations from a word.
let opener = null;
const closeMenu = () => { $('choices').hidden = true; $('choices').replaceChildren(); if (opener) opener.removeAttribute('aria-expanded'); opener = null; };
const branch = async (p, n, begin, button) => {
  closeMenu();
  const piece = found.pieces[p], prefix = piece.best.text.slice(0, begin);
  try {
    const answer = await (await api('/translate', {q: piece.source, split: 'none', prefix, branch: true, alternatives: 6, ...settings(), ...(found.pivot && {source: found.pivot}), terminology: undefined})).json();
    const list = [...new Set([answer.translatedText, ...answer.alternatives])].filter(t => t !== piece.best.text);
    const menu = $('choices');
    menu.replaceChildren(...list.map(text => {
      const option = element('button', text.slice(0, begin) + text.slice(begin), {type: 'button'});
      option.setAttribute('role', 'option');
      option.setAttribute('aria-selected', false);
      option.onclick = () => take(p, text);
      option.onkeydown = e => {
        if (e.key === 'Escape') { const back = opener; closeMenu(); back.focus(); }
        const next = {ArrowDown: option.nextElementSibling, ArrowUp: option.previousElementSibling}[e.key];
        if (next) { e.preventDefault(); next.focus(); }
      };
      return option;
    }));
    if (!list.length) return;
    menu.hidden = false;
    opener = button;
    button.setAttribute('aria-expanded', true);
    menu.firstElementChild.focus();
    trouble(null);
  } catch (error) { trouble(error); }
};
// The chosen alternative replaces the sentence, and its alignment is requested again.
const take = async (p, text) => {
  closeMenu();
  const piece = found.pieces[p], whole = $('target').textContent;
  let at = 0;
  for (let i = 0; i < p; ++i) at = whole.indexOf(found.pieces[i].best.text, at) + found.pieces[i].best.text.length;
  at = whole.indexOf(piece.best.text, at);
  const rest = whole.slice(0, at) + text + whole.slice(at + piece.best.text.length);
  try {
    const answer = await (await api('/translate', {q: piece.source, split: 'none', prefix: text, min_length: 0, max_length: 1, scores: true, alignment: true, model: settings().model, ...chosenLanguages(''), ...(found.pivot && {source: found.pivot}), beam_size: 1})).json();
    const best = answer.details[0].translations[0];
    const tokens = (await (await api('/tokenize', {model: settings().model, text, side: 'target'})).json()).pieces;
    piece.best = {...best, text, tokens, attention: []};
  } catch (error) { trouble(error); return; }
  draw(rest);
  if ($('target').querySelector('.word')) $('target').querySelector('.word').focus();
  confidence().catch(trouble);
};

// --- files ---
const offerFiles = set => {
  $('files').hidden = !set.filesTranslation;
  $('file').accept = set.supportedFilesFormat.join(',');
  $('file-formats').textContent = `Formats: ${set.supportedFilesFormat.map(f => f.slice(1)).join(', ')}`;
};
const size = bytes => bytes < 1e5 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
// Translates a file, with a line in the list: its name, the progress, and a link in the end.
const translateFile = async file => {
  const item = element('li'), bar = element('progress'), news = element('span', 'sending'), stop = element('button', 'Cancel', {type: 'button'}), mine = new AbortController();
  bar.setAttribute('aria-label', file.name);
  stop.setAttribute('aria-label', `Cancel ${file.name}`);
  stop.onclick = () => mine.abort();
  item.append(element('span', file.name), bar, news, stop);
  $('file-list').append(item);
  const end = (...last) => { bar.remove(); stop.remove(); item.append(...last); };
  try {
    const form = new FormData(), {model, source, target} = settings();
    for (const [name, value] of Object.entries({model, source, target})) if (value) form.append(name, value);
    if (terms()) form.append('terminology', JSON.stringify(terms()));
    form.append('file', file);
    let answer = {};
    await events('/translate_file', form, mine.signal, e => {
      if (!e.progress) { answer = e; return; }
      bar.max = e.progress.of || 1, bar.value = e.progress.sentences;
      news.textContent = `${e.progress.sentences} of ${e.progress.of} sentences` + (e.progress.secondsLeft > 1 ? `, ${e.progress.secondsLeft} seconds left` : '');
    });
    // The server gives a translation once, so the page keeps it.
    const url = new URL(answer.translatedFileUrl, location.href), name = decodeURIComponent(url.pathname.split('/').pop()).replace(/^\w+\./, '');
    const bytes = await (await api(url.pathname, undefined, mine.signal)).blob();
    news.textContent = how(answer);
    end(element('a', `Download ${name} (${size(bytes.size)})`, {href: URL.createObjectURL(bytes), download: name}));
    $('file-news').textContent = `${file.name} is translated.`;
  } catch (error) {
    const cancelled = error.name === 'AbortError';
    news.textContent = cancelled ? 'cancelled' : error.message;
    news.className = cancelled ? '' : 'bad';
    end();
    $('file-news').textContent = `${file.name}: ${news.textContent}`;
  }
};
const translateFiles = async files => { for (const file of files) await translateFile(file); };
$('file').onchange = () => { const files = [...$('file').files]; $('file').value = ''; translateFiles(files); };
for (const [name, over] of [['dragenter', true], ['dragover', true], ['dragleave', false], ['drop', false]])
  $('drop').addEventListener(name, e => {
    e.preventDefault();
    $('drop').classList.toggle('over', over);
    if (name === 'drop') translateFiles([...e.dataTransfer.files]);
  });

// --- heads ---
let maps = null;
const options = (id, names) => $(id).replaceChildren(...names.map((n, i) => element('option', n, {value: i})));
const heads = async () => {
  if (!found || !found.pieces.length) { trouble(new Error('There is no translation yet.')); return; }
  if (!$('model').value) { trouble(new Error('Choose a model to see its attention.')); return; }
  try {
    maps = (await (await api('/attention', {...scored(), source: found.pieces[0].source, target: found.pieces[0].best.text})).json()).maps;
    options('head-kind', maps.map(m => m.kind));
    kind();
    trouble(null);
  } catch (error) { trouble(error); }
};
const kind = () => {
  const map = maps[$('head-kind').value || 0];
  options('head-layer', map.layers.map((l, i) => String(i + 1)));
  options('head-head', ['mean', ...map.layers[0].heads.map((h, i) => String(i + 1))]);
  heat();
};
const heat = () => {
  const map = maps[$('head-kind').value || 0], all = map.layers[$('head-layer').value || 0].heads, h = +$('head-head').value;
  const weight = (q, k) => h ? all[h - 1][q][k] : all.reduce((s, one) => s + one[q][k], 0) / all.length;
  const table = element('table'), head = table.createTHead().insertRow();
  table.createCaption().textContent = `${map.kind}, layer ${+$('head-layer').value + 1}, ${h ? 'head ' + h : 'mean of all heads'}: each row is a query token, each column a key token`;
  head.append(element('td'), ...map.keys.map(k => element('th', k, {scope: 'col'})));
  const body = table.createTBody();
  map.queries.forEach((query, q) => {
    const row = body.insertRow();
    row.append(element('th', query, {scope: 'row'}));
    map.keys.forEach((key, k) => {
      const w = weight(q, k), cell = row.insertCell();
      cell.title = `${query} \u2192 ${key}: ${w.toFixed(3)}`;
      cell.style.backgroundColor = `rgba(var(--mark), ${Math.sqrt(w).toFixed(2)})`;
    });
  });
  $('head-map').replaceChildren(table);
};
$('head-show').onclick = heads;
$('head-kind').onchange = () => maps && kind();
$('head-layer').onchange = $('head-head').onchange = () => maps && heat();

// --- comparing ---
for (const side of ['left-', 'right-']) $(side + 'model').onchange = () => offerLanguages(side);
$('compare').onclick = () => {
  for (const side of ['left', 'right']) {
    const temperature = +$(side + '-temperature').value;
    const body = {q: $('compare-source').value, ...chosenLanguages(side + '-'), model: $(side + '-model').value || undefined};
    temperature > 0 ? body.temperature = temperature : body.beam_size = +$(side + '-beam').value || 1;
    $(side).setAttribute('aria-busy', true);
    const begun = performance.now();
    const ask = async () => {
      tellDetected(side + '-');
      await events('/translate', body, undefined, e => {
        if (e.detectedLanguage) tellDetected(side + '-', e.detectedLanguage);
        $(side).textContent = e.partial ?? `${e.translatedText}\n\n${Math.round(performance.now() - begun)} ms`;
      });
    };
    ask().then(() => trouble(null), trouble).finally(() => $(side).setAttribute('aria-busy', false));
  }
};

// --- writing ---
let writing = null, said = [];
const number = id => $(id).value === '' ? undefined : +$(id).value;
$('write').onclick = async () => {
  const chat = $('as-chat').checked, text = $('prompt').value, talk = $('talk');
  if (!text && !talk.textContent) return;
  const mine = writing = new AbortController();
  $('stop').disabled = false, $('write').disabled = true;
  const before = talk.textContent;
  talk.append(element('span', (chat && before ? '\n\n' : '') + text + (chat ? '\n\n' : ''), {className: 'given'}));
  const answer = element('span');
  talk.append(answer);
  $('prompt').value = '';
  const body = {model: $('writer').value, max_tokens: number('tokens'), temperature: number('temperature'), top_p: number('top-p'), top_k: number('top-k'), seed: number('seed')};
  try {
    if (chat) said.push({role: 'user', content: text});
    await events(chat ? '/v1/chat/completions' : '/v1/completions', chat ? {...body, messages: said} : {...body, prompt: before + text}, mine.signal, e => {
      for (const c of e.choices) answer.textContent += c.text ?? (c.delta.content || '');
      talk.scrollTop = talk.scrollHeight;
    });
    trouble(null);
  } catch (error) { trouble(error); }
  // A refused turn does not count: the next one continues after its predecessor.
  if (chat && answer.textContent) said.push({role: 'assistant', content: answer.textContent});
  else if (chat) said.pop();
  $('stop').disabled = true, $('write').disabled = false;
};
$('stop').onclick = () => writing && writing.abort();
$('clear').onclick = () => { if (writing) writing.abort(); said = []; $('talk').replaceChildren(); };
$('prompt').onkeydown = e => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) $('write').click(); };

// --- status ---
let watching = false, earlier = null;
const history = {};
const numbers = text => {
  const all = {};
  for (const line of text.split('\n')) {
    const m = /^tril_(\w+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!m) continue;
    const labels = Object.fromEntries([...(m[2] || '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(x => [x[1], x[2]]));
    (all[m[1]] = all[m[1]] || []).push({labels, value: +m[3]});
  }
  return all;
};
const look = async () => {
  if (!watching) return;
  try {
    const now = {time: performance.now(), all: numbers(await (await api('/metrics')).text())};
    const of = (s, name, labels) => ((s.all[name] || []).find(v => Object.entries(labels).every(([k, x]) => v.labels[k] === x)) || {value: 0}).value;
    const cards = (now.all.model_ready || []).map(({labels: {model}, value}) => {
      const rate = (name, more = {}) => earlier ? (of(now, name, {model, ...more}) - of(earlier, name, {model, ...more})) / (now.time - earlier.time) * 1000 : 0;
      const tokens = rate('new_tokens_total'), list = history[model] = [...(history[model] || []), tokens].slice(-60);
      const ms = q => Math.round(1000 * of(now, 'sentence_seconds_quantile', {model, quantile: q})) + ' ms';
      const facts = [['ready', value ? 'yes' : 'no'], ['tokens per second', Math.round(tokens)], ['sentences per second', rate('sentences_total', {outcome: 'ended'}).toFixed(1)],
        ['waiting', of(now, 'waiting', {model})], ['running', of(now, 'running', {model})], ['cached tokens', of(now, 'cache_tokens', {model})], ['latency, median', ms('0.5')], ['latency, 99 of 100', ms('0.99')]];
      const card = element('section', '', {className: 'card'}), dl = element('dl');
      for (const [name, text] of facts) dl.append(element('dt', name), element('dd', text));
      const most = Math.max(1, ...list), points = list.map((v, i) => `${i * 2},${30 - 28 * v / most}`).join(' ');
      const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
      svg.setAttribute('viewBox', '0 0 120 31'); svg.setAttribute('preserveAspectRatio', 'none'); svg.setAttribute('role', 'img');
      svg.setAttribute('aria-label', `tokens per second over the last two minutes, at most ${Math.round(most)}`);
      const line = document.createElementNS('http://www.w3.org/2000/svg', 'polyline');
      line.setAttribute('points', points); line.setAttribute('fill', 'none'); line.setAttribute('stroke', 'currentColor');
      svg.append(line);
      card.append(element('h3', model), dl, svg);
      return card;
    });
    $('status-cards').replaceChildren(...cards);
    $('status-note').textContent = `peak memory ${of(now, 'peak_memory_bytes', {}) / 1048576 | 0} MiB; updated every two seconds`;
    earlier = now;
    trouble(null);
  } catch (error) { trouble(error); }
  setTimeout(look, 2000);
};

begin();
