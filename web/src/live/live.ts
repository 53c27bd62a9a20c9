// The live tab: a policy that plans in this page and a vehicle that flies the plan, computed by
// Facet's own runtime as WebAssembly. Every choice is planned and flown at once; gates can be moved.
import wasm from '../../facet.wasm?inline';
import { bytesOf, type Flight, type Gate, type LivePolicy, type Method, type Report, type Task, type Vec3 } from '../data';
import { h, replace } from '../dom';
import { counted, number, seconds } from '../format';
import { Player } from '../player';
import { flightSeconds, speedAt } from '../scene/drone';
import { Stage, type CameraName } from '../scene/stage';
import { onTheme } from '../theme';
import { dragGates } from './drag';
import { keypoints, Runtime, type LiveFlight, type Plan } from './runtime';

const rate = 50; // samples of a flight a second
const most = 3; // m that a gate can be moved along each axis
const axes = ['East', 'North', 'Up'] as const;

/** A slider with what it says. */
interface Slider {
  element: HTMLElement;
  input: HTMLInputElement;
  set(value: number): void;
}

function slider(id: string, label: string, min: number, max: number, step: number, show: (value: number) => string): Slider {
  const input = h('input', { type: 'range', id, min, max, step });
  const output = h('output', { for: id });
  const refresh = (): void => {
    output.textContent = show(Number(input.value));
    input.setAttribute('aria-valuetext', output.textContent);
  };
  input.addEventListener('input', refresh);
  return {
    element: h('label', { class: 'slider' }, h('span', {}, label), input, output),
    input,
    set: (value) => {
      input.value = String(value);
      refresh();
    },
  };
}

export class Live {
  readonly element: HTMLElement;
  private readonly track = h('select', { id: 'live-track' });
  private readonly opening = h('select', { id: 'live-opening' });
  private readonly seed = h('input', { type: 'number', id: 'live-seed', min: 0, max: 999_999, step: 1, value: 1 });
  private readonly steps = slider('live-steps', 'Denoising steps', 1, 50, 1, String);
  private readonly weights = ['Track weight', 'Opening weight'].map((label, i) =>
    slider(`live-weight-${i}`, label, 0, 2, 0.05, (value) => value.toFixed(2)));
  private readonly gate = h('select', { id: 'live-gate' });
  private readonly offsets = axes.map((axis, i) =>
    slider(`live-offset-${i}`, axis, -most, most, 0.05, (value) => `${number(value, 2)} m`));
  private readonly back = h('button', { type: 'button', id: 'live-back' }, 'Put the gates back');
  private readonly verdict = h('p', { class: 'verdict', id: 'live-verdict', role: 'status' });
  private readonly marks = h('span', { class: 'marks', 'aria-hidden': 'true' });
  private readonly timing = h('p', { class: 'hint', id: 'live-timing' });
  private readonly view = h('div', { class: 'view' });
  private readonly canvas = h('canvas', { tabindex: 0, role: 'img', 'aria-describedby': 'live-keys' });
  private readonly message = h('p', { class: 'view-message', role: 'status', hidden: true });
  private readonly play = h('button', { type: 'button', id: 'live-play', class: 'primary' }, 'Play');
  private readonly scrub = h('input', { type: 'range', id: 'live-scrub', min: 0, max: 1000, step: 1, value: 0, 'aria-label': 'Time' });
  private readonly readout = h('output', { id: 'live-readout', for: 'live-scrub' });
  private readonly camera = h('select', { id: 'live-camera', 'aria-label': 'Camera' },
    h('option', { value: 'orbit' }, 'Orbit'), h('option', { value: 'chase' }, 'Chase'), h('option', { value: 'gate' }, 'Gate'));
  private readonly player = new Player(() => this.refresh());
  private readonly method: Method;
  private runtime: Runtime | null = null;
  private stage: Stage | null = null;
  private task: Task;
  private heldOut = false;
  private gates: Gate[] = []; // where they are now
  private plan: Plan | null = null;
  private flight: Flight | null = null;
  private started = false;
  private wanted = 0; // of animation frames

  constructor(
    private readonly report: Report,
    private readonly policy: LivePolicy,
  ) {
    const like = report.methods.find((method) => method.id === report.mainMethod);
    this.method = {
      id: 'live', name: 'Live', short: 'Live', description: '', dash: '', width: 3, shown: true,
      light: like?.light ?? '#0060b0', dark: like?.dark ?? '#5aa9ff',
    };
    this.task = this.firstTask();
    replace(this.track, ...report.tracks.map((track, i) => h('option', { value: i }, track.name)));
    replace(this.opening, ...report.openings.map((opening, i) =>
      h('option', { value: i }, opening.name)));
    this.view.append(this.canvas, this.message);
    this.element = h('section', { class: 'flights live', id: 'live', 'aria-label': 'Live' },
      h('div', { class: 'choose panel' },
        h('p', { class: 'note' }, this.about()),
        h('div', { class: 'pair' },
          h('label', {}, 'Track ', this.track), h('label', {}, 'Opening ', this.opening),
          h('label', {}, 'Seed ', this.seed), this.button('live-next', 'Next seed', () => this.nextSeed())),
        this.verdict,
        h('fieldset', { class: 'group' }, h('legend', {}, 'The plan'),
          this.steps.element, ...this.weights.map((weight) => weight.element),
          this.button('live-defaults', 'Back to the policy’s own', () => this.defaults())),
        h('fieldset', { class: 'group' }, h('legend', {}, 'The gates'),
          h('p', { class: 'hint' }, 'Drag a gate in the picture, or move the chosen one. The plan does not know of it.'),
          h('label', {}, 'Move ', this.gate), ...this.offsets.map((offset) => offset.element), this.back),
        this.timing),
      h('section', { class: 'viewer panel', 'aria-label': 'The live flight in 3D' },
        this.view,
        h('div', { class: 'controls' },
          this.play, h('label', { class: 'scrub' }, this.scrub), this.readout, h('label', {}, 'Camera ', this.camera),
          this.button('live-reset', 'Reset view', () => this.resetView())),
        h('p', { class: 'hint', id: 'live-keys' },
          'First the plan, from noise to path; then its flight, in real time. Keys on the picture: space plays, left and right scrub.')));
    this.listen();
  }

  private button(id: string, label: string, act: () => void): HTMLButtonElement {
    const button = h('button', { type: 'button', id }, label);
    button.addEventListener('click', act);
    return button;
  }

  /** A held-out pair that the policy flies whole, if there is one. */
  private firstTask(): Task {
    const result = this.policy.results.filter((entry) => entry.heldOut && entry.passed === entry.gates)
      .sort((a, b) => b.gates - a.gates)[0] ?? this.policy.results[0];
    return this.report.tasks.find((task) => task.id === result?.task) ?? this.report.tasks[0]!;
  }

  /** What runs here, and how well it does. */
  private about(): string {
    const sum = (chosen: LivePolicy['results']): string =>
      `${chosen.reduce((total, entry) => total + entry.passed, 0)} of ${chosen.reduce((total, entry) => total + entry.gates, 0)}`;
    const { results, parameters, policy, seed } = this.policy;
    const heldOut = results.filter((entry) => entry.heldOut);
    const size = parameters === null ? '' : ` of ${(parameters / 1e6).toFixed(2)} million parameters`;
    return `A small policy${size} (${policy}) plans and flies in this page, with Facet’s runtime as WebAssembly. ` +
      (results.length ? `With seed ${seed} it passes ${sum(results)} gates of ${counted(results.length, 'task')}` : '') +
      (heldOut.length ? `, and ${sum(heldOut)} on pairs that it never saw.` : results.length ? '.' : '');
  }

  private listen(): void {
    const again = (): void => this.another();
    for (const choice of [this.track, this.opening]) choice.addEventListener('change', () => this.choose());
    this.seed.addEventListener('change', again);
    for (const { input } of [this.steps, ...this.weights]) {
      input.addEventListener('input', () => this.soon(() => this.compute()));
      input.addEventListener('change', again);
    }
    this.gate.addEventListener('change', () => {
      this.showOffsets();
      this.aim();
    });
    this.offsets.forEach(({ input }) => input.addEventListener('input', () => this.soon(() => this.moveBySliders())));
    this.back.addEventListener('click', () => {
      this.placeGates();
      this.fly();
    });
    this.play.addEventListener('click', () => this.player.toggle());
    this.scrub.addEventListener('input', () => this.player.seek((Number(this.scrub.value) / 1000) * this.player.length));
    this.camera.addEventListener('change', () => this.aim());
    this.canvas.addEventListener('keydown', (event) => {
      const step = this.player.length / 100;
      const actions: Record<string, () => void> = {
        ' ': () => this.player.toggle(),
        ArrowLeft: () => this.player.seek(this.player.position - step),
        ArrowRight: () => this.player.seek(this.player.position + step),
      };
      const action = actions[event.key];
      if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      action();
    });
  }

  /** Once a frame at most, however many events come. */
  private soon(act: () => void): void {
    cancelAnimationFrame(this.wanted);
    this.wanted = requestAnimationFrame(act);
  }

  // ---- Starting ------------------------------------------------------------------------------------

  /** When the tab is opened: the first time, the runtime is made. */
  open(): void {
    if (this.started) return;
    this.started = true;
    void this.start();
  }

  private async start(): Promise<void> {
    try {
      this.stage = new Stage(this.view, this.canvas, this.report);
      onTheme(() => this.stage?.recolor());
    } catch {
      this.canvas.remove();
      this.say('This browser offers no WebGL, so the flight cannot be shown in 3D. It is computed all the same.');
    }
    try {
      this.runtime = await Runtime.create(bytesOf(wasm.slice(wasm.indexOf(',') + 1)));
      this.runtime.open(bytesOf(this.policy.weights));
    } catch (error) {
      this.say(`This browser cannot fly live: ${error instanceof Error ? error.message : String(error)}`);
      this.runtime = null;
      for (const control of this.element.querySelectorAll<HTMLInputElement>('button, input, select')) control.disabled = true;
      return;
    }
    if (this.stage) {
      dragGates(this.view, this.stage, (gate) => this.gates[gate]!.center, (gate, center) => {
        this.gate.value = String(gate);
        this.soon(() => this.moveGate(gate, center));
      });
    }
    this.steps.input.max = String(Math.min(50, this.runtime.mostSteps));
    this.seed.value = String(this.policy.seed);
    this.track.value = String(this.task.track);
    this.opening.value = String(this.task.opening);
    this.setDefaults();
    this.choose();
  }

  private say(text: string): void {
    this.message.textContent = text;
    this.message.hidden = text === '';
  }

  // ---- Choices -------------------------------------------------------------------------------------

  private setDefaults(): void {
    this.steps.set(this.runtime?.defaultSteps ?? 6);
    for (const weight of this.weights) weight.set(1);
  }

  private defaults(): void {
    this.setDefaults();
    this.another();
  }

  private nextSeed(): void {
    this.seed.value = String((this.seedValue() + 1) % 1_000_000);
    this.another();
  }

  private seedValue(): number {
    return Math.min(Math.max(Math.round(Number(this.seed.value)) || 0, 0), 999_999);
  }

  /** Another task: its gates stand where the course has them. */
  private choose(): void {
    const task = this.report.tasks.find((entry) => entry.track === Number(this.track.value) && entry.opening === Number(this.opening.value));
    if (!task || !this.runtime) return;
    this.task = task;
    try {
      this.heldOut = this.runtime.choose(task.id).heldOut;
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error));
      return;
    }
    this.placeGates();
    this.compute();
    this.stage?.resetCamera();
    this.aim();
    this.playAnew();
  }

  /** Another plan of the same task. */
  private another(): void {
    this.compute();
    this.playAnew();
  }

  /** Plays from the noise on, unless the reader asked for less motion. */
  private playAnew(): void {
    const still = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.player.load(this.player.length, 1);
    if (still) this.player.seek(this.denoisingSeconds());
    else this.player.toggle();
  }

  // ---- Gates ---------------------------------------------------------------------------------------

  private placeGates(): void {
    const chosen = this.gate.value;
    this.gates = this.report.tracks[this.task.track]!.gates.map((gate) => ({ ...gate }));
    replace(this.gate, ...this.gates.map((_, i) => h('option', { value: i }, `gate ${i + 1}`)));
    this.gate.value = Number(chosen) < this.gates.length ? chosen || '0' : '0';
    this.showOffsets();
  }

  private home(gate: number): Vec3 {
    return this.report.tracks[this.task.track]!.gates[gate]!.center;
  }

  private showOffsets(): void {
    const gate = Number(this.gate.value);
    const home = this.home(gate);
    this.offsets.forEach((offset, i) => offset.set(this.gates[gate]!.center[i]! - home[i]!));
  }

  private moveBySliders(): void {
    const gate = Number(this.gate.value);
    const home = this.home(gate);
    const [x, y, z] = this.offsets.map(({ input }, i) => home[i]! + Number(input.value)) as [number, number, number];
    this.moveGate(gate, [x, y, z]);
  }

  /** Gates at one place are one ring, and go together. */
  private moveGate(gate: number, to: Vec3): void {
    const from = this.gates[gate]!.center;
    const home = this.home(gate);
    const { min, max } = this.report.arena;
    const within = (value: number, i: number): number =>
      Math.min(Math.max(value, home[i]! - most, min[i]!), home[i]! + most, max[i]!);
    const center: Vec3 = [within(to[0], 0), within(to[1], 1), within(to[2], 2)];
    this.gates = this.gates.map((entry) =>
      entry.center.every((value, i) => Math.abs(value - from[i]!) < 1e-6) ? { ...entry, center } : entry);
    this.showOffsets();
    this.fly();
  }

  // ---- Planning and flying -------------------------------------------------------------------------

  private compute(): void {
    if (!this.runtime) return;
    const began = performance.now();
    this.plan = this.runtime.plan(this.seedValue(), Number(this.steps.input.value), this.weights.map(({ input }) => Number(input.value)));
    this.element.dataset.planMs = (performance.now() - began).toFixed(2);
    this.element.dataset.plan = [...this.plan.keypoints].map((value) => value.toFixed(6)).join(' ');
    this.fly();
  }

  private fly(): void {
    if (!this.runtime || !this.plan) return;
    const track = this.report.tracks[this.task.track]!;
    const halfWidth = this.report.openings[this.task.opening]!.halfWidth ?? 0.5;
    const speed = this.task.speedReference ?? Math.max(this.plan.keypoints[3]!, 0.5);
    const began = performance.now();
    let flown: LiveFlight | null = null;
    try {
      flown = this.runtime.fly(this.plan.keypoints, { arena: this.report.arena, points: track.points, gates: this.gates }, halfWidth, speed, rate);
    } catch {
      flown = null; // a plan that nothing can fly
    }
    this.element.dataset.flightMs = (performance.now() - began).toFixed(2);
    this.flight = flown && { ...flown, method: 'live', seed: null, gates: this.gates.length, speedGenerated: null, speedFlown: null, error: null, rate };
    this.show(halfWidth);
  }

  private show(halfWidth: number): void {
    const { plan, flight } = this;
    if (!plan) return;
    const frames = plan.path.map((keys, step) => ({
      step, noise: null,
      positions: Array.from({ length: 3 * keypoints }, (_, i) => keys[4 * Math.floor(i / 3) + (i % 3)]!),
    }));
    this.stage?.setTask({
      gates: this.gates, halfWidth, results: flight?.results ?? [],
      flights: flight ? [{ method: this.method, flight }] : [],
      denoising: { method: 'live', steps: frames.length - 1, frames },
    }, false);
    this.stage?.setVisible(new Set(['live']), 'live');
    this.player.length = this.denoisingSeconds() + (flight ? flightSeconds(flight) : 0);
    this.player.seek(this.player.position);
    this.tell();
  }

  /** What became of the flight, in words. */
  private tell(): void {
    const { flight, task, element } = this;
    const moved = this.gates.some((gate, i) => gate.center.some((value, k) => Math.abs(value - this.home(i)[k]!) > 1e-6));
    const passed = flight?.passed ?? 0;
    element.dataset.task = task.id;
    element.dataset.passed = String(passed);
    element.dataset.gates = String(this.gates.length);
    element.dataset.heldOut = String(this.heldOut);
    replace(this.marks, ...(flight?.results ?? []).map((result) => h('i', { class: result.passed ? 'passed' : 'missed' })));
    const end = !flight ? 'Nothing can fly this plan.'
      : flight.end === 'crashed' ? `It crashed (${flight.crash}) after ${seconds(flight.duration ?? 0)}.`
        : flight.end === 'finished' ? `It finished after ${seconds(flight.duration ?? 0)}.` : `It ${flight.end}.`;
    replace(this.verdict,
      h('strong', {}, `${passed} of ${counted(this.gates.length, 'gate')}`), ' ', this.marks, ' ',
      this.heldOut
        ? h('span', { class: 'tag' }, 'held out')
        : h('span', { class: 'plain-tag' }, 'trained on'),
      ' ', h('span', { class: 'note' },
        this.heldOut ? 'Training never showed this track with this opening. ' : '',
        task.feasible ? '' : 'Infeasible: the expert finds no speed for it. ', end, moved ? ' The gates were moved.' : ''));
    const plans = 1000 / Number(element.dataset.planMs);
    this.timing.textContent = `Planned in ${number(Number(element.dataset.planMs), 0)} ms (${number(plans, 0)} plans a second), ` +
      `flown in ${number(Number(element.dataset.flightMs), 0)} ms, on one core of this machine.`;
    this.canvas.setAttribute('aria-label', `The live flight of ${task.id} in 3D: ${passed} of ${this.gates.length} gates passed`);
  }

  // ---- The picture ---------------------------------------------------------------------------------

  private denoisingSeconds(): number {
    return Math.min(Math.max(0.22 * (this.plan ? this.plan.path.length - 1 : 0), 1), 3);
  }

  private aim(): void {
    this.stage?.setCamera(this.camera.value as CameraName, Number(this.gate.value));
  }

  private resetView(): void {
    this.camera.value = 'orbit';
    this.aim();
    this.stage?.resetCamera();
  }

  private refresh(): void {
    const { player, stage, plan, flight } = this;
    if (!stage || !plan) return;
    const before = this.denoisingSeconds();
    const steps = plan.path.length - 1;
    const denoising = player.position < before;
    const time = Math.max(player.position - before, 0);
    stage.setFrame(denoising ? (player.position / before) * steps : null);
    if (!denoising) stage.setTime(time);
    this.play.textContent = player.playing ? 'Pause' : 'Play';
    this.play.setAttribute('aria-pressed', String(player.playing));
    this.scrub.value = String(player.length > 0 ? Math.round((1000 * player.position) / player.length) : 0);
    let label = `step ${Math.floor((player.position / before) * steps)} of ${steps}`;
    if (!denoising && flight) {
      label = `${seconds(time)} of ${seconds(flightSeconds(flight))}, ${number(speedAt(flight, time), 1)} m/s`;
    }
    this.readout.textContent = label;
    this.scrub.setAttribute('aria-valuetext', label);
    this.element.dataset.time = time.toFixed(3);
    this.element.dataset.drone = stage.leaderPosition()?.map((x) => x.toFixed(3)).join(' ') ?? '';
  }
}
