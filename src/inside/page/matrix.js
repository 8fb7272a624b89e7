// One value as a matrix: a table of numbers if it is small, else a picture with a pixel for each number. The cell under the pointer, or
// the one that the arrow keys have chosen, is explained below (explain.js).
const MOST_CELLS = 4200;

function color(x, most) {
  return `rgba(var(${x < 0 ? '--minus' : '--plus'}), ${(0.7 * Math.sqrt(Math.min(1, Math.abs(x) / most))).toFixed(3)})`;
}
// m: { name, data, rows, columns: labels, masked: i => bool or null, choose(row, column, clicked) }, and perhaps isBare: colours without
// numbers, words: i => what a cell says, and most: the value of the strongest colour. A table's fill(data) shows other numbers of the same shape.
function matrixOf(m) {
  const R = m.rows.length, C = m.columns.length;
  let most = m.most || 1e-30;
  if (!m.most) m.data.forEach((x, i) => { if (Number.isFinite(x) && !(m.masked && m.masked(i))) most = Math.max(most, Math.abs(x)); });
  const frame = element('div', { class: 'matrix', tabindex: 0, role: 'group', 'aria-label': `${m.name}: ${R} × ${C}` });
  let at = [0, 0], select;
  const choose = (i, j, clicked) => { at = [i, j]; select(i, j); m.choose(i, j, clicked); };
  select = R * C <= MOST_CELLS ? tableIn(frame, m, most, choose) : pictureIn(frame, m, most, choose);
  frame.go = (i, j) => { if (i < R && j < C) choose(i, j, true); };
  frame.addEventListener('keydown', e => {
    const [down, right] = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1], Enter: [0, 0] }[e.key] || [];
    if (down === undefined) return;
    e.preventDefault();
    choose(Math.min(R - 1, Math.max(0, at[0] + down)), Math.min(C - 1, Math.max(0, at[1] + right)), true);
  });
  return frame;
}
function tableIn(frame, m, most, choose) {
  const C = m.columns.length, numbers = !m.isBare && C <= 16 && m.rows.length <= 40, cells = [], rows = [];
  const heads = m.columns.map(c => element('th', { scope: 'col' }, c));
  const body = element('tbody');
  m.rows.forEach((row, i) => {
    const th = element('th', { scope: 'row' }, row), tr = element('tr', {}, th);
    rows.push(th);
    for (let j = 0; j < C; ++j) {
      const td = element('td', { 'data-r': i, 'data-c': j });
      if (m.masked && m.masked(i * C + j)) td.dataset.masked = '';
      cells.push(td);
      tr.append(td);
    }
    body.append(tr);
  });
  frame.fill = data => {
    frame.numbers = data;
    cells.forEach((td, n) => {
      if (!('masked' in td.dataset)) td.style.backgroundColor = color(data[n], most);
      if (numbers) td.textContent = m.words ? m.words(n) : Number.isInteger(data[n]) ? digits(data[n]) : short(data[n]);
    });
  };
  frame.fill(m.data);
  frame.append(element('table', {}, element('thead', {}, element('tr', {}, element('td'), ...heads)), body));
  const cell = e => e.target.closest('td[data-r]');
  body.addEventListener('pointerover', e => cell(e) && choose(+cell(e).dataset.r, +cell(e).dataset.c, false));
  body.addEventListener('click', e => cell(e) && choose(+cell(e).dataset.r, +cell(e).dataset.c, true));
  let on = [];
  return (i, j) => {
    on.forEach(e => e.classList.remove('on'));
    on = [cells[i * C + j], rows[i], heads[j]];
    on.forEach(e => e.classList.add('on'));
  };
}
function pictureIn(frame, m, most, choose) {
  const R = m.rows.length, C = m.columns.length, canvas = element('canvas', { width: C, height: R, 'data-cells': R * C });
  const style = getComputedStyle(document.documentElement), rgb = v => style.getPropertyValue(v).split(',').map(Number);
  const plus = rgb('--plus'), minus = rgb('--minus'), line = style.getPropertyValue('--line').trim().slice(1).match(/../g).map(x => parseInt(x, 16)), context = canvas.getContext('2d'), image = context.createImageData(C, R);
  for (let i = 0; i < m.data.length; ++i) {
    if (m.masked && m.masked(i)) {  // every second pixel, as the hatch of a table; a weight of 0 has none
      if ((Math.floor(i / C) + i % C) % 2) image.data.set([...line, 255], 4 * i);
      continue;
    }
    const [r, g, b] = m.data[i] < 0 ? minus : plus;
    image.data.set([r, g, b, Math.round(200 * Math.sqrt(Math.min(1, Math.abs(m.data[i]) / most)))], 4 * i);
  }
  context.putImageData(image, 0, 0);
  const wide = Math.max(1, Math.min(12, Math.floor(520 / C))), high = 16;
  canvas.style.width = `${C * wide}px`;
  canvas.style.height = `${R * high}px`;
  const labels = element('div', { class: 'labels' }, ...m.rows.map(r => element('span', {}, r)));
  for (const s of labels.children) s.style.height = s.style.lineHeight = `${high}px`;
  frame.append(element('div', { class: 'canvas' }, labels, element('div', {}, canvas)));
  const cell = e => {
    const box = canvas.getBoundingClientRect();
    return [Math.min(R - 1, Math.max(0, Math.floor((e.clientY - box.top) / high))), Math.min(C - 1, Math.max(0, Math.floor((e.clientX - box.left) / wide)))];
  };
  canvas.addEventListener('pointermove', e => choose(...cell(e), false));
  canvas.addEventListener('click', e => choose(...cell(e), true));
  return i => [...labels.children].forEach((s, n) => { s.style.fontWeight = n === i ? '700' : ''; });
}
