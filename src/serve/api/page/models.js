// The models and their languages.
let ready = false;
// By model: the source and target languages that a request may choose. "left-" and "right-" are the sides of a comparison.
let languages = {};
// The public codes (BCP 47) of the models' own names.
let publicCodes = {};
const languageNames = new Intl.DisplayNames([...navigator.languages, 'en'], {type: 'language', fallback: 'none'});
const languageTag = code => publicCodes[code] || code;  // as in documents
const languageName = code => {
  let name;
  try { name = languageNames.of(languageTag(code)); } catch (none) { /* no code: it stands for itself */ }
  return name ? `${name} (${code})` : code;
};
const offerLanguages = side => {
  const of = languages[$(side + 'model').value] || {from: [], into: []};
  for (const which of ['from', 'into']) {
    const select = $(side + which), before = select.value, codes = of[which].length > 1 ? of[which] : [];
    const named = codes.map(code => [languageName(code), code]).sort((a, b) => a[0].localeCompare(b[0], 'en'));
    select.replaceChildren(element('option', which === 'from' ? 'detect' : 'as usual', {value: ''}), ...named.map(([name, value]) => element('option', name, {value})));
    select.value = codes.includes(before) ? before : '';
    select.parentElement.hidden = !codes.length;
  }
};
const chosenLanguages = side => ({source: $(side + 'from').value || ($(side + 'from').options.length > 1 ? 'auto' : undefined), target: $(side + 'into').value || undefined});
// What was detected, in the list where a language can be chosen.
const tellDetected = (side, detected) => {
  const option = $(side + 'from').options[0], known = detected && detected.confidence > 0;
  if (option) option.textContent = known ? `detect: ${languageName(detected.language)}, ${detected.confidence} %` : 'detect';
};
// How a text or a file was translated: "detected: French (fr), 98 %; through English (en); not applied: dog = Hund".
const how = answer => {
  const detected = answer.detectedLanguage, missing = (answer.terms || []).filter(t => !t.applied);
  return [detected && detected.confidence > 0 && `detected: ${languageName(detected.language)}, ${detected.confidence} %`, answer.pivot && `through ${answer.pivot.map(languageName).join(', ')}`, missing.length && `not applied: ${missing.map(t => `${t.source} = ${t.target}`).join(', ')}`].filter(Boolean).join('; ');
};
const tellHow = answer => {
  $('how').textContent = answer ? how(answer) : '';
  $('how').hidden = !$('how').textContent;
};
// Language tokens before and after sentences are no words: ">>de<<", "__de__", "de_DE".
const isLanguage = token => {
  const code = token.replace(/^>>(.*)<<$|^__(.*)__$/, '$1$2');
  return (code !== token || token.includes('_')) && (languages[$('model').value] || {into: []}).into.includes(code);
};
// Without a model, the server chooses one, or a path through other languages.
const anyModel = 'any model';
const offerAnyModel = async () => {
  const list = await (await api('/languages')).json();
  languages[''] = {from: list.filter(l => l.targets.length && l.code !== 'und').map(l => l.code), into: [...new Set(list.flatMap(l => l.targets))]};
  $('model').append(element('option', anyModel, {value: ''}));
};
const begin = async () => {
  try {
    const all = (await (await api('/v1/models')).json()).data;
    let anyBefore = false;
    for (const [ids, translates] of [[['model', 'left-model', 'right-model'], true], [['writer'], false]])
      for (const id of ids) {
        const names = all.filter(m => translates ? m.translates : m.continues).map(m => m.id);
        const before = $(id).selectedOptions.length ? $(id).value : undefined;
        $(id).replaceChildren(...names.map(n => element('option', n, {value: n})));
        if (names.includes(before)) $(id).value = before;
        anyBefore ||= id === 'model' && before === '';
      }
    languages = Object.fromEntries(all.filter(m => m.translates).map(m => [m.id, {from: m.sources, into: m.targets}]));
    publicCodes = Object.assign({}, ...all.map(m => m.codes || {}));
    if (all.filter(m => m.translates).length > 1) await offerAnyModel();
    if (anyBefore) $('model').value = '';
    for (const side of ['', 'left-', 'right-']) offerLanguages(side);
    $('tab-write').disabled = !$('writer').value;
    offerFiles(await (await api('/frontend/settings')).json());
    await offerGlossaries();
    ready = all.length > 0;
    trouble(ready ? null : new Error('The models are being loaded.'));
  } catch (error) { ready = false; trouble(error); }
  if (!ready) setTimeout(begin, 2000);
};
