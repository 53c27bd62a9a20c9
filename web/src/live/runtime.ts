// Facet's runtime as WebAssembly: a policy, its plans, and flights along them (web/wasm/live.h says
// what each call does). It has no threads and no files, and asks nothing of its host but the time.
import type { GateResult, Vec3 } from '../data';

/** What the module exports. Pointers are places in its memory. */
interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  live_message(): number;
  live_allocate(bytes: number): number;
  live_free(block: number): void;
  live_open(bytes: number, size: number): number;
  live_default_steps(): number;
  live_most_steps(): number;
  live_parameters(): number;
  live_task(name: number): number;
  live_plan(seed: number, steps: number, weights: number): number;
  live_track(arena: number, points: number, pointCount: number, gates: number, gateCount: number): number;
  live_fly(plan: number, halfWidth: number, speed: number, interval: number): number;
  live_samples(): number;
  live_gates(): number;
  live_outcome(): number;
}

export const keypoints = 32;
const channels = 4; // x y z and speed of a keypoint

export interface TrackShape {
  arena: { min: Vec3; max: Vec3 };
  points: readonly Vec3[];
  gates: readonly { center: Vec3; normal: Vec3 }[];
}

/** A plan with its way from noise: keypoints x y z speed, flat, a list a denoising step. */
export interface Plan {
  path: Float64Array[];
  keypoints: Float64Array; // the last of the path
}

export interface LiveFlight {
  passed: number;
  end: string;
  crash: string;
  duration: number;
  results: GateResult[];
  samples: number;
  positions: number[];
  attitudes: number[];
  speeds: number[];
}

const ends = ['finished', 'crashed', 'timed out', 'given up']; // in the order of FacetFlightEnd
const crashes = ['none', 'ground', 'bounds', 'attitude', 'non-finite state']; // of FacetCrashKind

export class Runtime {
  private constructor(private readonly wasm: Exports) {}

  static async create(bytes: Uint8Array<ArrayBuffer>): Promise<Runtime> {
    const none = (): number => 0;
    const module = await WebAssembly.compile(bytes);
    let memory: WebAssembly.Memory | null = null;
    const host: Record<string, (...args: never[]) => number> = {
      clock_time_get: (_clock: never, _precision: never, out: never): number => {
        const now = BigInt(Math.round(performance.now() * 1e6));
        new DataView(memory!.buffer).setBigUint64(out, now, true);
        return 0;
      },
      proc_exit: (): never => {
        throw new Error('the runtime stopped');
      },
    };
    const imports: Record<string, Record<string, () => number>> = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      (imports[from] ??= {})[name] = (host[name] as () => number) ?? none;
    }
    const wasm = (await WebAssembly.instantiate(module, imports)).exports as unknown as Exports;
    memory = wasm.memory;
    wasm._initialize();
    return new Runtime(wasm);
  }

  /** Reads a policy from the bytes of its safetensors file. */
  open(policy: Uint8Array): void {
    const at = this.copy(policy);
    const done = this.wasm.live_open(at, policy.length);
    this.wasm.live_free(at);
    if (!done) this.fail();
  }

  get defaultSteps(): number {
    return this.wasm.live_default_steps();
  }
  get mostSteps(): number {
    return this.wasm.live_most_steps();
  }
  get parameters(): number {
    return this.wasm.live_parameters();
  }

  /** Chooses the task of the plans to come; whether the policy's record holds it out. */
  choose(task: string): { heldOut: boolean } {
    const name = this.copy(new TextEncoder().encode(`${task}\0`));
    const known = this.wasm.live_task(name);
    this.wasm.live_free(name);
    if (!known) this.fail();
    return { heldOut: known === 2 };
  }

  /** Samples a plan of the chosen task, from a seed, with a weight a factor. */
  plan(seed: number, steps: number, weights: readonly number[]): Plan {
    const at = this.numbers(weights);
    const path = this.wasm.live_plan(seed, steps, at);
    this.wasm.live_free(at);
    if (!path) this.fail();
    const size = keypoints * channels;
    const frames = Array.from({ length: steps + 1 }, (_, i) => this.read(path + 8 * i * size, size));
    return { path: frames, keypoints: frames[steps]! };
  }

  /** Flies a plan along a track, with `rate` samples a second. */
  fly(plan: Float64Array, track: TrackShape, halfWidth: number, speed: number, rate: number): LiveFlight {
    const blocks = [
      [...track.arena.min, ...track.arena.max],
      track.points.flat(),
      track.gates.flatMap((gate) => [...gate.center, ...gate.normal]),
      [...plan],
    ].map((values) => this.numbers(values));
    const [arena, points, gates, at] = blocks as [number, number, number, number];
    const samples =
      this.wasm.live_track(arena, points, track.points.length, gates, track.gates.length) &&
      this.wasm.live_fly(at, halfWidth, speed, 1 / rate);
    for (const block of blocks) this.wasm.live_free(block);
    if (!samples) this.fail();
    return this.flight(samples, track.gates.length);
  }

  private flight(samples: number, gates: number): LiveFlight {
    const [passed, end, crash, duration] = this.read(this.wasm.live_outcome(), 4) as unknown as [number, number, number, number];
    const results = this.read(this.wasm.live_gates(), 4 * gates);
    const states = this.read(this.wasm.live_samples(), 8 * samples);
    const part = (from: number, size: number): number[] =>
      Array.from({ length: samples * size }, (_, i) => states[8 * Math.floor(i / size) + from + (i % size)]!);
    return {
      passed,
      end: ends[end] ?? 'unknown',
      crash: crashes[crash] ?? 'unknown',
      duration,
      results: Array.from({ length: gates }, (_, i) => ({
        crossed: results[4 * i] === 1,
        passed: results[4 * i + 1] === 1,
        miss: results[4 * i + 2]!,
        time: results[4 * i] === 1 ? results[4 * i + 3]! : null,
      })),
      samples,
      positions: part(0, 3),
      attitudes: part(3, 4),
      speeds: part(7, 1),
    };
  }

  // ---- Memory ------------------------------------------------------------------------------------

  private copy(bytes: Uint8Array): number {
    const at = this.wasm.live_allocate(Math.max(bytes.length, 1));
    if (!at) throw new Error('the runtime is out of memory');
    new Uint8Array(this.wasm.memory.buffer).set(bytes, at);
    return at;
  }

  private numbers(values: readonly number[]): number {
    return this.copy(new Uint8Array(new Float64Array(values).buffer));
  }

  /** A copy of numbers: the memory moves when it grows. */
  private read(at: number, count: number): Float64Array {
    return new Float64Array(this.wasm.memory.buffer.slice(at, at + 8 * count));
  }

  private fail(): never {
    const memory = new Uint8Array(this.wasm.memory.buffer);
    const at = this.wasm.live_message();
    throw new Error(new TextDecoder().decode(memory.slice(at, memory.indexOf(0, at))));
  }
}
