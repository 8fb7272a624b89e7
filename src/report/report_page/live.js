// A run that is training now: its data come from the server (watch/run_watch.h), whole at first and after each validation, and line by
// line in between. Figures of single updates stand at the end of the curves until the line comes that is their mean.

const live = { provisional: 0, fetching: null, again: false, waiting: [], due: null, ended: false, now: null };
const mostRows = 3000, mostProvisional = 400, drawEvery = 500;  // milliseconds

const rowsOf = table => (table.update || []).length;
// {"norms": {"encoder": 1}} is the column "norms.encoder".
const flat = line => Object.fromEntries(Object.entries(line).flatMap(([key, value]) =>
  value !== null && typeof value === 'object' ? Object.entries(value).map(([inner, v]) => [`${key}.${inner}`, v]) : [[key, value]])
  .filter(([key, v]) => key !== 'type' && isNumber(v)));

function append(table, line) {
  const numbers = flat(line), n = rowsOf(table);
  for (const key of new Set([...Object.keys(table), ...Object.keys(numbers)]))
    (table[key] = table[key] || Array(n).fill(null)).push(key in numbers ? numbers[key] : null);
}
// Every second one of the rows from a place up to another goes; the last of them stays.
function thin(table, from, to) {
  for (const key of Object.keys(table)) table[key] = table[key].filter((_, i) => i < from || i >= to || (to - 1 - i) % 2 === 0);
}
function dropProvisional(table) {
  for (const key of Object.keys(table)) table[key].length -= live.provisional;
  live.provisional = 0;
}

// What the server tells about an update. One that the data hold already is passed over.
function take(kind, line) {
  const { train } = runs[0], last = rowsOf(train) ? train.update[rowsOf(train) - 1] : -1;
  if (kind === 'train') {
    if (live.provisional < rowsOf(train) && line.update <= train.update[rowsOf(train) - live.provisional - 1]) return;
    dropProvisional(train);
    append(train, line);
    if (rowsOf(train) > mostRows) thin(train, 1, rowsOf(train));
  } else {
    if (line.update <= last) return;
    append(train, line);
    live.now = line;
    if (++live.provisional > mostProvisional) {
      const n = rowsOf(train);
      thin(train, n - live.provisional, n);
      live.provisional -= n - rowsOf(train);
    }
  }
  drawSoon();
}

function drawSoon() {
  if (live.due === null) live.due = setTimeout(() => { live.due = null; drawFigures(); }, drawEvery);
}
function drawFigures() {
  const before = charts.map(c => c.spec.id).join();
  if (chartsOf().map(c => c.spec.id).join() !== before) {
    charts = chartsOf();
    document.getElementById('charts').replaceChildren(...charts.map(c => c.box));
  }
  document.getElementById('curves').hidden = false;
  overview();
  view.range = view.part || wholeRange();
  for (const c of charts) c.draw();  // not the controls: who uses one would lose it
  state();
}

// Words change seldom, so that a screen reader may say them; the figures beside them are not announced.
function state(words = live.words) {
  const box = document.getElementById('live');
  if (!box.hasChildNodes()) box.append(element('strong', { role: 'status', id: 'live-state' }), ' ', element('span', { id: 'live-now' }));
  box.hidden = false;
  if (live.words !== words) document.getElementById('live-state').textContent = live.words = words;
  document.getElementById('live-now').textContent = live.now === null ? ''
    : t('update {0}, loss {1}, {2} target tokens/s', whole(live.now.update), figure(live.now.loss), figure(live.now.tokens_per_second));
}

async function fetchRun() {
  try {
    const answer = await fetch('run', { cache: 'no-store' });
    return answer.ok ? (await answer.json()).runs[0] : null;
  } catch { return null; }  // the server has gone: the stream says so
}
async function refreshOnce() {
  const run = await fetchRun();
  if (run) {
    Object.assign(runs[0], run);
    live.provisional = 0;
    for (const [kind, line] of live.waiting.splice(0)) take(kind, line);
    drawFigures();
    legend();
    samples(view);
    attention(view);
    tables();
  }
  document.body.dataset.fetched = String(Number(document.body.dataset.fetched || 0) + 1);
}
// Everything anew; lines that come meanwhile wait. Who asks while a fetch is under way waits for another one: the first may have been
// answered too early.
function refresh() {
  live.again = true;
  return live.fetching ??= (async () => {
    try {
      while (live.again) {
        live.again = false;
        await refreshOnce();
      }
    } finally { live.fetching = null; }
  })();
}

const events = new EventSource('events');
events.addEventListener('open', () => { state(t('Training.')); refresh(); });
events.addEventListener('error', () => {
  if (live.ended) return;
  if (events.readyState === EventSource.CLOSED) state(t('The server refuses: too many pages watch this run.'));  // it answered, with no stream
  else state(t('The connection is lost; trying again.'));
});
events.addEventListener('changed', refresh);
for (const kind of ['now', 'train'])
  events.addEventListener(kind, e => { live.fetching ? live.waiting.push([kind, JSON.parse(e.data)]) : take(kind, JSON.parse(e.data)); });
events.addEventListener('end', async () => {
  live.ended = true;
  try { await refresh(); } finally {
    events.close();
    state(t('The program has ended.'));
  }
});
addEventListener('pagehide', () => events.close());
state(t('Connecting.'));
