// What is known about the task on stage: a sentence about the chosen method's flight, and a row for
// every method with its gates, its end and its speeds.
import type { Flight, Report, Task } from './data';
import { h, replace } from './dom';
import { counted, metres, none, number } from './format';

export class TaskPanel {
  readonly element = h('section', { class: 'panel', id: 'task', 'aria-label': 'The chosen task' });

  constructor(private readonly report: Report) {}

  show(task: Task, method: string): void {
    const track = this.report.tracks[task.track]!;
    const opening = this.report.openings[task.opening]!;
    const facts = [
      `${counted(track.gates.length, 'gate')}`,
      opening.halfWidth !== null && `half-width ${metres(opening.halfWidth)}`,
      task.speedReference !== null && `expert's speed ${number(task.speedReference, 2)} m/s`,
      task.paperPassed !== null && `the paper's factored policy passed ${task.paperPassed}`,
      task.certified !== null && `certificate covers ${counted(task.certified, 'gate')}`,
    ].filter(Boolean);
    const kind = task.heldOut
      ? h('span', { class: 'tag' }, 'held out')
      : h('span', { class: 'plain-tag' }, !task.feasible ? 'infeasible' : this.report.mainMethod === 'expert' ? 'feasible' : 'training');
    replace(
      this.element,
      h('div', { class: 'panel-head' }, h('h3', {}, `${track.name}, ${opening.name} `, kind)),
      h('p', { class: 'note' }, `${track.description ? `${track.description}: ` : ''}${facts.join(', ')}.`),
      task.feasible && h('p', { class: 'verdict', 'aria-live': 'polite' }, this.verdict(task, method)),
      task.flights.size > 0 && this.table(task, method),
    );
  }

  private verdict(task: Task, method: string): string {
    const name = this.report.methods.find((entry) => entry.id === method)?.short ?? method;
    const flight = task.flights.get(method);
    if (!flight || flight.passed === null || flight.gates === null) return `${name} has no flight of this task.`;
    const missed = flight.results.flatMap((result, i) =>
      result.passed ? [] : [`gate ${i + 1}${result.miss === null ? '' : ` (${metres(result.miss)} from its centre)`}`]);
    const start = `${name} passed ${flight.passed} of ${flight.gates} gates`;
    const end = flight.end === 'crashed' ? ` It crashed${flight.crash && flight.crash !== 'none' ? ` (${flight.crash})` : ''}.` : '';
    return `${start}${missed.length ? `; it missed ${missed.join(', ')}` : ''}.${end}`;
  }

  private table(task: Task, method: string): HTMLElement {
    const rows = this.report.methods.flatMap((entry, i) => {
      const flight = task.flights.get(entry.id);
      if (!flight) return [];
      const swatch = h('i', { class: 'swatch', 'aria-hidden': 'true' });
      swatch.style.background = `var(--m${i})`;
      return [h('tr', { class: entry.id === method ? 'chosen' : false },
        h('th', { scope: 'row' }, swatch, entry.short),
        h('td', { class: 'number' }, flight.passed === null ? none : `${flight.passed}/${flight.gates ?? '?'}`),
        h('td', {}, marks(flight)),
        h('td', {}, flight.end === 'crashed' && flight.crash ? `crashed: ${flight.crash}` : flight.end || none),
        h('td', { class: 'number' }, number(flight.speedGenerated, 2)),
        h('td', { class: 'number' }, number(flight.speedFlown, 2)),
        h('td', { class: 'number' }, number(flight.error, 2)),
      )];
    });
    const columns: [string, boolean][] = [
      ['Method', false], ['Gates', true], ['In order', false], ['End', false], ['Planned m/s', true],
      ['Flown m/s', true], ['From expert, m', true],
    ];
    return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'All methods on this task, scrolls sideways' },
      h('table', { class: 'values' },
        h('thead', {}, h('tr', {}, ...columns.map(([name, right]) => h('th', { scope: 'col', class: right ? 'number' : false }, name)))),
        h('tbody', {}, ...rows)));
  }
}

function marks(flight: Flight): HTMLElement {
  const words = flight.results.map((result, i) => `${i + 1} ${result.passed ? 'passed' : 'missed'}`).join(', ');
  return h('span', { class: 'marks', role: 'img', 'aria-label': words },
    ...flight.results.map((result, i) =>
      h('i', {
        class: result.passed ? 'passed' : 'missed',
        'data-tip': `Gate ${i + 1}: ${result.passed ? 'passed' : 'missed'}${result.miss === null ? '' : `, ${metres(result.miss)} from its centre`}`,
      })));
}
