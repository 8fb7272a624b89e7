// Translating files.
const offerFiles = set => {
  $('files').hidden = !set.filesTranslation;
  $('file').accept = set.supportedFilesFormat.join(',');
  $('file-formats').textContent = `Formats: ${set.supportedFilesFormat.map(f => f.slice(1)).join(', ')}`;
};
const size = bytes => bytes < 1e5 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
// Translates a file, with a line in the list: its name, the progress, and a link in the end.
const translateFile = async file => {
  const item = element('li'), bar = element('progress'), news = element('span', 'sending'), stop = element('button', 'Cancel', {type: 'button'}), mine = new AbortController();
  bar.setAttribute('aria-label', file.name);
  stop.setAttribute('aria-label', `Cancel ${file.name}`);
  stop.onclick = () => mine.abort();
  item.append(element('span', file.name), bar, news, stop);
  $('file-list').append(item);
  const end = (...last) => { bar.remove(); stop.remove(); item.append(...last); };
  try {
    const form = new FormData(), {model, source, target} = settings();
    for (const [name, value] of Object.entries({model, source, target})) if (value) form.append(name, value);
    if (terms()) form.append('terminology', JSON.stringify(terms()));
    for (const glossary of chosenGlossaries()) form.append('glossary', glossary);
    form.append('file', file);
    let answer = {};
    await events('/translate_file', form, mine.signal, e => {
      if (!e.progress) { answer = e; return; }
      bar.max = e.progress.of || 1, bar.value = e.progress.sentences;
      news.textContent = `${e.progress.sentences} of ${e.progress.of} sentences` + (e.progress.secondsLeft > 1 ? `, ${e.progress.secondsLeft} seconds left` : '');
    });
    // The server gives a translation once, so the page keeps it.
    const url = new URL(answer.translatedFileUrl, location.href), name = decodeURIComponent(url.pathname.split('/').pop()).replace(/^\w+\./, '');
    const bytes = await (await api(url.pathname, undefined, mine.signal)).blob();
    news.textContent = how(answer);
    end(element('a', `Download ${name} (${size(bytes.size)})`, {href: URL.createObjectURL(bytes), download: name}));
    $('file-news').textContent = `${file.name} is translated.`;
  } catch (error) {
    const cancelled = error.name === 'AbortError';
    news.textContent = cancelled ? 'cancelled' : error.message;
    news.className = cancelled ? '' : 'bad';
    end();
    $('file-news').textContent = `${file.name}: ${news.textContent}`;
  }
};
const translateFiles = async files => { for (const file of files) await translateFile(file); };
$('file').onchange = () => { const files = [...$('file').files]; $('file').value = ''; translateFiles(files); };
for (const [name, over] of [['dragenter', true], ['dragover', true], ['dragleave', false], ['drop', false]])
  $('drop').addEventListener(name, e => {
    e.preventDefault();
    $('drop').classList.toggle('over', over);
    if (name === 'drop') translateFiles([...e.dataTransfer.files]);
  });
