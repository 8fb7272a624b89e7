// What the server does now, from its metrics.
let watching = false, earlier = null;
const history = {};
const numbers = text => {
  const all = {};
  for (const line of text.split('\n')) {
    const m = /^tril_(\w+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!m) continue;
    const labels = Object.fromEntries([...(m[2] || '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(x => [x[1], x[2]]));
    (all[m[1]] = all[m[1]] || []).push({labels, value: +m[3]});
  }
  return all;
};
const look = async () => {
  if (!watching) return;
  try {
    const now = {time: performance.now(), all: numbers(await (await api('/metrics')).text())};
    const of = (s, name, labels) => ((s.all[name] || []).find(v => Object.entries(labels).every(([k, x]) => v.labels[k] === x)) || {value: 0}).value;
    const cards = (now.all.model_ready || []).map(({labels: {model}, value}) => {
      const rate = (name, more = {}) => earlier ? (of(now, name, {model, ...more}) - of(earlier, name, {model, ...more})) / (now.time - earlier.time) * 1000 : 0;
      const tokens = rate('new_tokens_total'), list = history[model] = [...(history[model] || []), tokens].slice(-60);
      const ms = q => Math.round(1000 * of(now, 'sentence_seconds_quantile', {model, quantile: q})) + ' ms';
      const facts = [['ready', value ? 'yes' : 'no'], ['tokens per second', Math.round(tokens)], ['sentences per second', rate('sentences_total', {outcome: 'ended'}).toFixed(1)],
        ['waiting', of(now, 'waiting', {model})], ['running', of(now, 'running', {model})], ['cached tokens', of(now, 'cache_tokens', {model})], ['latency, median', ms('0.5')], ['latency, 99 of 100', ms('0.99')]];
      const card = element('section', '', {className: 'card'}), dl = element('dl');
      for (const [name, text] of facts) dl.append(element('dt', name), element('dd', text));
      const most = Math.max(1, ...list), points = list.map((v, i) => `${i * 2},${30 - 28 * v / most}`).join(' ');
      const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
      svg.setAttribute('viewBox', '0 0 120 31'); svg.setAttribute('preserveAspectRatio', 'none'); svg.setAttribute('role', 'img');
      svg.setAttribute('aria-label', `tokens per second over the last two minutes, at most ${Math.round(most)}`);
      const line = document.createElementNS('http://www.w3.org/2000/svg', 'polyline');
      line.setAttribute('points', points); line.setAttribute('fill', 'none'); line.setAttribute('stroke', 'currentColor');
      svg.append(line);
      card.append(element('h3', model), dl, svg);
      return card;
    });
    $('status-cards').replaceChildren(...cards);
    $('status-note').textContent = `peak memory ${of(now, 'peak_memory_bytes', {}) / 1048576 | 0} MiB; updated every two seconds`;
    earlier = now;
    trouble(null);
  } catch (error) { trouble(error); }
  setTimeout(look, 2000);
};
