// Translating while one types.
let running = null, timer = 0, found = null;
const terms = () => {
  const list = $('terms').value.split('\n').map(l => l.split('=').map(s => s.trim())).filter(p => p.length === 2 && p[0] && p[1]);
  return list.length ? Object.fromEntries(list) : undefined;
};
const settings = () => ({model: $('model').value || undefined, ...chosenLanguages(''), beam_size: +$('beam').value || undefined, length_penalty: $('length-penalty').value === '' ? undefined : +$('length-penalty').value, terminology: terms(), glossary: chosenGlossaries().length ? chosenGlossaries() : undefined});
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
