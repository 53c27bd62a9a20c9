// One composed plan of the policy's steps, in Facet and in ONNX Runtime: the same networks, threads
// and machine, taking turns in one run. Facet's time is that of the whole plan, of a policy that sees
// from the camera's frame on; ONNX Runtime's is that of the forward passes alone (the encoder once,
// the score network once a step), with sessions and tensors made beforehand.
//
//   npm install --prefix bench/onnx
//   node bench/onnx/compare.mjs POLICY [rounds] [threads] [program]
//
// The program is build/bench/onnx/plan unless given. Ratios are those of the turns of one round, and
// their median is shown. Fails when the outputs differ by over 1e-4.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { InferenceSession, Tensor } from 'onnxruntime-node';

const TOLERANCE = 1e-4;
const PAUSE = 50; // milliseconds between turns: idle threads of the other side go to sleep

const [policy, rounds = '15', threads = '2', program] = process.argv.slice(2);
if (!policy || !(Number(rounds) >= 1) || !(Number(threads) >= 1)) {
  console.error('usage: node compare.mjs POLICY [rounds] [threads] [program]');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'facet-onnx-'));
process.on('exit', () => rmSync(folder, { recursive: true }));
const model = join(folder, 'model.onnx');
const path = program ?? fileURLToPath(new URL('../../build/bench/onnx/plan', import.meta.url));
const facet = spawn(path, [policy, model, threads], { stdio: ['pipe', 'pipe', 'inherit'] });
facet.on('error', (error) => {
  console.error(`${path}: ${error.message}`);
  process.exit(1);
});
const lines = createInterface({ input: facet.stdout })[Symbol.asyncIterator]();
const nextLine = async () => {
  const { value, done } = await lines.next();
  if (done) process.exit(1);
  return value;
};

const known = JSON.parse(await nextLine());
const { rows, horizon, dim, factors, steps } = known;
// Threads that spin while they wait, the default, cost most where others want the processors.
const createOne = (path, spinning) =>
  InferenceSession.create(path, {
    intraOpNumThreads: Number(threads),
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    extra: { session: { intra_op: { allow_spinning: spinning ? '1' : '0' } } },
  });
const create = async (spinning) => ({
  score: await createOne(model, spinning),
  encoder: known.image && (await createOne(`${model}.encoder`, spinning)),
});
const spinning = await create(true);
const waiting = await create(false);
const int64 = (numbers, shape) => new Tensor('int64', BigInt64Array.from(numbers, BigInt), shape);
const floats = (numbers, shape) => new Tensor('float32', Float32Array.from(numbers), shape);
const feeds = {
  x: floats(known.x, [rows, horizon, dim]),
  t: int64(known.t, [rows]),
  z: int64(known.z, [rows, factors]),
};
const image = known.image && { image: floats(known.image, [1, known.height, known.width, 3]) };
if (image) feeds.context = floats(known.context, [rows, known.features.length]);

let difference = 0;
const compare = (found, expected) => found.data.forEach((value, i) => {
  difference = Math.max(difference, Math.abs(value - expected[i]));
});
compare((await waiting.score.run(feeds)).prediction, known.prediction);
if (image) compare((await waiting.encoder.run(image)).features, known.features);

// Milliseconds on the clock and of the processors.
async function facetPlan() {
  facet.stdin.write('\n');
  return (await nextLine()).split(' ').map(Number);
}

async function runtimePlan({ score, encoder }) {
  const before = process.cpuUsage();
  const start = performance.now();
  if (encoder) await encoder.run(image);
  for (let i = 0; i < steps; i++) await score.run(feeds);
  const wall = performance.now() - start;
  const { user, system } = process.cpuUsage(before);
  return [wall, (user + system) / 1e3];
}

const sides = [
  { name: 'Facet', plan: facetPlan, times: [] },
  { name: 'ONNX Runtime, spinning', plan: () => runtimePlan(spinning), times: [] },
  { name: 'ONNX Runtime, waiting', plan: () => runtimePlan(waiting), times: [] },
];
for (let round = -1; round < Number(rounds); round++) { // the first round warms up
  for (const { plan, times } of sides) {
    await sleep(PAUSE);
    const time = await plan();
    if (round >= 0) times.push(time);
  }
}
facet.stdin.end();

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const column = (numbers) => numbers.map((x) => x.toFixed(1).padStart(9)).join('');
console.log(`${(known.parameters / 1e6).toFixed(2)} M parameters, ${steps} steps of ${rows} rows, ` +
  `${threads} threads, ${rounds} rounds; milliseconds a plan`);
console.log(' '.repeat(24) + '   median  fastest processor    times Facet');
for (const { name, times } of sides) {
  const walls = times.map(([wall]) => wall);
  const ratio = median(times.map(([wall], i) => wall / sides[0].times[i][0]));
  const work = times.map(([, cpu]) => cpu);
  const workRatio = median(work.map((cpu, i) => cpu / sides[0].times[i][1]));
  console.log(name.padEnd(24) + column([median(walls), Math.min(...walls), median(work)]) +
    `    ${ratio.toFixed(2)} on the clock, ${workRatio.toFixed(2)} of the processors`);
}
console.log(`outputs differ by ${difference.toExponential(1)}, at most ${TOLERANCE} allowed`);
process.exitCode = difference <= TOLERANCE ? 0 : 1;
