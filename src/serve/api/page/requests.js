'use strict';
// Elements of the page, and requests to the server.
const $ = id => document.getElementById(id);
const api = async (path, body, signal, method = body ? 'POST' : 'GET') => {
  const headers = {};
  const form = body instanceof FormData;
  if (body && !form) headers['Content-Type'] = 'application/json';
  if ($('key').value) headers['Authorization'] = 'Bearer ' + $('key').value;
  let answer;
  try {
    answer = await fetch(path, {method, headers, signal, body: form ? body : body && JSON.stringify(body)});
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Error('The server does not answer. The next request tries again.');
  }
  if (!answer.ok) {
    let message = answer.status + ' ' + answer.statusText;
    try { const e = (await answer.json()).error; message = e.message || e; } catch (none) { /* no JSON: the status says it */ }
    throw new Error(message);
  }
  return answer;
};
// Server-sent events, one object at a time.
const events = async (path, body, signal, take) => {
  if (body instanceof FormData) body.set('stream', 'true');
  const answer = await api(path, body instanceof FormData ? body : {...body, stream: true}, signal);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = '';
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    held += value;
    for (let end; (end = held.indexOf('\n\n')) >= 0; held = held.slice(end + 2)) {
      const data = held.slice(6, end);
      if (data === '[DONE]') continue;
      const event = JSON.parse(data);
      if (event.error) throw new Error(event.error.message || event.error);
      take(event);
    }
  }
};
const trouble = error => {
  if (error && error.name === 'AbortError') return;
  $('trouble').hidden = !error;
  $('trouble').textContent = error ? error.message : '';
};
const element = (name, text, set = {}) => Object.assign(document.createElement(name), {textContent: text ?? ''}, set);
