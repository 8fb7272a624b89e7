// The words of a translation: which source words they come from, and how sure the model is of them.

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
