// The factor grid: a row a track, a column an opening. Each cell is a button that opens its task; it
// shows the gates that the chosen method passed, one mark a gate, and a small bar for every other
// method. Held-out pairs are hatched and labelled, infeasible ones say so.
import type { Report, Task } from './data';
import { h, replace, s } from './dom';
import { none } from './format';

export class Grid {
  readonly element: HTMLElement;
  private readonly cells = new Map<Task, HTMLButtonElement>();

  constructor(
    private readonly report: Report,
    private readonly open: (task: Task) => void,
  ) {
    const head = h('tr', {}, h('th', { scope: 'col' }, 'Track'),
      ...report.openings.map((opening) =>
        h('th', { scope: 'col' }, opening.name,
          opening.halfWidth !== null && h('small', {}, ` ±${opening.halfWidth} m`)),
      ));
    const rows = report.tracks.map((track, t) =>
      h('tr', {},
        h('th', { scope: 'row' }, track.name, track.description && h('small', {}, track.description)),
        ...report.openings.map((_, o) => {
          const task = report.tasks.find((entry) => entry.track === t && entry.opening === o);
          return h('td', {}, task ? h('div', { class: 'fit' }, this.cell(task)) : none);
        }),
      ),
    );
    this.element = h('table', { class: 'grid', id: 'grid', 'aria-label': 'Tasks: tracks and openings' },
      h('thead', {}, head), h('tbody', {}, ...rows));
    this.element.addEventListener('keydown', (event) => this.move(event));
  }

  private cell(task: Task): HTMLButtonElement {
    const button = h('button', {
      type: 'button',
      class: `cell${task.heldOut ? ' held-out' : ''}${task.feasible ? '' : ' infeasible'}`,
      'data-task': task.id,
    });
    button.addEventListener('click', () => this.open(task));
    this.cells.set(task, button);
    return button;
  }

  /** Arrow keys go from cell to cell. */
  private move(event: KeyboardEvent): void {
    const steps: Record<string, [number, number]> = {
      ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
    };
    const step = steps[event.key];
    const at = [...this.cells].find(([, button]) => button === event.target)?.[0];
    if (!step || !at) return;
    event.preventDefault();
    for (const [task, button] of this.cells) {
      if (task.track === at.track + step[0] && task.opening === at.opening + step[1]) button.focus();
    }
  }

  show(chosen: Task, method: string): void {
    for (const [task, button] of this.cells) {
      button.setAttribute('aria-pressed', String(task === chosen));
      button.setAttribute('aria-label', this.describe(task, method));
      replace(button, ...this.contents(task, method));
    }
  }

  private contents(task: Task, method: string): (Node | string | false)[] {
    const label = task.heldOut && h('span', { class: 'tag' }, 'held out');
    if (!task.feasible) return [h('span', { class: 'line' }, h('span', { class: 'none' }, 'infeasible'), label)];
    const flight = task.flights.get(method);
    const score =
      flight && flight.passed !== null && flight.gates !== null
        ? h('span', { class: 'score' }, `${flight.passed}/${flight.gates}`)
        : h('span', { class: 'none' }, 'no flight');
    const marks = h('span', { class: 'marks', 'aria-hidden': 'true' },
      ...(flight?.results ?? []).map((result) => h('i', { class: result.passed ? 'passed' : 'missed' })));
    return [h('span', { class: 'line' }, score, label), h('span', { class: 'line facts' }, marks, this.bars(task, method))];
  }

  /** A bar a method in the order of the list, as high as its share of gates passed. */
  private bars(task: Task, method: string): SVGElement {
    const width = 4;
    const height = 14;
    const bars = s('svg', {
      class: 'bars', 'aria-hidden': 'true', width: this.report.methods.length * width, height,
      viewBox: `0 0 ${this.report.methods.length * width} ${height}`,
    });
    this.report.methods.forEach((entry, i) => {
      const flight = task.flights.get(entry.id);
      if (!flight || flight.passed === null || !flight.gates) return;
      const filled = Math.max((height - 2) * (flight.passed / flight.gates), 1);
      const bar = s('rect', { x: i * width, y: height - filled, width: width - 1, height: filled });
      bar.style.fill = `var(--m${i})`;
      bar.style.opacity = entry.id === method ? '1' : '0.75';
      bars.append(bar);
    });
    return bars;
  }

  private describe(task: Task, method: string): string {
    const learned = this.report.mainMethod !== 'expert' && task.flights.has(this.report.mainMethod);
    const kind = task.heldOut ? ', held out' : learned ? ', trained on' : '';
    if (!task.feasible) return `${task.id}${kind}, infeasible`;
    const others = this.report.methods.flatMap((entry) => {
      const flight = task.flights.get(entry.id);
      return flight && flight.passed !== null && flight.gates !== null
        ? [{ id: entry.id, text: `${entry.short} ${flight.passed} of ${flight.gates}` }]
        : [];
    });
    const own = others.filter((entry) => entry.id === method);
    const rest = others.filter((entry) => entry.id !== method);
    const gates = own.length ? `gates passed: ${own[0]!.text}` : 'no flight of the chosen method';
    return `${task.id}${kind}, ${gates}${rest.length ? `; ${rest.map((entry) => entry.text).join(', ')}` : ''}`;
  }
}
