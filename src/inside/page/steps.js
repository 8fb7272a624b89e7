// From the whole model to a layer, and from a layer to one of its operations.
const view = { stage: 'begin', point: null, head: 0, row: 0, cell: null, mask: 'boolean' };

function drawStrip() {
  const points = now.about.points.map(p => pointOf(p.name));
  const layers = side => [...new Set(points.filter(p => p.side === side && p.layer !== null).map(p => p.layer))];
  const row = side => {
    const button = (stage, words) => element('button', { type: 'button', 'data-stage': stage, 'aria-pressed': 'false', click: () => chooseStage(stage) }, words);
    const parts = [button('begin', t('begin'))];
    for (const l of layers(side)) parts.push(element('i', { 'aria-hidden': 'true' }, '→'), button(String(l), String(l)));
    parts.push(element('i', { 'aria-hidden': 'true' }, '→'), button('end', t('end')));
    return element('div', { class: 'strip-row' }, element('b', {}, t(side)), ...parts);
  };
  $('strip').replaceChildren(...(now.about.source ? [row('encoder')] : []), row('decoder'));
}
function drawSteps() {
  const points = now.about.points.map(p => ({ ...pointOf(p.name), shape: p.shape }));
  const columns = [['col_encoder', p => p.side === 'encoder'], ['col_decoder', p => p.side === 'decoder' && !p.crossing], ['col_cross', p => p.crossing]];
  $('steps').replaceChildren(...columns.filter(([, has]) => points.some(has)).map(([title, has]) => {
    const list = element('div', { class: 'list' });
    for (const p of points.filter(has))
      list.append(element('button', { type: 'button', class: 'step', 'data-point': p.name, 'data-of': p.stage, 'aria-current': 'false', click: () => { choosePoint(p.name); if (matchMedia('(max-width: 62rem)').matches) $('value-view').scrollIntoView({ block: 'start' }); } },
        t(`o_${p.words}`), element('small', {}, `${p.layer === null ? p.last : p.name.split('.').slice(2).join('.')}  ${p.shape.join(' × ')}`)));
    return element('div', { class: 'column' }, element('h3', {}, t(title)), list);
  }));
}
function chooseStage(stage, point = null, cell = null) {
  view.stage = String(stage);
  for (const b of document.querySelectorAll('#strip button')) b.setAttribute('aria-pressed', b.dataset.stage === view.stage);
  for (const b of document.querySelectorAll('.step')) b.hidden = b.dataset.of !== view.stage;
  for (const c of document.querySelectorAll('.column')) c.hidden = !c.querySelector('.step:not([hidden])');
  const shown = [...document.querySelectorAll('.step:not([hidden])')].map(b => b.dataset.point);
  const same = view.point && shown.find(n => n.replace(/\.\d+\./, '.#.') === view.point.replace(/\.\d+\./, '.#.'));
  return choosePoint(point || same || shown.find(n => n.endsWith('.self.weights')) || shown[0], cell);
}
function choosePoint(name, cell = null) {
  if (!name) return undefined;
  view.point = name, view.cell = cell;
  for (const b of document.querySelectorAll('.step')) b.setAttribute('aria-current', b.dataset.point === name);
  keepState();
  return showValue(name);
}
$('steps').addEventListener('keydown', e => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
  if (!step || !e.target.dataset.point) return;
  e.preventDefault();
  const shown = [...document.querySelectorAll('.step:not([hidden])')], next = shown[shown.indexOf(e.target) + step];
  if (next) { next.focus(); choosePoint(next.dataset.point); }
});
