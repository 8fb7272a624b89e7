// Continuing texts, and chats.
let writing = null, said = [];
const number = id => $(id).value === '' ? undefined : +$(id).value;
$('write').onclick = async () => {
  const chat = $('as-chat').checked, text = $('prompt').value, talk = $('talk');
  if (!text && !talk.textContent) return;
  const mine = writing = new AbortController();
  $('stop').disabled = false, $('write').disabled = true;
  const before = talk.textContent;
  talk.append(element('span', (chat && before ? '\n\n' : '') + text + (chat ? '\n\n' : ''), {className: 'given'}));
  const answer = element('span');
  talk.append(answer);
  $('prompt').value = '';
  const body = {model: $('writer').value, max_tokens: number('tokens'), temperature: number('temperature'), top_p: number('top-p'), top_k: number('top-k'), seed: number('seed')};
  try {
    if (chat) said.push({role: 'user', content: text});
    await events(chat ? '/v1/chat/completions' : '/v1/completions', chat ? {...body, messages: said} : {...body, prompt: before + text}, mine.signal, e => {
      for (const c of e.choices) answer.textContent += c.text ?? (c.delta.content || '');
      talk.scrollTop = talk.scrollHeight;
    });
    trouble(null);
  } catch (error) { trouble(error); }
  // A refused turn does not count: the next one continues after its predecessor.
  if (chat && answer.textContent) said.push({role: 'assistant', content: answer.textContent});
  else if (chat) said.pop();
  $('stop').disabled = true, $('write').disabled = false;
};
$('stop').onclick = () => writing && writing.abort();
$('clear').onclick = () => { if (writing) writing.abort(); said = []; $('talk').replaceChildren(); };
$('prompt').onkeydown = e => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) $('write').click(); };
