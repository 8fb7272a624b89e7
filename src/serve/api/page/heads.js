// Attention maps of layers and heads.
let maps = null;
const options = (id, names) => $(id).replaceChildren(...names.map((n, i) => element('option', n, {value: i})));
const heads = async () => {
  if (!found || !found.pieces.length) { trouble(new Error('There is no translation yet.')); return; }
  if (!$('model').value) { trouble(new Error('Choose a model to see its attention.')); return; }
  try {
    maps = (await (await api('/attention', {...scored(), source: found.pieces[0].source, target: found.pieces[0].best.text})).json()).maps;
    options('head-kind', maps.map(m => m.kind));
    kind();
    trouble(null);
  } catch (error) { trouble(error); }
};
const kind = () => {
  const map = maps[$('head-kind').value || 0];
  options('head-layer', map.layers.map((l, i) => String(i + 1)));
  options('head-head', ['mean', ...map.layers[0].heads.map((h, i) => String(i + 1))]);
  heat();
};
const heat = () => {
  const map = maps[$('head-kind').value || 0], layer = map.layers[$('head-layer').value || 0], all = layer.heads, h = +$('head-head').value;
  const weight = (q, k) => h ? all[h - 1][q][k] : all.reduce((s, one) => s + one[q][k], 0) / all.length;
  const table = element('table'), head = table.createTHead().insertRow();
  table.createCaption().textContent = `${map.kind}, layer ${+$('head-layer').value + 1}, ${h ? 'head ' + h : 'mean of all heads'}: each row is a query token, each column a key token` + (layer.masked ? '; hatched: masked' : '');
  head.append(element('td'), ...map.keys.map(k => element('th', k, {scope: 'col'})));
  const body = table.createTBody();
  map.queries.forEach((query, q) => {
    const row = body.insertRow();
    row.append(element('th', query, {scope: 'row'}));
    map.keys.forEach((key, k) => {
      const w = weight(q, k), cell = row.insertCell();
      if (layer.masked && layer.masked[q][k]) {  // not the same as a weight of 0
        cell.title = `${query} \u2192 ${key}: masked`;
        cell.dataset.masked = '';
        return;
      }
      cell.title = `${query} \u2192 ${key}: ${w.toFixed(3)}`;
      cell.style.backgroundColor = `rgba(var(--mark), ${Math.sqrt(w).toFixed(2)})`;
    });
  });
  $('head-map').replaceChildren(table);
};
$('head-show').onclick = heads;
$('head-kind').onchange = () => maps && kind();
$('head-layer').onchange = $('head-head').onchange = () => maps && heat();
