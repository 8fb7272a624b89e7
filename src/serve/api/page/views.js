// The views, and the key for requests.
const tabs = [...document.querySelectorAll('[role=tab]')];
const show = tab => {
  for (const t of tabs) {
    t.setAttribute('aria-selected', t === tab);
    t.tabIndex = t === tab ? 0 : -1;
    $(t.getAttribute('aria-controls')).hidden = t !== tab;
  }
  watching = tab.id === 'tab-status';
  if (watching) look();
};
for (const t of tabs) {
  t.onclick = () => show(t);
  t.onkeydown = e => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[e.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(t) + step + tabs.length) % tabs.length];
    show(next); next.focus();
  };
}
$('key-form').onsubmit = (event) => event.preventDefault();
$('key').value = sessionStorage.getItem('tril-key') || '';
$('key').onchange = () => { sessionStorage.setItem('tril-key', $('key').value); begin(); };
