// Tests of the runtime as WebAssembly, without a browser: it plans what the program plans, and
// refuses what the program refuses.
//   node tests/wasm.mjs [PROGRAM]     the program is ../build/facet; without one, nothing to compare with
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformWithEsbuild } from 'vite';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const program = process.argv[2] ?? here('../../build/facet');
const folder = mkdtempSync(join(tmpdir(), 'facet-wasm-'));

const source = here('../src/live/runtime.ts');
const script = join(folder, 'runtime.mjs');
writeFileSync(script, (await transformWithEsbuild(readFileSync(source, 'utf8'), source)).code);
const { Runtime } = await import(script);
const wasm = readFileSync(here('../facet.wasm'));
assert.ok(wasm.length < 400_000, `facet.wasm has ${wasm.length} bytes, more than 400,000`);
const runtime = await Runtime.create(wasm);

function sample(model, task, seed, steps) {
  const out = join(folder, 'plan.json');
  const run = spawnSync(program, ['sample', '--policy', here(`../../models/${model}`), '--task', task, '--seed', seed, '--steps', steps, '--json', out, '--quiet']);
  assert.equal(run.status, 0, run.stderr.toString());
  return JSON.parse(readFileSync(out, 'utf8')).actions.flat();
}

let largest = 0;
const models = ['live.safetensors', 'race-factored.safetensors'];
for (const model of models) {
  const bytes = readFileSync(here(`../../models/${model}`));
  runtime.open(bytes);
  assert.ok(runtime.parameters > 1e5 && runtime.defaultSteps > 0);
  for (const [task, heldOut, seed, steps] of [['race1/wide', true, 1, 6], ['race2/standard', false, 7, 3]]) {
    assert.equal(runtime.choose(task).heldOut, heldOut);
    const plan = runtime.plan(seed, steps, [1, 1]);
    assert.equal(plan.path.length, steps + 1);
    if (!existsSync(program)) continue;
    const wanted = sample(model, task, seed, steps);
    largest = Math.max(largest, ...wanted.map((value, i) => Math.abs(value - plan.keypoints[i])));
  }
}
assert.ok(largest < 1e-4, `plans differ by ${largest}`);

// What is wrong is said, and leaves the runtime in order.
const whole = readFileSync(here('../../models/live.safetensors'));
const header = Number(whole.readBigUInt64LE(0));
const rewritten = (change) => {
  const text = change(whole.subarray(8, 8 + header).toString());
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(Buffer.byteLength(text)));
  return Buffer.concat([length, Buffer.from(text), whole.subarray(8 + header)]);
};
const refused = [
  [new Uint8Array(0), /policy/],
  [whole.subarray(0, 100_000), /policy/],
  [rewritten((text) => text.replace('"format"', '"form"')), /format/],
  [rewritten((text) => text.replace('{', '{,')), /expected valid JSON/],
  [rewritten((text) => text.replaceAll('\\"min\\":[', '\\"min\\":[nan,')), /normalizer|JSON/],
];
for (const [bytes, message] of refused) assert.throws(() => runtime.open(bytes), message);
runtime.open(whole);
assert.throws(() => runtime.choose('race9/wide'), /race9/);
runtime.choose('race1/wide');
assert.throws(() => runtime.plan(1, 101, [1, 1]), /steps/);
const plan = runtime.plan(1, 6, [1, 1]);
assert.deepEqual([...runtime.plan(1, 6, [1, 1]).keypoints], [...plan.keypoints]); // the same bits again

rmSync(folder, { recursive: true, force: true });
const compared = existsSync(program) ? `plans differ from the program's by ${largest.toExponential(1)} at most` : 'no program to compare with';
console.log(`ok      the runtime as WebAssembly: ${wasm.length} bytes, ${compared}`);
