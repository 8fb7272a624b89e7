// Where the numbers come from: this file's own data, or POST /trace of the server. A tensor is fetched once, when it is first shown, and
// of it only the head or the token that is shown.
const FILE = JSON.parse($('data').textContent.trim() || 'null');
const now = { question: null, about: null, edits: [], on: new Map(), kept: new Map(), bytes: 0 };
// What a value depends on, beside its name.
const passOf = () => [now.edits, now.question && now.question.patch_text];

// A server that has no room says after how many seconds to ask again: a class opens a link at the same time. Longer waits are an error.
const TRIES = 8, LONGEST_WAIT = 10;
const waitOf = reply => [429, 503].includes(reply.status) && +reply.headers.get('Retry-After') <= LONGEST_WAIT ? +reply.headers.get('Retry-After') : 0;
async function ask(path, body) {
  const headers = { 'Content-Type': 'application/json' };
  if ($('key').value) headers.Authorization = `Bearer ${$('key').value}`;
  const once = () => fetch(path, { method: body ? 'POST' : 'GET', headers, body: body && JSON.stringify(body) });
  let reply = await once();
  for (let n = 1; n < TRIES && waitOf(reply) > 0; ++n) {
    await new Promise(done => { setTimeout(done, 1000 * waitOf(reply) * (1 + Math.random())); });
    reply = await once();
  }
  const text = await reply.text();
  now.bytes += text.length;
  let json = null;
  try { json = JSON.parse(text); } catch { /* said below */ }
  if (!reply.ok) throw new Error(json && json.error ? json.error.message || json.error : `${path}: ${reply.status}`);
  return json;
}
const trace = more => ask('/trace', { ...now.question, ...more });

// Values as the browser's own arrays.
function unpacked({ shape, type, base64 }) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return { shape, data: type === 'f32' ? new Float32Array(bytes.buffer) : type === 'i32' ? new Int32Array(bytes.buffer) : bytes };
}
const isOfPairs = name => /\.(bias|scores|masked_scores|mask|weights)$/.test(name);
// The index `at` of the dimension `axis` alone.
function only({ shape, data }, axis, at) {
  const size = (from, to) => shape.slice(from, to).reduce((a, b) => a * b, 1);
  const outer = size(0, axis), inner = size(axis + 1), part = new data.constructor(outer * inner);
  for (let i = 0; i < outer; ++i) part.set(data.subarray((i * shape[axis] + at) * inner, (i * shape[axis] + at + 1) * inner), i * inner);
  return { shape: shape.map((n, i) => i === axis ? 1 : n), data: part };
}
function partOf(value, name, { head, token }) {
  const pairs = isOfPairs(name);
  if (head !== undefined && value.shape.length === 3 && !(pairs && value.shape[0] === 1)) value = only(value, pairs ? 0 : 1, head);
  if (token !== undefined && value.shape.length >= 2) value = only(value, pairs ? 1 : 0, token);
  return value;
}
// Values that are asked for at the same time come by one request, and so from one pass.
const wanted = new Map();
function fetched(name, part) {
  const key = JSON.stringify([part, passOf()]);
  if (!wanted.has(key)) {
    const batch = { names: [], reply: null };
    batch.reply = Promise.resolve().then(() => {
      wanted.delete(key);
      return trace({ only: batch.names, edit: now.edits, encoding: 'base64', ...part });
    });
    wanted.set(key, batch);
  }
  const batch = wanted.get(key);
  batch.names.push(name);
  return batch.reply.then(reply => unpacked(reply.values[name]));
}
// { shape, data } of a point, or null if this file has left it out.
async function tensor(name, part = {}) {
  const key = JSON.stringify([name, part, passOf()]);
  if (!now.kept.has(key)) {
    const found = FILE
      ? Promise.resolve().then(() => {
        const row = FILE.rows && FILE.rows[`${name}@${part.token}`];
        if (row) return unpacked(row);
        return FILE.values[name] ? partOf(unpacked(FILE.values[name]), name, part) : null;
      })
      : fetched(name, part);
    now.kept.set(key, found);
    found.catch(() => now.kept.delete(key));
  }
  return now.kept.get(key);
}
const shapeOf = name => (now.about.points.find(p => p.name === name) || {}).shape;
// Keys and values may have fewer heads than queries: the head that query head `head` of an attention reads.
function keyHead(part, head) {
  const q = shapeOf(`${part}.q`), k = shapeOf(`${part}.k`);
  return q && k ? Math.floor(head * k[1] / q[1]) : head;
}
// The pieces of the tokens that a point's rows, or an attention's keys, stand for.
const piecesOf = side => (side === 'encoder' ? now.about.source : now.about.tokens).pieces.map(plain);
