// Alternative continuations from a word, each with the probability that the model gives to the whole translation.
let opener = null;
const percent = p => `${p >= 0.0995 ? Math.round(100 * p) : Number((100 * p).toPrecision(2))} %`;
const closeMenu = () => { $('choices').hidden = true; $('choices').replaceChildren(); if (opener) opener.removeAttribute('aria-expanded'); opener = null; };
const branch = async (p, n, begin, button) => {
  closeMenu();
  const piece = found.pieces[p], prefix = piece.best.text.slice(0, begin);
  try {
    const answer = await (await api('/translate', {q: piece.source, split: 'none', prefix, branch: true, alternatives: 6, ...settings(), scores: true, ...(found.pivot && {source: found.pivot}), terminology: undefined, glossary: undefined})).json();
    const logProbs = new Map(answer.details[0].translations.map(t => [t.text, t.log_prob]));
    const list = [...new Set([answer.translatedText, ...answer.alternatives])].filter(t => t !== piece.best.text);
    const menu = $('choices');
    menu.replaceChildren(...list.map(text => {
      const option = element('button', '', {type: 'button'});
      option.append(element('span', text, {className: 'text'}));
      if (logProbs.has(text)) option.append(' ', element('span', percent(Math.exp(logProbs.get(text))), {className: 'probability', title: 'the probability of the whole translation'}));
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
