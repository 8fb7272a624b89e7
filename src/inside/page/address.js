// The page's address keeps what it shows, so that a link opens the same view: the question, the chosen operation and cell, the switches,
// the settings of each view, and the view that is on the screen (views.js). Nothing is kept elsewhere.
const OF_MODEL = ['model', 'text', 'target', 'search'];  // a file from disk has one answer to each of these

// Pairs as one value of the address; undefined if there are none.
const packed = pairs => new URLSearchParams(pairs.filter(([, value]) => value !== undefined && value !== null).map(([key, value]) => [key, String(value)])).toString() || undefined;
function stateNow() {
  const q = now.question || {};
  return { model: q.model, text: q.text, target: q.target, stage: view.stage, point: view.point, head: view.head, row: view.row || undefined,
    cell: view.cell ? view.cell.join() : undefined, mask: view.mask === 'boolean' ? undefined : view.mask, change: changeState(), draw: drawState(),
    search: searchState(), kind: kindState(), learn: learningState(), view: shown.view, slide: shown.slide };
}
function hashOf(state) {
  const kept = Object.entries(state).filter(([key, value]) => !(FILE && OF_MODEL.includes(key)) && value !== undefined && value !== '' && value !== null);
  return new URLSearchParams(kept).toString();
}
function keepState() {
  const hash = hashOf(stateNow());
  history.replaceState(null, '', `${location.pathname}${location.search}#${hash}`);
  for (const a of document.querySelectorAll('#languages a')) a.setAttribute('href', `?lang=${a.lang}#${hash}`);
  for (const a of document.querySelectorAll('.tools a')) a.setAttribute('href', `#${hashOf({ ...stateNow(), view: a.dataset.view, slide: undefined })}`);
}
// The same a little later: a key that is held down would have the browser refuse further addresses.
let keeping = 0;
function keepSoon() {
  clearTimeout(keeping);
  keeping = setTimeout(keepState, 200);
}
const stateOf = hash => Object.fromEntries(new URLSearchParams(hash.replace(/^#/, '')));
// An address that was put in the place of this one, such as a link to another text.
addEventListener('hashchange', () => { if (location.hash.slice(1) !== hashOf(stateNow())) location.reload(); });
