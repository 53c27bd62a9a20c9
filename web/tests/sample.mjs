// Sample data in the report's format (docs/report.md), for developing and testing the page without
// the C program. The tracks are the shipped ones; the flights are made up: smooth curves through the
// gates with a fixed wobble a method. The single gate has the frames and counts of the file that the
// tests of the C program read. No number in it is a result.
import { readFileSync, readdirSync } from 'node:fs';

const courses = new URL('../../courses/', import.meta.url);
const livePolicy = new URL('../../models/live.safetensors', import.meta.url);
const json = (name) => JSON.parse(readFileSync(new URL(name, courses), 'utf8'));
const round = (x) => Math.round(x * 1000) / 1000;

const methods = [
  ['expert', 'Expert', '#3f4750', '#c3cad2', '6 4', 2, 0],
  ['baseline', 'Baseline', '#b3261e', '#ff8a80', '', 2, 1.1],
  ['knet', 'K networks', '#a35200', '#f0a35e', '2 3', 2, 0.8],
  ['ours_composed', 'Ours, composed', '#0060b0', '#5aa9ff', '', 3, 0.22],
  ['ours_joint', 'Ours, joint', '#6f42c1', '#c4a5ff', '8 3', 2, 0.25],
  ['oracle', 'Oracle', '#1a7341', '#5cc98a', '', 2, 0.15],
];

/** A number in [-1, 1) that depends on its arguments alone. */
function noise(a, b = 0, c = 0) {
  const x = Math.sin(a * 127.1 + b * 311.7 + c * 74.7) * 43758.5453;
  return 2 * (x - Math.floor(x)) - 1;
}

/** A Catmull–Rom curve through points, `per` samples a piece. */
function curve(points, per) {
  const at = (i) => points[Math.min(Math.max(i, 0), points.length - 1)];
  const out = [];
  for (let i = 0; i + 1 < points.length; i++) {
    for (let k = 0; k < per; k++) {
      const t = k / per;
      out.push([0, 1, 2].map((d) => {
        const [p0, p1, p2, p3] = [at(i - 1)[d], at(i)[d], at(i + 1)[d], at(i + 2)[d]];
        return 0.5 * (2 * p1 + (p2 - p0) * t + (2 * p0 - 5 * p1 + 4 * p2 - p3) * t * t + (3 * p1 - p0 - 3 * p2 + p3) * t ** 3);
      }));
    }
  }
  out.push(points[points.length - 1]);
  return out;
}

const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

function fly(track, halfWidth, spread, seed, heldOut) {
  const wobble = spread * (heldOut ? 1.6 : 0.7);
  const points = track.points.map((p, i) => p.map((x, d) => x + wobble * noise(seed, i, d) * (d === 2 ? 0.5 : 1)));
  const path = curve(points, 14).map(([x, y, z]) => [x, y, Math.max(z, 0.1)]);
  const results = track.gates.map((gate) => {
    let best = 0;
    path.forEach((p, i) => { if (distance(p, gate.center) < distance(path[best], gate.center)) best = i; });
    const miss = distance(path[best], gate.center);
    const passed = miss <= halfWidth;
    return { crossed: passed, passed, miss: round(miss), time: passed ? round(best / 25) : null, speed: passed ? 3.1 : null };
  });
  const attitudes = path.flatMap((p, i) => {
    const q = path[Math.min(i + 1, path.length - 1)];
    const yaw = Math.atan2(q[1] - p[1], q[0] - p[0]) / 2;
    return [round(Math.cos(yaw)), 0, 0, round(Math.sin(yaw))];
  });
  const passed = results.filter((result) => result.passed).length;
  return {
    passed, gates: track.gates.length, end: 'finished', crash: 'none', duration: path.length / 25,
    speed_generated: round(3 + noise(seed, 5)), speed_flown: round(3 + noise(seed, 6)), error_m: round(wobble),
    gate_results: results, rate: 25, positions: path.flat().map(round), attitudes,
    speeds: path.map((_, i) => round(3 + Math.sin(i / 20))),
  };
}

function denoise(track, seed) {
  const keypoints = curve(track.points, 40).filter((_, i, all) => Math.floor((i * 32) / all.length) !== Math.floor(((i - 1) * 32) / all.length)).slice(0, 32);
  const frames = [];
  for (let step = 0; step <= 50; step += 2) {
    const left = Math.sqrt(1 - (step / 50) ** 2);
    frames.push({
      step, noise: round(left),
      positions: keypoints.flatMap((p, i) => p.map((x, d) => round(x * (1 - left) + left * (5 * noise(seed, i, d) + (d === 2 ? 3 : 0))))),
    });
  }
  return frames;
}

function figure(id, group, title) {
  const dots = methods.map(([key, name], i) =>
    `<g class="method" data-method="${key}"><circle class="f-${key}" cx="${80 + 120 * i}" cy="${120 - 12 * i}" r="6" fill="#333333" data-tip="${name}\nvalue ${i + 1}"/></g>`).join('');
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" class="facet-figure" viewBox="0 0 800 200" role="img"><title>${title}</title><desc>Sample</desc>` +
    `<rect class="f-bg" width="800" height="200" fill="#ffffff"/><line class="s-ink" x1="40" y1="170" x2="780" y2="170" stroke="#1f2328"/>` +
    `<text class="f-muted" x="40" y="190" font-size="12" fill="#57606a">sample axis</text>${dots}</svg>`;
  return { id, group, title, caption: 'A sample figure; its values mean nothing.', width: 800, height: 200, svg };
}

/** The single gate as the C program gives it to the page; its figures are of the sample's kind. */
function singleGate() {
  const file = JSON.parse(readFileSync(new URL('../../tests/report/gate.json', import.meta.url), 'utf8'));
  const venues = Object.entries(file.venues).map(([name, counts]) => {
    const flight = file.flights.find((entry) => entry.venue === name && entry.frames);
    const { color, gate, side, end, duration } = flight;
    const center = file.gates.find((entry) => entry.name === gate).center;
    const frames = flight.frames.map(({ time, png }) => ({ time, png, distance: round(distance(flight.path[Math.floor(10 * time)], center)) }));
    const rate = counts.success / counts.trials;
    return {
      name, held_out: name === file.held_out_venue, ...counts, low: rate - 0.1, high: Math.min(rate + 0.1, 1),
      figure: `gate-${name}`, shown: { color, gate, side, end, duration }, frames,
    };
  });
  return { policy: file.policy, mode: file.mode, venues };
}

export function sample() {
  const gate = singleGate();
  const course = json('course.json');
  const gates = new Map(course.gates.map((gate) => [gate.name, gate]));
  const names = readdirSync(courses).filter((name) => /^race\d+\.json$/.test(name)).sort();
  const tracks = names.map(json).map((track) => {
    const flown = [];
    const points = track.path.map((entry) => {
      if (typeof entry !== 'string') return entry;
      const sign = entry.startsWith('-') ? -1 : 1;
      const gate = gates.get(entry.replace(/^-/, ''));
      flown.push({ name: gate.name, center: gate.center, normal: gate.normal.map((x) => x * sign) });
      return gate.center;
    });
    return { name: track.name, description: track.description, points, gates: flown };
  });
  const tasks = [];
  const flights = [];
  const denoising = [];
  tracks.forEach((track, t) => course.openings.forEach((opening, o) => {
    const task = tasks.length;
    const id = `${track.name}/${opening.name}`;
    const feasible = !(o === 0 && t < 4);
    const heldOut = course.held_out.includes(id);
    tasks.push({
      id, track: t, opening: o, feasible, held_out: heldOut, speed_reference: feasible ? round(2 + t / 2 + o / 3) : null,
      speed_paper: null, gates: track.gates.length, paper_passed: feasible ? track.gates.length : null,
      certified: feasible ? 1 : null,
    });
    if (!feasible) return;
    methods.forEach(([key, , , , , , spread], m) => {
      flights.push({ task, method: key, seed: 1, ...fly(track, opening.half_width, spread, task * 10 + m, heldOut), plan: [] });
    });
    denoising.push({ task, method: 'ours_composed', steps: 50, frames: denoise(track, task) });
  }));
  const total = (method, choose) => flights
    .filter((flight) => flight.method === method && choose(tasks[flight.task]))
    .reduce((sum, flight) => sum + flight.passed, 0);
  const made = { command: 'facet eval --seeds 5', seed: 1, version: '0.0.0', source: 'sample.json' };
  return {
    format: 1, version: '0.0.0', command: 'facet report',
    sources: [
      { id: 'eval', name: 'Evaluation', state: 'read', path: 'sample.json', note: 'Sample data, not results.', command: null, seed: null, version: null },
      { id: 'certify', name: 'Certificates', state: 'missing', path: null, note: 'No certificates: run facet certify.', command: null, seed: null, version: null },
    ],
    messages: [],
    colors: methods.map(([id, , light, dark]) => ({ id, light, dark })),
    methods: methods.map(([id, name, light, dark, dash, width], i) => ({
      id, name, short: name, description: `A sample of the method ${name}.`, color_light: light, color_dark: dark,
      dash, width, shown: i !== 4, source: 'eval',
    })),
    main_method: 'ours_composed',
    course: { arena: course.arena, openings: course.openings, tracks },
    tasks, flights, denoising, gate,
    live: { policy: 'live.safetensors', parameters: null, seed: 1, results: [], weights: readFileSync(livePolicy).toString('base64') },
    figures: [
      ...gate.venues.map((venue) => figure(venue.figure, 'gate', `${venue.name} from above, sample`)),
      ...tracks.slice(0, 2).map((track) => figure(`track-${track.name}`, 'tracks', `${track.name}, sample`)),
      figure('passage', 'passage', 'Gates passed, sample'),
      { id: 'certificate', group: 'certificates', title: 'Certificate per task', caption: '', missing: 'No certificates: run facet certify.' },
    ],
    tables: [
      {
        id: 'passage', group: 'passage', title: 'Gates passed, sample', note: 'The values only show the form.',
        columns: [
          { name: 'Method', align: 'left', decimals: null }, { name: 'All', align: 'right', decimals: 0 },
          { name: 'Held out', align: 'right', decimals: 0 }, { name: 'Error m', align: 'right', decimals: 3 },
          { name: 'Paper', align: 'right', decimals: 0 },
        ],
        rows: methods.map(([key, name], i) => [name, total(key, () => true), total(key, (task) => task.held_out), 0.1234567 * (i - 1), null]),
        held_out: methods.map(() => false), ...made,
      },
      {
        id: 'tasks', group: 'passage', title: 'Held-out tasks, sample', note: '',
        columns: [{ name: 'Task', align: 'left', decimals: null }, { name: 'Gates', align: 'right', decimals: 0 }],
        rows: tasks.filter((task) => task.feasible).map((task) => [task.id, task.gates]),
        held_out: tasks.filter((task) => task.feasible).map((task) => task.held_out), ...made,
      },
      {
        id: 'gate-venues', group: 'gate', title: 'Trials by venue, sample', note: '',
        columns: [{ name: 'Venue', align: 'left', decimals: null }, { name: 'Success (%)', align: 'right', decimals: 1 }],
        rows: gate.venues.map((venue) => [venue.name, (100 * venue.success) / venue.trials]),
        held_out: gate.venues.map((venue) => venue.held_out), ...made,
      },
      { id: 'certificates', group: 'certificates', title: 'Certificates', note: '', missing: 'No certificates: run facet certify.' },
    ],
  };
}

/** What is left of the data when there was no race. */
export function gateAlone({ format, version, command, colors, gate, figures, tables, messages }) {
  const own = (entry) => entry.group === 'gate';
  const sources = [{ id: 'gate', name: 'Single gate', state: 'read', path: null, note: 'Sample data, not results.', command: null, seed: null, version: null }];
  return { format, version, command, sources, colors, gate, figures: figures.filter(own), tables: tables.filter(own), messages };
}

const escapes = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' };
export const opening = '<script type="application/json" id="facet-data">';

/** Puts data (a value, or text as it is) into a page, as the C program does. */
export function fill(page, data) {
  const start = page.indexOf(opening) + opening.length;
  if (start < opening.length) throw new Error(`the page has no element ${opening}`);
  const end = page.indexOf('</script>', start);
  const text = (typeof data === 'string' ? data : JSON.stringify(data)).replace(/[<>&]/g, (c) => escapes[c]);
  return page.slice(0, start) + text + page.slice(end);
}
