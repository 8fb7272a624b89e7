// The editor of one glossary: its name, its languages and its entries. Only a part of many entries is shown at a time.
const shownEntries = 50;
const matches = {'': 'as requested', exact: 'exactly', case: 'without case', stem: 'with endings'};
// The glossary that is edited; its entries as {source, target, match}; and the place of the first one that is shown.
let edited = null, entries = [], firstShown = 0;
const openEditor = (glossary, list) => {
  edited = glossary;
  entries = list;
  firstShown = 0;
  $('glossary-title').textContent = glossary.id ? `Edit ${glossary.name}` : 'New glossary';
  $('glossary-name').value = glossary.name, $('glossary-from').value = glossary.source, $('glossary-into').value = glossary.target;
  $('glossary-find').value = '';
  $('glossary-overview').hidden = true, $('glossary-editor').hidden = false;
  tellGlossary('');
  drawEntries();
  $('glossary-name').focus();
};
const closeEditor = () => {
  $('glossary-overview').hidden = false, $('glossary-editor').hidden = true;
  $('glossary-rows').replaceChildren();
  $('glossary-new').focus();
};
const emptyEntry = () => ({source: '', target: '', match: ''});
const editGlossary = async g => {
  const whole = await (await api(`/glossaries/${g.id}`)).json();
  trouble(null);
  openEditor(whole, whole.entries.map(([source, target, match = '']) => ({source, target, match})));
};
$('glossary-new').onclick = () => openEditor({name: '', source: '', target: ''}, [emptyEntry()]);
$('glossary-cancel').onclick = () => { trouble(null); closeEditor(); };

// The places of the entries that are looked for.
const foundEntries = () => {
  const part = $('glossary-find').value.toLowerCase(), all = [...entries.keys()];
  return part ? all.filter(i => `${entries[i].source}\t${entries[i].target}`.toLowerCase().includes(part)) : all;
};
const drawEntries = () => {
  const found = foundEntries();
  firstShown = Math.max(0, Math.min(firstShown, shownEntries * Math.floor((found.length - 1) / shownEntries)));
  const shown = found.slice(firstShown, firstShown + shownEntries);
  $('glossary-rows').replaceChildren(...shown.map(entryRow));
  $('glossary-count').textContent = found.length > shown.length ? `${firstShown + 1} to ${firstShown + shown.length} of ${found.length}` : `${found.length} of ${entries.length}`;
  $('glossary-before').disabled = firstShown === 0;
  $('glossary-after').disabled = firstShown + shown.length >= found.length;
  $('glossary-pages').hidden = found.length <= shownEntries;
};
const entryRow = i => {
  const entry = entries[i], row = element('tr');
  row.setAttribute('role', 'row');
  row.dataset.place = i;
  const cell = (name, control) => {
    const one = element('td');
    one.setAttribute('role', 'cell');
    control.setAttribute('aria-label', `${name} of entry ${i + 1}`);
    one.append(control);
    row.append(one);
  };
  for (const [key, name] of [['source', 'Phrase'], ['target', 'Translation']])
    cell(name, element('input', '', {type: 'text', value: entry[key], maxLength: 1024, name: key, oninput: e => { entry[key] = e.target.value; }}));
  const match = element('select', '', {onchange: () => { entry.match = match.value; }});
  match.replaceChildren(...Object.entries(matches).map(([value, name]) => element('option', name, {value})));
  match.value = entry.match;
  cell('Comparison', match);
  cell('Removal', element('button', 'Remove', {type: 'button', onclick: () => removeEntry(i)}));
  row.lastElementChild.firstElementChild.setAttribute('aria-label', `Remove entry ${i + 1}`);
  return row;
};
const focusEntry = (place, name = 'source') => {
  const row = [...$('glossary-rows').rows].find(r => +r.dataset.place === place);
  (row ? row.querySelector(`[name=${name}]`) : $('glossary-add')).focus();
};
// Shows the entry, even if it is not looked for.
const showEntry = (place, name) => {
  if (!foundEntries().includes(place)) $('glossary-find').value = '';
  firstShown = shownEntries * Math.floor(foundEntries().indexOf(place) / shownEntries);
  drawEntries();
  focusEntry(place, name);
};
const removeEntry = i => {
  entries.splice(i, 1);
  drawEntries();
  focusEntry(Math.min(i, entries.length - 1));
};
const addEntry = place => { entries.splice(place, 0, emptyEntry()); showEntry(place); };
$('glossary-add').onclick = () => addEntry(entries.length);
$('glossary-find').oninput = () => { firstShown = 0; drawEntries(); };
$('glossary-before').onclick = () => { firstShown -= shownEntries; drawEntries(); };
$('glossary-after').onclick = () => { firstShown += shownEntries; drawEntries(); };
$('glossary-rows').onkeydown = e => {
  if (e.key !== 'Enter' || e.target.tagName !== 'INPUT') return;
  e.preventDefault();
  addEntry(+e.target.closest('tr').dataset.place + 1);
};
// Pasted lines of TSV are entries, which go before the one where they are pasted; that one stays unless it is empty.
const entriesOfTsv = text => text.split(/\r\n|\r|\n/).filter(line => line.trim() && !line.startsWith('#')).map(line => {
  const [source, target = '', match = ''] = line.split('\t').map(cell => cell.trim());
  return {source, target, match: Object.hasOwn(matches, match) ? match : ''};
});
$('glossary-rows').onpaste = e => {
  const text = e.clipboardData.getData('text/plain');
  if (!/[\t\r\n]/.test(text.trim())) return;
  e.preventDefault();
  const place = +e.target.closest('tr').dataset.place, more = entriesOfTsv(text), old = entries[place];
  entries = [...entries.slice(0, place), ...more, ...entries.slice(old.source || old.target ? place : place + 1)];
  showEntry(place);
  tellGlossary(`${entriesOf({entries: more.length})} pasted.`);
};

const saveGlossary = async () => {
  const head = {name: $('glossary-name').value.trim(), source: $('glossary-from').value.trim(), target: $('glossary-into').value.trim()};
  const isGiven = text => Boolean(text.trim());
  const half = entries.findIndex(e => isGiven(e.source) !== isGiven(e.target));
  if (half >= 0) {
    showEntry(half, isGiven(entries[half].source) ? 'target' : 'source');
    throw new Error(`Entry ${half + 1} lacks its ${isGiven(entries[half].source) ? 'translation' : 'phrase'}.`);
  }
  const list = entries.filter(e => isGiven(e.source)).map(e => e.match ? [e.source, e.target, e.match] : [e.source, e.target]);
  checkHead(head);
  if (!edited.id) checkNew(head);
  await sendGlossary(edited.id ? `/glossaries/${edited.id}` : '/glossaries', {...head, entries: list}, edited.id ? 'PATCH' : 'POST');
  closeEditor();
  if (chosenGlossaries().includes(edited.id)) translate();
};
$('glossary-save').onclick = () => saveGlossary().catch(trouble);
