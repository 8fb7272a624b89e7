// Small helpers for the document.
const $ = id => document.getElementById(id);
// element('td', { class: 'on' }, 'text', child…): attributes that are functions are listeners.
function element(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (typeof value === 'function') e.addEventListener(key, value);
    else if (value !== undefined && value !== null && value !== false) e.setAttribute(key, value === true ? '' : value);
  e.append(...children.filter(c => c !== null && c !== undefined));
  return e;
}
function translate(root) {
  for (const e of root.querySelectorAll('[data-t]')) e.textContent = t(e.dataset.t);
  for (const e of root.querySelectorAll('[data-label]')) e.setAttribute('aria-label', t(e.dataset.label));
}
const trouble = error => { $('trouble').hidden = !error; $('trouble').textContent = error ? error.message : ''; };
// A number in at most five digits; a minus sign is a minus sign.
function digits(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return '?';  // JSON has no infinity
  if (x === -Infinity) return '−∞';
  if (Number.isInteger(x) && Math.abs(x) < 1e6) return String(x).replace('-', '−');
  const size = Math.abs(x);
  return (size >= 1e-3 && size < 1e4 ? x.toPrecision(4) : x.toExponential(2)).replaceAll('-', '−');
}
const short = x => x === -Infinity ? '−∞' : (Math.abs(x) >= 100 ? x.toFixed(0) : Math.abs(x) >= 10 ? x.toFixed(1) : x.toFixed(2)).replace('-', '−');
const percent = p => p >= 0.001 ? `${(100 * p).toFixed(p >= 0.1 ? 1 : 2)} %` : `${(100 * p).toExponential(1)} %`.replace('-', '−');
// Characters that a piece stands for: signs for blanks and line ends stay visible. Bytes of one character that were split are shown
// as numbers.
const plain = piece => piece.replace(/^▁|▁/g, '␣').replace(/Ġ/g, '␣').replace(/Ċ/g, '↵').replace(/\n/g, '↵').replace(/ /g, '␣');
