// The list of methods: which one the grid and the gates show (one of them), which ones fly in the
// viewer (any of them), and how many gates each passed on held-out and on training pairs.
import { passage, type Method, type Report } from './data';
import { h, s } from './dom';
import { none } from './format';

type Passage = ReturnType<typeof passage>;

export class Methods {
  readonly element: HTMLElement;
  private readonly radios = new Map<string, HTMLInputElement>();
  private readonly boxes = new Map<string, HTMLInputElement>();

  constructor(
    report: Report,
    choose: (method: string) => void,
    toggle: (method: string, on: boolean) => void,
  ) {
    const split = report.tasks.some((task) => task.heldOut); // of the main method
    const rows = report.methods.map((method, i) => {
      const radio = h('input', { type: 'radio', name: 'method', value: method.id, 'aria-label': `Show ${method.short} in the grid` });
      const box = h('input', { type: 'checkbox', value: method.id, 'aria-label': `Fly ${method.short} in the viewer` });
      radio.addEventListener('change', () => choose(method.id));
      box.addEventListener('change', () => toggle(method.id, box.checked));
      this.radios.set(method.id, radio);
      this.boxes.set(method.id, box);
      const name = h('span', { 'data-tip': method.description || false }, method.short);
      name.addEventListener('click', () => radio.click());
      return h('tr', { 'data-method': method.id },
        h('td', { class: 'pick' }, radio),
        h('td', { class: 'pick' }, box),
        h('th', { scope: 'row' }, sample(method, i), name),
        h('td', { class: 'number' }, bar(passage(report.tasks, method.id, (task) => !split || task.heldOut), i)),
        split && h('td', { class: 'number' }, fraction(passage(report.tasks, method.id, (task) => !task.heldOut))),
      );
    });
    this.element = h('table', { class: 'methods', id: 'methods', 'aria-label': 'Methods and the gates they passed' },
      h('thead', {}, h('tr', {},
        h('th', { scope: 'col' }, 'Grid'),
        h('th', { scope: 'col' }, 'Fly'),
        h('th', { scope: 'col' }, 'Method'),
        h('th', { scope: 'col', class: 'number' }, split ? 'Held out' : 'Gates'),
        split && h('th', { scope: 'col', class: 'number' }, 'Training'),
      )),
      h('tbody', {}, ...rows));
  }

  show(method: string, visible: Set<string>): void {
    for (const [id, radio] of this.radios) {
      radio.checked = id === method;
      radio.closest('tr')?.classList.toggle('chosen', id === method);
    }
    for (const [id, box] of this.boxes) box.checked = visible.has(id);
  }
}

/** A piece of the line as the viewer and the figures draw it. */
function sample(method: Method, index: number): SVGElement {
  const line = s('line', { x1: 1, y1: 6, x2: 25, y2: 6, 'stroke-width': Math.max(method.width, 2), 'stroke-dasharray': method.dash || false });
  line.style.stroke = `var(--m${index})`;
  return s('svg', { class: 'sample', width: 26, height: 12, 'aria-hidden': 'true' }, line);
}

const fraction = (sum: Passage): string => (sum ? `${sum.passed}/${sum.gates}` : none);

function bar(sum: Passage, index: number): HTMLElement | string {
  if (!sum) return none;
  const fill = h('i', {});
  fill.style.width = `${(100 * sum.passed) / Math.max(sum.gates, 1)}%`;
  fill.style.background = `var(--m${index})`;
  return h('span', { class: 'meter' }, h('span', { class: 'track', 'aria-hidden': 'true' }, fill), `${sum.passed}/${sum.gates}`);
}
