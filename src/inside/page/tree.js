// A search as a tree, from left to right by step: where its nodes stand, and how they are drawn. A fate is told by shape and line as
// well as by colour. `s` is the answer of POST /search.
const FATES = ['living', 'finished', 'stopped', 'cut', 'forbidden', 'rejected'];
const LOST = ['cut', 'forbidden', 'rejected'];
const STEP_WIDTH = 104, ROW_HEIGHT = 23;

// The nodes from the root to this one.
function pathTo(nodes, i) {
  const path = [];
  for (let at = i; at !== null && at >= 0; at = nodes[at].parent) path.unshift(at);
  return path;
}
// The sum of the log-probabilities on the way to a node, added up here.
const sumTo = (nodes, i) => pathTo(nodes, i).slice(1).reduce((sum, n) => sum + nodes[n].log_prob, 0);

// The places of the shown nodes: a leaf has a row of its own, and a parent stands in the middle of its children.
function placesOf(nodes, isShown) {
  const children = nodes.map(() => []), places = new Map();
  nodes.forEach((n, i) => { if (i > 0 && isShown(n)) children[n.parent].push(i); });
  let rows = 0;
  const place = i => {
    children[i].forEach(place);
    const ys = children[i].map(c => places.get(c).y);
    const y = ys.length ? (ys[0] + ys[ys.length - 1]) / 2 : ROW_HEIGHT * rows++;
    places.set(i, { x: STEP_WIDTH * nodes[i].step, y });
  };
  place(0);
  return { children, places, rows, steps: Math.max(...[...places.keys()].map(i => nodes[i].step)) };
}

// The browser's own name for the space of SVG elements: the page names no address.
const SVG = (() => {
  const box = element('div');
  box.innerHTML = '<svg></svg>';
  return box.firstChild.namespaceURI;
})();
const inSvg = (name, attributes = {}, ...children) => {
  const e = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== undefined && value !== null && value !== false) e.setAttribute(key, value);
  e.append(...children);
  return e;
};
const MARKS = {
  living: () => [inSvg('circle', { r: 5 })],
  finished: () => [inSvg('rect', { x: -5.5, y: -5.5, width: 11, height: 11 }), inSvg('rect', { x: -2.5, y: -2.5, width: 5, height: 5, class: 'inner' })],
  stopped: () => [inSvg('circle', { r: 5, class: 'hollow' })],
  cut: () => [inSvg('path', { d: 'M-4 -4L4 4M-4 4L4 -4' })],
  forbidden: () => [inSvg('circle', { r: 5, class: 'hollow' }), inSvg('path', { d: 'M-3.5 3.5L3.5 -3.5' })],
  rejected: () => [inSvg('path', { d: 'M0 -5.5L5.5 0L0 5.5L-5.5 0Z', class: 'hollow' })],
};
const markOf = fate => inSvg('g', { class: `fate-${fate}` }, ...MARKS[fate]());
const pieceOf = (s, i) => i === 0 ? s.given.pieces.slice(-1).map(plain)[0] : plain(s.nodes[i].piece);
const fateWords = n => n.proposed && n.fate !== 'rejected' ? `${t(`f_${n.fate}`)}, ${t('f_accepted')}` : t(`f_${n.fate}`);

// What a node's numbers are, in words.
function wordsOf(s, i) {
  const n = s.nodes[i], words = [`“${pieceOf(s, i)}”`];
  if (i === 0) return [...words, t('n_given')].join(' · ');
  words.push(t('n_step', n.step), fateWords(n));
  if (n.log_prob !== null) words.push(t('n_log', digits(n.log_prob), percent(Math.exp(n.log_prob))), t('n_sum', digits(n.sum)));
  if (n.rank_sum !== undefined) words.push(t('n_rank', digits(n.rank_sum)));
  if (n.group !== undefined) words.push(t('n_group', n.group));
  if (n.samples) words.push(t('n_samples', n.samples));
  if (n.fate === 'finished') words.push(t('n_score', digits(n.score)), t(`e_${n.stop_reason}`));
  return words.join(' · ');
}

// The picture, in a frame that scrolls. The arrow keys go from node to node: right to the first child, left to the parent, up and down
// in the same step. choose(i, chosen): a node is pointed at, or a click or a key has chosen it.
function treePicture(s, isShown, best, choose) {
  const { children, places, rows, steps } = placesOf(s.nodes, isShown);
  const onBest = new Set(best < 0 ? [] : pathTo(s.nodes, best)), lines = [], marks = [];
  const picture = inSvg('svg', { role: 'tree', 'aria-label': t('search'), width: STEP_WIDTH * (steps + 1) + 20, height: ROW_HEIGHT * rows + 40 });
  const groups = new Map();
  const light = (i, focus) => {
    const path = new Set(pathTo(s.nodes, i));
    for (const e of picture.querySelectorAll('[data-node]')) e.classList.toggle('on', path.has(+e.dataset.node));
    for (const e of picture.querySelectorAll('[tabindex="0"]')) e.setAttribute('tabindex', -1);
    groups.get(i).setAttribute('tabindex', 0);
    if (focus) groups.get(i).focus();
    choose(i, focus);
  };
  for (const [i, { x, y }] of places) {
    const n = s.nodes[i], best = onBest.has(i) ? ' best' : '';
    if (i > 0) {
      const from = places.get(n.parent), half = (from.x + x) / 2;
      lines.push(inSvg('path', { class: `line fate-${n.fate}${best}`, 'data-node': i, d: `M${from.x + 6} ${from.y}C${half} ${from.y} ${half} ${y} ${x - 7} ${y}` }));
    }
    const piece = pieceOf(s, i), shown = [...piece].length > 10 ? `${[...piece].slice(0, 9).join('')}…` : piece;
    const g = inSvg('g', { class: `node fate-${n.fate}${best}${n.proposed && n.fate !== 'rejected' ? ' accepted' : ''}`, 'data-node': i, role: 'treeitem', tabindex: i === 0 ? 0 : -1,
      'aria-level': n.step + 1, 'aria-label': wordsOf(s, i), transform: `translate(${x} ${y})` }, ...MARKS[n.fate](), inSvg('text', { x: 9, y: -4 }, shown, ...(n.group === undefined ? [] : [inSvg('tspan', { class: 'group', dx: 4 }, String(n.group))])));
    if (n.proposed && n.fate !== 'rejected') g.prepend(inSvg('path', { d: 'M0 -8.5L8.5 0L0 8.5L-8.5 0Z', class: 'hollow' }));
    g.addEventListener('pointerenter', () => light(i, false));
    g.addEventListener('click', () => light(i, true));
    g.addEventListener('focus', () => light(i, false));
    groups.set(i, g);
    marks.push([i, g]);
  }
  const inStep = i => [...places].filter(([n]) => s.nodes[n].step === s.nodes[i].step).sort((a, b) => a[1].y - b[1].y).map(([n]) => n);
  const next = (i, key) => {
    if (key === 'ArrowLeft') return s.nodes[i].parent;
    if (key === 'ArrowRight') return children[i][0];
    if (key === 'Home') return 0;
    const step = inStep(i);
    return { ArrowUp: step[step.indexOf(i) - 1], ArrowDown: step[step.indexOf(i) + 1] }[key];
  };
  picture.addEventListener('keydown', e => {
    const at = e.target.closest('[role=treeitem]');
    if (!at || !['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home'].includes(e.key)) return;
    e.preventDefault();
    const to = next(+at.dataset.node, e.key);
    if (to !== undefined && to !== null) light(to, true);
  });
  marks.sort((a, b) => a[0] - b[0]);  // readers hear parents first
  const heads = Array.from({ length: steps }, (_, k) => inSvg('text', { class: 'step-number', x: STEP_WIDTH * (k + 1) - 4, y: -18 }, String(k + 1)));
  picture.append(inSvg('g', { transform: 'translate(12 32)' }, inSvg('g', { 'aria-hidden': 'true' }, ...heads), ...lines, ...marks.map(m => m[1])));
  picture.dataset.root = places.get(0).y;
  picture.light = i => { if (groups.has(i)) light(i, false); };
  return picture;
}

// The same as nested lists.
function treeList(s, isShown) {
  const { children } = placesOf(s.nodes, isShown);
  const item = i => element('li', {}, wordsOf(s, i), children[i].length ? element('ul', {}, ...children[i].map(item)) : null);
  return element('ul', {}, item(0));
}
