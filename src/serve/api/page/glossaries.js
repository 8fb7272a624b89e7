// The glossaries of the key and of the operator: their list, uploads of files, and the choice for a translation.
let glossaries = [];
const pairOf = g => g.id ? `${languageName(g.source)} to ${languageName(g.target)}` : g.languages.map(languageName).join(', ');
const entriesOf = g => `${g.entries} ${g.entries === 1 ? 'entry' : 'entries'}`;
// By id, or by name if it is the operator's.
const chosenGlossaries = () => [...document.querySelectorAll('#glossary-choice input:checked')].map(box => box.value);
const tellGlossary = text => { $('glossary-news').textContent = text; };
const offerGlossaries = async () => {
  const chosen = chosenGlossaries();
  glossaries = await (await api('/glossaries')).json();
  $('glossary-list').replaceChildren(...glossaries.map(glossaryItem));
  $('glossary-none').hidden = glossaries.length > 0;
  $('glossary-choice').hidden = !glossaries.length;
  $('glossary-boxes').replaceChildren(...glossaries.map(g => {
    const value = g.id || g.name, box = element('input', '', {type: 'checkbox', value, checked: chosen.includes(value), onchange: () => translate()}), label = element('label');
    label.append(box, ` ${g.name}: ${pairOf(g)}`);
    return label;
  }));
};
const glossaryItem = g => {
  const item = element('li');
  item.append(element('span', g.name), element('span', `${pairOf(g)}; ${entriesOf(g)}${g.id ? '' : '; of the operator'}`, {className: 'hint'}));
  if (!g.id) return item;
  const edit = element('button', 'Edit', {type: 'button', onclick: () => editGlossary(g).catch(trouble)});
  const remove = element('button', 'Delete', {type: 'button'});
  edit.setAttribute('aria-label', `Edit ${g.name}`);
  const ask = again => {
    remove.textContent = again ? 'Delete for good' : 'Delete';
    remove.setAttribute('aria-label', `${remove.textContent}: ${g.name}`);
  };
  ask(false);
  remove.onblur = () => ask(false);
  remove.onclick = () => {
    if (remove.textContent === 'Delete') {
      ask(true);
      tellGlossary(`Press again to delete ${g.name}.`);
    } else {
      removeGlossary(g).catch(trouble);
    }
  };
  item.append(edit, remove);
  return item;
};
const removeGlossary = async g => {
  await api(`/glossaries/${g.id}`, undefined, undefined, 'DELETE');
  await offerGlossaries();
  $('glossary-new').focus();
  tellGlossary(`${g.name} is deleted.`);
  trouble(null);
};
const checkHead = ({name, source, target}) => {
  if (!name || !source || !target) throw new Error('A glossary needs a name, and the codes of both languages, such as en and de.');
};
// The server would replace a glossary of the same name and pair, which nobody has asked for here.
const checkNew = ({name, source, target}) => {
  if (glossaries.some(g => g.id && g.name === name && g.source === source && g.target === target))
    throw new Error(`There is a glossary ${name} from ${source} into ${target}. Edit it, or choose another name.`);
};
// Shows the server's warnings about the entries with the result.
const sendGlossary = async (path, body, method) => {
  const answer = await (await api(path, body, undefined, method)).json();
  await offerGlossaries();
  tellGlossary([`${answer.name} is saved with ${entriesOf(answer)}.`, ...(answer.warnings || [])].join(' '));
  trouble(null);
};

// --- a file ---
const fileFormats = new Map(Object.entries({tsv: 'tsv', tab: 'tsv', txt: 'tsv', csv: 'csv', tbx: 'tbx'}));
$('upload-file').onchange = () => {
  const file = $('upload-file').files[0];
  if (file && !$('upload-name').value) $('upload-name').value = file.name.replace(/\.\w+$/, '');
};
const uploadGlossary = async () => {
  const file = $('upload-file').files[0];
  if (!file) throw new Error('Choose a file first.');
  const format = fileFormats.get(file.name.split('.').pop().toLowerCase());
  if (!format) throw new Error(`${file.name}: expected a file that ends in .tsv, .tab, .txt, .csv or .tbx.`);
  const head = {name: $('upload-name').value.trim(), source: $('upload-from').value.trim(), target: $('upload-into').value.trim()};
  checkHead(head);
  checkNew(head);
  await sendGlossary('/glossaries', {...head, entries: await file.text(), format});
  $('upload-file').value = $('upload-name').value = '';
};
$('upload').onclick = () => uploadGlossary().catch(trouble);
