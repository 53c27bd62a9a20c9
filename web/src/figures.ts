// Figures: SVG text from the data, taken apart and put together again from an allow-list, so that
// nothing in it can run or fetch anything. Data points show their values on hover and on focus.
import type { Figure } from './data';
import { fileName, h, saveFile } from './dom';

const elements = new Set([
  'svg', 'g', 'path', 'line', 'polyline', 'polygon', 'rect', 'circle', 'ellipse', 'text', 'tspan',
  'title', 'desc', 'defs', 'clipPath', 'pattern', 'marker', 'linearGradient', 'stop', 'use',
]);

const attributes = new Set([
  'id', 'class', 'd', 'x', 'y', 'x1', 'y1', 'x2', 'y2', 'cx', 'cy', 'r', 'rx', 'ry', 'dx', 'dy',
  'width', 'height', 'viewBox', 'points', 'transform', 'fill', 'stroke', 'opacity', 'offset',
  'fill-opacity', 'fill-rule', 'stroke-width', 'stroke-dasharray', 'stroke-dashoffset',
  'stroke-linecap', 'stroke-linejoin', 'stroke-opacity', 'stop-color', 'stop-opacity', 'clip-path',
  'clip-rule', 'clipPathUnits', 'gradientUnits', 'patternUnits', 'patternTransform',
  'patternContentUnits', 'marker-start', 'marker-mid', 'marker-end', 'markerWidth', 'markerHeight',
  'markerUnits', 'refX', 'refY', 'orient', 'preserveAspectRatio', 'font-size', 'font-family',
  'font-weight', 'font-style', 'text-anchor', 'dominant-baseline', 'alignment-baseline',
  'vector-effect', 'role', 'aria-label', 'aria-labelledby', 'aria-hidden', 'data-tip', 'data-method',
  'display', 'visibility', 'shape-rendering', 'paint-order', 'letter-spacing',
]);

const svgSpace = 'http://www.w3.org/2000/svg';

/** A value may refer to a place in the same figure, url(#id), and to nothing else. */
const safeValue = (value: string): boolean =>
  !/url\s*\(/i.test(value) || /^url\(#[\w.-]+\)$/.test(value.trim());

function copy(source: Element): SVGElement | null {
  if (source.namespaceURI !== svgSpace || !elements.has(source.localName)) return null;
  const target = document.createElementNS(svgSpace, source.localName) as SVGElement;
  for (const { name, value } of source.attributes) {
    if (attributes.has(name) && safeValue(value)) target.setAttribute(name, value);
    else if (name === 'href' && /^#[\w.-]+$/.test(value)) target.setAttribute(name, value);
  }
  for (const child of source.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) target.appendChild(document.createTextNode(child.nodeValue ?? ''));
    else if (child.nodeType === Node.ELEMENT_NODE) {
      const part = copy(child as Element);
      if (part) target.appendChild(part);
    }
  }
  return target;
}

/** A safe copy of an SVG document; null when the text is not one. */
export function parseSvg(text: string): SVGElement | null {
  const root = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
  return root.localName === 'svg' ? copy(root) : null;
}

/** The figure's own dark colours, for the saved file; nothing that reaches outside it. */
function ownStyle(text: string): string {
  const root = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
  const style = root.localName === 'svg' ? (root.querySelector('style')?.textContent ?? '') : '';
  return /url\s*\(|@import|[<\\]/i.test(style) ? '' : style;
}

function save(figure: Figure): void {
  const svg = parseSvg(figure.svg ?? '');
  if (!svg) return;
  const style = ownStyle(figure.svg ?? '');
  if (style) {
    const element = document.createElementNS(svgSpace, 'style');
    element.textContent = style;
    svg.insertBefore(element, svg.firstChild);
  }
  saveFile(fileName(figure.id || figure.title, 'svg'), 'image/svg+xml', new XMLSerializer().serializeToString(svg) + '\n');
}

export function figureElement(figure: Figure): HTMLElement {
  const frame = h('figure', { class: 'panel figure', 'data-figure': figure.id });
  const svg = figure.svg === null ? null : parseSvg(figure.svg);
  const head = h('div', { class: 'panel-head' }, h('h3', { class: svg ? 'hidden' : false }, figure.title));
  frame.append(head);
  if (svg) {
    svg.classList.add('facet-figure');
    for (const part of svg.querySelectorAll('[data-tip]')) part.setAttribute('tabindex', '-1');
    // One stop for the keyboard a figure; the arrow keys go from value to value within it.
    const values = [...svg.querySelectorAll<SVGElement>('[data-tip]')];
    values[0]?.setAttribute('tabindex', '0');
    svg.addEventListener('keydown', (event) => walk(event, values));
    const button = h('button', { type: 'button', class: 'quiet', 'aria-label': `Save ${figure.title} as SVG` }, 'Save SVG');
    button.addEventListener('click', () => save(figure));
    head.append(button);
    frame.append(h('div', { class: 'scroll' }, svg));
  } else {
    frame.append(h('p', { class: 'missing' }, figure.missing || 'This figure cannot be read.'));
  }
  if (figure.caption) frame.append(h('figcaption', {}, figure.caption));
  return frame;
}

function walk(event: KeyboardEvent, values: SVGElement[]): void {
  const at = values.indexOf(event.target as SVGElement);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: values.length - 1 }[event.key];
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  const next = values[Math.min(Math.max(to, 0), values.length - 1)]!;
  values[at]!.setAttribute('tabindex', '-1');
  next.setAttribute('tabindex', '0');
  next.focus();
}

/** Hides the curves of methods that are switched off. Their names in a legend only fade. */
export function showMethods(root: ParentNode, visible: Set<string>): void {
  for (const part of root.querySelectorAll<SVGElement>('svg.facet-figure [data-method]')) {
    const on = visible.has(part.getAttribute('data-method') ?? '');
    if (part.querySelector('text')) part.style.opacity = on ? '' : '0.3';
    else part.style.display = on ? '' : 'none';
  }
}
