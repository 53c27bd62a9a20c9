// The single gate: a row a venue with its flights from above, what became of them, and three frames
// of the onboard camera along the bold flight.
import type { Report, SingleGate, Venue } from './data';
import { h, s, type Child } from './dom';
import { figureElement } from './figures';
import { counted, percent, seconds } from './format';

export const gateIntro =
  'A quadrotor flies through one gate by what its camera shows and by a noisy gyro. A task is a venue, ' +
  'one of its gates, the colour that this gate alone wears, and the side from which to fly through it.';

const share = (value: number): string => `${Math.round(100 * value)}`;

function total(venues: Venue[]): { success: number; trials: number } {
  return venues.reduce(
    (sum, { counts }) => ({ success: sum.success + (counts?.success ?? 0), trials: sum.trials + (counts?.trials ?? 0) }),
    { success: 0, trials: 0 });
}

function score(venues: Venue[]): Child[] {
  const { success, trials } = total(venues);
  return [h('strong', {}, `${success} of ${trials} flights`), ` (${percent(success, trials)})`];
}

/** The result in a sentence: where training was, and where it never was. */
export function gateResult(gate: SingleGate): HTMLElement {
  const known = gate.venues.filter((venue) => venue.counts);
  const seen = known.filter((venue) => !venue.heldOut);
  const unseen = known.filter((venue) => venue.heldOut);
  if (known.length === 0) return h('p', { class: 'result' }, 'The results hold no counts of trials.');
  return h('p', { class: 'result' },
    ...(seen.length ? ['Through the gate: ', ...score(seen), ` in ${unseen.length ? `the ${counted(seen.length, 'venue')} of training` : counted(seen.length, 'venue')}`] : []),
    ...unseen.flatMap((venue, i): Child[] => [
      i || seen.length ? ', ' : 'Through the gate: ', ...score([venue]), ` in ${venue.name}, which no training saw`]),
    '.');
}

const kinds: ['success' | 'timeout' | 'crash', string, string][] = [
  ['success', 'through the gate', 'through'],
  ['timeout', 'timed out', 'timed out'],
  ['crash', 'crashed', 'crashed'],
];

/** Shares of the trials as one bar. */
function outcomeBar(counts: NonNullable<Venue['counts']>): HTMLElement {
  const parts = kinds.filter(([key]) => counts[key] > 0).map(([key, words]) => {
    const part = h('i', { class: key, 'data-tip': `${counts[key]} of ${counts.trials} ${words}` });
    part.style.flexGrow = String(counts[key]);
    return part;
  });
  return h('div', { class: 'outcomes', 'aria-hidden': 'true' }, ...parts);
}

function summary(venue: Venue): Child[] {
  const { counts, interval } = venue;
  if (!counts) return [h('p', { class: 'missing' }, 'The results hold no counts for this venue.')];
  const bounds = interval ? `, 95\u00a0% interval ${share(interval[0])}–${share(interval[1])}\u00a0%` : '';
  return [
    h('p', {}, h('strong', {}, `${counts.success} of ${counts.trials} through the gate`),
      ` (${percent(counts.success, counts.trials)}${bounds}), ${counts.crash} crashed, ${counts.timeout} timed out.`),
    outcomeBar(counts),
  ];
}

function shownSentence(venue: Venue): string {
  if (!venue.shown) return '';
  const { color, gate, side, end, duration } = venue.shown;
  const words = end === 'success' ? 'went through' : end === 'crash' ? 'crashed' : 'timed out';
  const after = duration === null ? '' : ` after ${seconds(duration)}`;
  return `Onboard camera, along the bold flight: ${color} gate ${gate}, side ${side.replace('-', '−')}; it ${words}${after}.`;
}

function frameList(venue: Venue): Child[] {
  if (venue.frames.length === 0) return [h('p', { class: 'missing' }, 'The results hold no camera frames for this venue.')];
  return [
    h('p', { class: 'note' }, shownSentence(venue)),
    h('ol', { class: 'frames' }, ...venue.frames.map((frame, i) => {
      const away = frame.distance === null ? '' : `${frame.distance.toFixed(1)} m`;
      return h('li', {},
        h('img', {
          src: `data:image/png;base64,${frame.png}`,
          alt: `${venue.name}, camera frame ${i + 1} at ${seconds(frame.time)}${away && `, ${away} from the gate`}`,
        }),
        h('span', { 'aria-hidden': 'true' }, h('b', {}, i + 1), `${seconds(frame.time)}${away && `, ${away}`}`));
    })),
  ];
}

function venueRow(report: Report, venue: Venue): HTMLElement {
  const figure = report.figures.find((entry) => entry.id === venue.figure);
  const split = report.gate?.venues.some((entry) => entry.heldOut);
  const tag = venue.heldOut
    ? h('span', { class: 'tag' }, 'zero-shot')
    : split && h('span', { class: 'plain-tag' }, 'training');
  return h('section', { class: 'panel venue', 'data-venue': venue.name, 'aria-label': `Flights in ${venue.name}` },
    h('div', { class: 'venue-head' }, h('h3', {}, `${venue.name} `, tag), ...summary(venue)),
    figure ? figureElement({ ...figure, caption: '' }) : h('p', { class: 'missing' }, 'There are no flights to draw.'),
    h('div', { class: 'venue-frames' }, ...frameList(venue)));
}

/** How the flights are drawn; the bold one is the one with frames. */
function legend(): HTMLElement {
  const line = (kind: string, width: number, end: SVGElement | null): SVGElement =>
    s('svg', { width: 30, height: 12, 'aria-hidden': 'true', class: kind },
      s('line', { x1: 1, y1: 6, x2: end ? 22 : 29, y2: 6, 'stroke-width': width }), end);
  const entries: [SVGElement, string][] = [
    [line('success', 3.4, null), 'the flight shown in frames'],
    [line('success', 1.3, null), 'through the gate'],
    [line('timeout', 1.3, s('circle', { cx: 25, cy: 6, r: 3.2, 'stroke-width': 1.5 })), 'timed out'],
    [line('crash', 1.3, s('path', { d: 'M21 2.5l7 7M21 9.5l7-7', 'stroke-width': 1.8 })), 'crashed'],
  ];
  return h('p', { class: 'legend' }, ...entries.map(([mark, words]) => h('span', {}, mark, words)));
}

/** The rows of all venues, and which figures they took. */
export function venueElements(report: Report): { elements: HTMLElement[]; figures: Set<string> } {
  const gate = report.gate;
  if (!gate) return { elements: [], figures: new Set() };
  const alone = report.tasks.length === 0;
  const policy = gate.policy === 'expert'
    ? 'The expert flies, on the true state.'
    : gate.policy && `Policy: ${gate.policy}${gate.mode && `, ${gate.mode} inference`}.`;
  return {
    elements: [
      h('div', { class: 'gate-lead' },
        !alone && h('p', { class: 'note' }, gateIntro), !alone && gateResult(gate), policy && h('p', { class: 'note' }, policy), legend()),
      ...gate.venues.map((venue) => venueRow(report, venue)),
    ],
    figures: new Set(gate.venues.map((venue) => venue.figure)),
  };
}
