// Each view of the page alone: as a link, as a picture (picture.js), and as a slide that fills the window. Slides follow each other by
// Page Down and Page Up, the keys of a presenter; Escape ends them.
const VIEWS = ['tokens', 'model', 'steps', 'value', 'change', 'draw', 'search', 'kinds', 'learning'];
const shown = { view: undefined, slide: undefined };
const sectionOf = name => $(name === 'tokens' ? 'tokens' : `${name}-view`);
const canShow = name => VIEWS.includes(name) && !sectionOf(name).hidden && !sectionOf(name).parentElement.hidden;

function drawTools() {
  for (const name of VIEWS) {
    const words = t(`v_${name}`), button = (action, click) => element('button', { type: 'button', 'data-tool': action, 'aria-label': `${t(`v_${action}`)}: ${words}`, click }, t(`v_${action}`));
    const link = element('a', { href: '#', 'data-view': name, 'data-tool': 'link', 'aria-label': `${t('v_link')}: ${words}`, click: e => { e.preventDefault(); takeLink(name, e.currentTarget); } }, t('v_link'));
    sectionOf(name).prepend(element('div', { class: 'tools' }, link, button('svg', () => savePicture(name)), button('slide', () => showSlide(name, true))));
  }
  $('slide-next').addEventListener('click', () => turnSlide(1));
  $('slide-before').addEventListener('click', () => turnSlide(-1));
  $('slide-end').addEventListener('click', endSlide);
}
// The address now leads to this view, and is on the clipboard where the browser allows this.
async function takeLink(name, a) {
  shown.view = name;
  keepState();
  try { await navigator.clipboard.writeText(location.href); } catch { /* the address bar has it */ }
  a.textContent = t('v_link_taken');
  setTimeout(() => { a.textContent = t('v_link'); }, 2000);
}
// asked: by a click or a key, without which browsers refuse the full screen.
function showSlide(name, asked) {
  shown.slide = name;
  document.documentElement.classList.add('slide');
  for (const other of VIEWS) sectionOf(other).classList.toggle('on-slide', other === name);
  $('slide-bar').hidden = false;
  $('slide-name').textContent = `${t(`v_${name}`)} · ${VIEWS.filter(canShow).indexOf(name) + 1} / ${VIEWS.filter(canShow).length}`;
  if (asked && !document.fullscreenElement && document.documentElement.requestFullscreen) document.documentElement.requestFullscreen().catch(() => { /* the window will do */ });
  scrollTo(0, 0);
  if (asked) $('slide-next').focus();
  keepState();
}
function turnSlide(step) {
  const list = VIEWS.filter(canShow), next = list[list.indexOf(shown.slide) + step];
  if (next) showSlide(next, false);
}
function endSlide() {
  const name = shown.slide;
  if (!name) return;
  shown.slide = undefined;
  document.documentElement.classList.remove('slide');
  sectionOf(name).classList.remove('on-slide');
  $('slide-bar').hidden = true;
  if (document.fullscreenElement) document.exitFullscreen();
  keepState();
  const button = sectionOf(name).querySelector('[data-tool=slide]');
  button.scrollIntoView({ block: 'center' });
  button.focus();
}
document.addEventListener('keydown', e => {
  if (!shown.slide) return;
  const step = { PageDown: 1, PageUp: -1 }[e.key];
  if (step) { e.preventDefault(); turnSlide(step); }
  if (e.key === 'Escape') endSlide();
});
// The browser leaves the full screen at Escape and gives the page no key event.
let wasFull = false;
document.addEventListener('fullscreenchange', () => {
  if (wasFull && !document.fullscreenElement) endSlide();
  wasFull = Boolean(document.fullscreenElement);
});
// What the address asks for, once there is something to show.
function showAsked(state) {
  if (canShow(state.slide)) return showSlide(state.slide, false);
  if (!canShow(state.view)) return undefined;
  shown.view = state.view;
  keepState();
  return sectionOf(state.view).scrollIntoView({ block: 'start' });
}
