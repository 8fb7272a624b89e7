// A view as an SVG that stands alone: shapes and texts where the browser has put them, with the colours that it uses now, and nothing
// that needs this page, a style sheet or a file. Whatever scrolls is shown whole.
const SVG_STYLE = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linejoin', 'stroke-linecap', 'opacity', 'font-size', 'font-weight', 'paint-order', 'text-anchor'];

// A colour as the value of an attribute and its opacity, which not every reader of SVG takes in one.
function paint(name, color) {
  const [r, g, b, a = 1] = (color.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
  return { [name]: `rgb(${r},${g},${b})`, [`${name}-opacity`]: a === 1 ? null : a };
}
const isClear = color => color === 'transparent' || / 0\)$/.test(color);
const BODY_FONT = getComputedStyle(document.body).fontFamily;
const fontMeasures = new Map(), ruler = document.createElement('canvas').getContext('2d');
function measuresOf(style) {
  const font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  if (!fontMeasures.has(font)) {
    ruler.font = font;
    const m = ruler.measureText('x');
    fontMeasures.set(font, { up: m.fontBoundingBoxAscent, down: m.fontBoundingBoxDescent });
  }
  return fontMeasures.get(font);
}
// The lines into which a text node is broken: { text, box }.
function linesOf(node) {
  const range = document.createRange(), all = node.data;
  range.selectNodeContents(node);
  const boxes = [...range.getClientRects()].filter(b => b.width && b.height);
  if (!boxes.length) return [];
  if (boxes.length === 1) return [{ text: all, box: boxes[0] }];
  const lines = [];
  let at = 0;
  for (const letter of all) {
    range.setStart(node, at), range.setEnd(node, at + letter.length);
    at += letter.length;
    const [box] = range.getClientRects();
    if (!box) continue;
    const last = lines[lines.length - 1];
    if (last && Math.abs(last.box.top - box.top) < 1) {
      last.text += letter;
      last.box = new DOMRect(last.box.left, last.box.top, box.right - last.box.left, last.box.height);
    } else { lines.push({ text: letter, box }); }
  }
  return lines.filter(l => l.text.trim());
}
function textIn(to, { text, box }, style, origin) {
  const { up, down } = measuresOf(style), isVertical = style.writingMode.startsWith('vertical'), across = isVertical ? box.width : box.height;
  const gap = (across - up - down) / 2, x = box.left - origin.left, y = box.top - origin.top, length = isVertical ? box.height : box.width;
  const place = isVertical ? { transform: `translate(${(x + gap + down).toFixed(2)} ${y.toFixed(2)}) rotate(90)` } : { x: x.toFixed(2), y: (y + gap + up).toFixed(2) };
  const words = style.whiteSpace.startsWith('pre') ? text : text.replace(/\s+/g, ' ');
  to.append(inSvg('text', { ...place, ...paint('fill', style.color), 'font-size': style.fontSize, 'font-family': style.fontFamily === BODY_FONT ? null : style.fontFamily, 'font-weight': style.fontWeight === '400' ? null : style.fontWeight,
    'font-style': style.fontStyle === 'normal' ? null : style.fontStyle, 'text-decoration': style.textDecorationLine === 'none' ? null : style.textDecorationLine,
    textLength: length.toFixed(2), lengthAdjust: 'spacingAndGlyphs', 'xml:space': 'preserve' }, words));
}
function boxIn(to, e, style, origin) {
  const b = e.getBoundingClientRect(), at = { x: (b.left - origin.left).toFixed(2), y: (b.top - origin.top).toFixed(2), width: b.width.toFixed(2), height: b.height.toFixed(2) };
  if (!b.width || !b.height) return;
  const radius = parseFloat(style.borderTopLeftRadius) || null, wide = parseFloat(style.borderTopWidth), isRound = wide && style.borderLeftStyle === 'solid';
  if (e.dataset.masked !== undefined) to.append(inSvg('rect', { ...at, fill: 'url(#hatch)' }));
  else if (!isClear(style.backgroundColor) || isRound) to.append(inSvg('rect', { ...at, rx: radius, ...(isClear(style.backgroundColor) ? { fill: 'none' } : paint('fill', style.backgroundColor)), ...(isRound ? { ...paint('stroke', style.borderTopColor), 'stroke-width': wide } : {}) }));
  if (e.matches('td.on')) to.append(inSvg('rect', { ...at, fill: 'none', ...paint('stroke', style.color), 'stroke-width': 2 }));
  const below = parseFloat(style.borderBottomWidth), y = b.bottom - origin.top;
  if (!isRound && below && style.borderBottomStyle === 'solid') to.append(inSvg('path', { d: `M${at.x} ${y.toFixed(2)}h${at.width}`, ...paint('stroke', style.borderBottomColor), 'stroke-width': below }));
}
// A drawing of the page itself, with its styles as attributes.
function drawingIn(to, svg, origin) {
  const copy = svg.cloneNode(true), b = svg.getBoundingClientRect(), from = [svg, ...svg.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((e, i) => {
    const style = getComputedStyle(from[i]);
    for (const name of e.getAttributeNames()) if (/^(class|tabindex|role|style|data-|aria-)/.test(name)) e.removeAttribute(name);
    for (const name of SVG_STYLE) {
      const value = style.getPropertyValue(name);
      if (name === 'fill' || name === 'stroke') { for (const [key, x] of Object.entries(value === 'none' ? { [name]: value } : paint(name, value))) if (x !== null) e.setAttribute(key, x); } else e.setAttribute(name, value);
    }
  });
  for (const [name, value] of Object.entries({ x: b.left - origin.left, y: b.top - origin.top, width: b.width, height: b.height })) copy.setAttribute(name, value.toFixed(2));
  copy.setAttribute('font-family', getComputedStyle(svg).fontFamily);
  to.append(copy);
}
const wordsOfField = e => e.tagName === 'SELECT' ? (e.selectedOptions[0] || {}).textContent || '' : e.type === 'checkbox' ? (e.checked ? '✓' : '') : e.value;
function fieldIn(to, e, style, origin) {
  boxIn(to, e, style, origin);
  const words = wordsOfField(e), b = e.getBoundingClientRect(), { up, down } = measuresOf(style);
  const isBox = e.type === 'checkbox';
  if (isBox) to.append(inSvg('rect', { x: b.left - origin.left, y: b.top - origin.top, width: b.width, height: b.height, rx: 2, fill: 'none', ...paint('stroke', style.color) }));
  if (!words) return;
  const left = isBox ? 2 : parseFloat(style.paddingLeft) || 4, height = Math.min(b.height, 34);
  to.append(inSvg('text', { x: (b.left - origin.left + left).toFixed(2), y: (b.top - origin.top + (height + up - down) / 2).toFixed(2), ...paint('fill', style.color), 'font-size': style.fontSize, 'font-family': style.fontFamily }, words));
}
function partIn(to, node, origin) {
  if (node.nodeType === Node.TEXT_NODE) {
    const style = getComputedStyle(node.parentElement);
    for (const line of node.data.trim() ? linesOf(node) : []) textIn(to, line, style, origin);
    return;
  }
  if (node.nodeType !== Node.ELEMENT_NODE || node.classList.contains('tools') || !node.checkVisibility({ visibilityProperty: true })) return;
  const style = getComputedStyle(node);
  if (node.namespaceURI === SVG) { drawingIn(to, node, origin); return; }
  let inside = to;
  if (style.opacity !== '1') to.append(inside = inSvg('g', { opacity: style.opacity }));
  if (node.tagName === 'CANVAS') {
    const b = node.getBoundingClientRect();
    inside.append(inSvg('image', { x: b.left - origin.left, y: b.top - origin.top, width: b.width, height: b.height, preserveAspectRatio: 'none', style: 'image-rendering: pixelated', href: node.toDataURL() }));
  } else if (['INPUT', 'SELECT', 'TEXTAREA'].includes(node.tagName)) {
    if (node.type !== 'range') fieldIn(inside, node, style, origin);  // its number stands beside it
  } else {
    boxIn(inside, node, style, origin);
    for (const child of node.childNodes) partIn(inside, child, origin);
  }
}
// The view as the text of an SVG.
function pictureOf(name) {
  const section = sectionOf(name), margin = 12, line = getComputedStyle(document.documentElement).getPropertyValue('--line').trim(), paper = getComputedStyle(document.body).backgroundColor;
  section.classList.add('whole');
  section.style.width = `${section.scrollWidth}px`;
  const b = section.getBoundingClientRect(), origin = { left: b.left - margin, top: b.top - margin }, width = Math.ceil(b.width + 2 * margin), height = Math.ceil(b.height + 2 * margin);
  const hatch = inSvg('pattern', { id: 'hatch', width: 4, height: 4, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' }, inSvg('rect', { width: 4, height: 4, ...paint('fill', paper) }), inSvg('path', { d: 'M0 0V4', stroke: line, 'stroke-width': 2 }));
  const picture = inSvg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, 'font-family': BODY_FONT }, inSvg('title', {}, `${document.title}: ${t(`v_${name}`)}`), inSvg('defs', {}, hatch), inSvg('rect', { width, height, ...paint('fill', paper) }));
  for (const child of section.childNodes) partIn(picture, child, origin);
  section.style.width = '';
  section.classList.remove('whole');
  return new XMLSerializer().serializeToString(picture);
}
function savePicture(name) {
  const address = URL.createObjectURL(new Blob([pictureOf(name)], { type: 'image/svg+xml' }));
  const a = element('a', { href: address, download: `tril-${name}.svg` });
  a.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
