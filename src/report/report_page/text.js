// Texts and elements. All data are inserted into the document as text, never as markup.

// Texts are looked up by their English form in the table of the reader's language: ?lang=zh, or the browser's. {0} is put in.
const languages = { en: 'English', zh: '中文' };
const asked = new URLSearchParams(location.search).get('lang') || navigator.language || 'en';
const language = document.documentElement.dataset.languages === 'en zh' && asked.toLowerCase().startsWith('zh') ? 'zh' : 'en';
const t = (english, ...parts) => ((language === 'zh' && chinese[english]) || english).replace(/\{(\d)\}/g, (_, i) => parts[i]);

const data = JSON.parse(document.getElementById('data').textContent);

function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (key.startsWith('aria-')) node.setAttribute(key, String(value));
    else if (value === true) node.setAttribute(key, '');
    else if (value !== false && value !== undefined) node.setAttribute(key, value);
  node.append(...children.filter(c => c !== null && c !== undefined));
  return node;
}

function drawn(name, attributes = {}, text) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

// Invisible characters, and those that change the order of others, are shown by their numbers.
const unseen = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffc]/g;
const codePoint = c => 'U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
const plain = text => String(text).replace(unseen, codePoint);
function visible(text) {
  const fragment = document.createDocumentFragment();
  let from = 0;
  for (const found of String(text).matchAll(unseen)) {
    fragment.append(text.slice(from, found.index), element('span', { class: 'code-point' }, codePoint(found[0])));
    from = found.index + found[0].length;
  }
  fragment.append(text.slice(from));
  return fragment;
}

const isNumber = x => typeof x === 'number' && Number.isFinite(x);
const whole = x => Math.round(x).toLocaleString('en');
function figure(x) {
  if (!isNumber(x)) return '–';
  const size = Math.abs(x);
  if (size >= 1000) return whole(x);
  if (size !== 0 && size < 1e-3) return x.toExponential(3).replace(/\.?0+e/, 'e');
  return String(Number(x.toPrecision(4)));
}
const short = x => x >= 1e9 ? `${figure(x / 1e9)}G` : x >= 1e6 ? `${figure(x / 1e6)}M` : x >= 1e4 ? `${figure(x / 1e3)}k` : whole(x);
function duration(minutes) {
  const seconds = Math.round(minutes * 60), two = n => String(n).padStart(2, '0');
  return seconds < 3600 ? t('{0} min', `${Math.floor(seconds / 60)}:${two(seconds % 60)}`)
    : t('{0} h', `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}`);
}
const color = i => `var(--c${i % 8})`;
const swatch = i => element('span', { class: 'swatch', style: `background:${color(i)}` });
// A name with its own writing direction.
const name = run => element('bdi', {}, visible(run.name));

// Words, and single characters of scripts without spaces between words.
const unspaced = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Khmer}\\p{Script=Lao}';
const wordPattern = new RegExp(`[${unspaced}]|[^\\s${unspaced}]+|\\s+`, 'gu');
const wordsOf = text => String(text).match(wordPattern) || [];

// Which of b's words are in a longest common subsequence of a's and b's: [{text, kept}] for b, with words only in a
// as {text, lost}.
function compared(a, b) {
  const solid = w => w.trim() !== '';
  const x = wordsOf(a).filter(solid), y = wordsOf(b), z = y.filter(solid);
  const best = Array.from({ length: x.length + 1 }, () => new Uint16Array(z.length + 1));
  for (let i = x.length - 1; i >= 0; --i)
    for (let j = z.length - 1; j >= 0; --j)
      best[i][j] = x[i] === z[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
  const parts = [];
  let i = 0, j = 0;
  for (const word of y) {
    if (!solid(word)) {
      parts.push({ text: word, space: true });
      continue;
    }
    while (i < x.length && x[i] !== z[j] && best[i + 1][j] >= best[i][j + 1]) parts.push({ text: x[i++], lost: true });
    const kept = i < x.length && x[i] === z[j];
    if (kept) ++i;
    ++j;
    parts.push({ text: word, kept });
  }
  while (i < x.length) parts.push({ text: x[i++], lost: true });
  return parts;
}
