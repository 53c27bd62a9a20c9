// Tests of the report page in a real browser.
//   node tests/run.mjs          on page.html, with sample data
//   node tests/run.mjs FILE     on a page that facet report wrote, with the data in it; of a page of
//                               the single gate alone, the tests that need no race
// Broken and hostile data are tried on the page's own script in both cases.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { inflateSync } from 'node:zlib';
import assert from 'node:assert/strict';
import { launch } from './browser.mjs';
import { fill, gateAlone, opening, sample } from './sample.mjs';

const given = process.argv[2];
const pageFile = given ? resolve(given) : fileURLToPath(new URL('../page.html', import.meta.url));
const source = readFileSync(pageFile, 'utf8');
const data = given ? dataOf(source) : sample();
const whole = given ? source : fill(source, data);

const folder = mkdtempSync(join(tmpdir(), 'facet-page-'));
const pictures = fileURLToPath(new URL('../../out/web/', import.meta.url));
mkdirSync(pictures, { recursive: true });

function dataOf(page) {
  const start = page.indexOf(opening) + opening.length;
  const held = JSON.parse(page.slice(start, page.indexOf('</script>', start)));
  return held.deflated ? JSON.parse(inflateSync(Buffer.from(held.deflated, 'base64')).toString()) : held;
}

let files = 0;
function write(page) {
  const file = join(folder, `page-${files++}.html`);
  writeFileSync(file, page);
  return pathToFileURL(file).href;
}

const browser = await launch();
const flat = ['--disable-3d-apis', '--disable-gpu']; // a browser without WebGL

/** Opens a page from disk and watches it: console errors, exceptions, dialogs and requests. */
async function open(page, options = {}) {
  const context = await (options.browser ?? browser).newContext({
    viewport: { width: 640, height: 700 }, acceptDownloads: true, ...options.context, // small: drawn in software
  });
  const tab = await context.newPage();
  const wrong = [];
  let url = '';
  tab.on('console', (message) => {
    if (message.type() !== 'error' || options.ignore?.test(message.text())) return;
    wrong.push(`console: ${message.text()}`);
  });
  tab.on('pageerror', (error) => wrong.push(`exception: ${error.message}`));
  tab.on('dialog', (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on('request', (request) => {
    if (request.url() !== url && !/^(data|blob):/.test(request.url())) wrong.push(`request: ${request.url()}`);
  });
  const go = async (next) => {
    url = write(next);
    await tab.goto(url);
    await tab.waitForSelector('#main > *');
  };
  await go(page);
  return { tab, wrong, go, close: () => context.close() };
}

const drone = (tab) => tab.getAttribute('#viewer', 'data-drone');
const frames = (tab) => tab.evaluate(() => Number(document.querySelector('#viewer .view')?.dataset.frames ?? 0));

/** Waits until the view has stopped drawing. */
async function settled(tab) {
  let before = -1;
  for (let now = await frames(tab); now !== before; now = await frames(tab)) {
    before = now;
    await tab.waitForTimeout(150);
  }
}

/** How many of the pixels of a picture differ from its most frequent colour, and how many colours. */
async function variety(tab, png) {
  return tab.evaluate(async (bytes) => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))]));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const pen = canvas.getContext('2d');
    pen.drawImage(bitmap, 0, 0);
    const pixels = new Uint32Array(pen.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    const counts = new Map();
    for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
    return { colours: counts.size, other: 1 - Math.max(...counts.values()) / pixels.length };
  }, png.toString('base64'));
}

const tests = [];
const test = (name, run) => tests.push([name, run]);
const raceTest = (name, run) => data.tasks && test(name, run);
const gateTest = (name, run) => data.gate && test(name, run);

const feasible = (data.tasks ?? []).filter((task) => task.feasible);
const flownBy = (task) => data.flights.filter((flight) => data.tasks[flight.task] === task);
const cell = (task) => `#grid button[data-task=${JSON.stringify(task.id)}]`;

raceTest('opens from disk with no error and no request', async () => {
  const { tab, wrong, close } = await open(whole);
  await settled(tab);
  assert.equal(await tab.locator('#grid button').count(), data.tasks.length);
  assert.equal(await tab.getAttribute('#viewer', 'data-webgl'), 'yes');
  assert.deepEqual(wrong, []);
  await close();
});

raceTest('the sentence at the top has the numbers of the data', async () => {
  const { tab, close } = await open(whole);
  const flights = data.flights.filter((flight) => flight.method === data.main_method && data.tasks[flight.task].held_out);
  const sum = (key) => flights.reduce((total, flight) => total + flight[key], 0);
  const text = await tab.textContent('.lead');
  if (flights.length) assert.ok(text.includes(`${sum('passed')} of ${sum('gates')} gates`), text);
  const learned = data.flights.filter((flight) => flight.method === data.main_method && !data.tasks[flight.task].held_out);
  if (data.main_method !== 'expert') assert.ok(text.includes(`learned from ${learned.length} pair`), text);
  await close();
});

raceTest('what being told alone gives stands beside it, when it is of as many gates', async () => {
  const flights = data.flights.filter((flight) => flight.method === data.main_method && data.tasks[flight.task].held_out);
  const gates = flights.reduce((total, flight) => total + flight.gates, 0);
  const longer = { longer_held_out: 23.4, longer_trainings: 1 };
  for (const [told, words] of [[{ held_out: 22.34, gates, trainings: 3 }, 'passes 22.3 (3 trainings).'],
    [{ held_out: 22.34, gates, trainings: 3, ...longer }, 'passes 22.3 (3 trainings); trained with as many operations as ours, 23.4 (1 training).'],
    [{ held_out: 22.34, gates: gates + 1, trainings: 3 }, null], [{ held_out: 'many', gates, trainings: 3 }, null], [undefined, null]]) {
    const { tab, wrong, close } = await open(fill(source, { ...copy(), told }));
    const text = await tab.textContent('.lead');
    assert.equal(text.includes('only told'), words !== null && gates > 0, text);
    if (words && gates > 0) assert.ok(text.includes(words), text);
    assert.deepEqual(wrong, []);
    await close();
  }
});

raceTest('a policy that was trained on everything has no held-out column', async () => {
  const all = copy();
  for (const task of all.tasks) task.held_out = false;
  const { tab, wrong, close } = await open(fill(source, all));
  assert.ok(!(await tab.textContent('#flights')).includes('eld out'));
  assert.deepEqual(await tab.locator('#methods thead th').allTextContents(), ['Grid', 'Fly', 'Method', 'Gates']);
  if (data.main_method !== 'expert') assert.ok((await tab.textContent('.lead')).includes('None was held out'));
  assert.deepEqual(wrong, []);
  await close();
});

/** The data with one opening more: a held-out pair, an infeasible one that is held out, and others. */
function widerCourse() {
  const wider = copy();
  const opening = wider.course.openings.push({ name: 'extra-wide', half_width: 1.25 }) - 1;
  wider.course.tracks.forEach((track, t) => {
    const like = wider.tasks.findIndex((task) => task.track === t && task.feasible);
    const task = wider.tasks.push({ ...wider.tasks[like], id: `${track.name}/extra-wide`, opening, held_out: t < 3, feasible: t !== 2 }) - 1;
    if (t === 2) return;
    wider.flights.push(...wider.flights.filter((flight) => flight.task === like).map((flight) => ({ ...flight, task })));
  });
  return wider;
}

raceTest('four openings: nothing leaves its cell, and no cell falls onto what is below', async () => {
  for (const width of [1280, 390]) {
    const { tab, wrong, close } = await open(fill(source, widerCourse()), { context: { viewport: { width, height: 860 } } });
    await tab.screenshot({ path: join(pictures, `four-openings-${width}.png`), fullPage: true });
    const outside = await tab.evaluate(() => {
      const found = [];
      const hint = document.querySelector('.choose .hint').getBoundingClientRect();
      for (const cell of document.querySelectorAll('#grid button')) {
        const box = cell.getBoundingClientRect();
        if (box.bottom > hint.top) found.push(`${cell.dataset.task} falls onto the hint`);
        for (const part of cell.querySelectorAll('*')) {
          const own = part.getBoundingClientRect();
          if (!own.width || !own.height) continue;
          if (own.left < box.left || own.right > box.right + 0.5 || own.bottom > box.bottom + 0.5)
            found.push(`${cell.dataset.task}: ${part.className.baseVal ?? part.className} '${part.textContent}' by ${Math.max(own.right - box.right, own.bottom - box.bottom).toFixed(1)} px`);
        }
        if (cell.scrollWidth > cell.clientWidth + 1) found.push(`${cell.dataset.task}: its text is ${cell.scrollWidth - cell.clientWidth} px too wide`);
      }
      return found;
    });
    assert.deepEqual(outside, [], `at ${width} px`);
    assert.deepEqual(wrong, []);
    await close();
  }
});

raceTest('every cell of the grid opens its task', async () => {
  const { tab, wrong, close } = await open(whole);
  for (const task of data.tasks) {
    await tab.press(cell(task), 'Enter');
    assert.equal(await tab.getAttribute(cell(task), 'aria-pressed'), 'true');
    assert.equal(await tab.locator('#grid button[aria-pressed=true]').count(), 1);
    const heading = await tab.textContent('#task h3');
    assert.ok(heading.includes(data.course.tracks[task.track].name), heading);
    assert.equal(heading.includes('held out'), task.held_out, heading);
    const shown = await tab.textContent(cell(task));
    const flight = flownBy(task).find((entry) => entry.method === data.main_method);
    if (!task.feasible) assert.ok(shown.includes('infeasible'), shown);
    else if (flight) assert.ok(shown.includes(`${flight.passed}/${flight.gates}`), shown);
    assert.equal(shown.includes('held out'), task.held_out, shown);
    assert.equal(await tab.isVisible('.view-message'), !task.feasible);
  }
  assert.deepEqual(wrong, []);
  await close();
});

raceTest('play advances the drone, pause stops it, scrub and speed work, and rest is idle', async () => {
  const { tab, wrong, close } = await open(whole);
  await settled(tab);
  const start = await drone(tab);
  const before = await tab.locator('#viewer .view').screenshot();
  await tab.selectOption('#speed', '2');
  await tab.click('#play');
  await tab.waitForFunction((was) => document.querySelector('#viewer').dataset.drone !== was, start);
  await tab.waitForTimeout(400);
  await tab.click('#play');
  const paused = await drone(tab);
  assert.notEqual(paused, start);
  await settled(tab);
  assert.equal(await drone(tab), paused);
  assert.ok(!before.equals(await tab.locator('#viewer .view').screenshot()), 'the picture did not change');
  await tab.locator('#scrub').fill('1000');
  const end = await drone(tab);
  assert.notEqual(end, paused);
  // A busy machine may draw the last picture late.
  let idle = -1;
  for (let i = 0; i < 8 && idle !== await frames(tab); i++) {
    idle = await frames(tab);
    await tab.waitForTimeout(600);
  }
  assert.equal(await frames(tab), idle, 'draws while nothing moves');
  assert.deepEqual(wrong, []);
  await close();
});

raceTest('the keyboard plays, scrubs and reaches every control', async () => {
  const { tab, wrong, close } = await open(whole);
  await settled(tab);
  await tab.keyboard.press('ArrowRight');
  const moved = Number(await tab.getAttribute('#viewer', 'data-time'));
  assert.ok(moved > 0);
  await tab.keyboard.press('ArrowLeft');
  assert.ok(Number(await tab.getAttribute('#viewer', 'data-time')) < moved);
  await tab.keyboard.press(' ');
  assert.equal(await tab.textContent('#play'), 'Pause');
  await tab.keyboard.press(' ');
  assert.equal(await tab.textContent('#play'), 'Play');
  const reached = new Set();
  for (let i = 0; i < 200; i++) {
    await tab.keyboard.press('Tab');
    const found = await tab.evaluate(() => {
      const at = document.activeElement;
      const style = getComputedStyle(at);
      const segment = at.matches('.segments input') ? getComputedStyle(at.nextElementSibling) : style;
      const ring = segment.outlineStyle !== 'none' && parseFloat(segment.outlineWidth) > 0;
      return { key: at.id || at.name || at.getAttribute('data-task') || at.tagName, ring };
    });
    if (found.key === 'BODY') break;
    assert.ok(found.ring, `${found.key} shows no focus`);
    reached.add(found.key);
  }
  for (const key of ['theme', 'play', 'scrub', 'speed', 'mode', 'camera', 'reset', 'CANVAS', data.tasks[0].id]) {
    assert.ok(reached.has(key), `${key} cannot be reached: ${[...reached]}`);
  }
  const [first, second] = [data.tasks[0], data.tasks[1]];
  await tab.focus(cell(first));
  await tab.keyboard.press('ArrowRight');
  assert.equal(await tab.evaluate(() => document.activeElement.dataset.task), second.id);
  await tab.keyboard.press('Enter');
  assert.equal(await tab.getAttribute(cell(second), 'aria-pressed'), 'true');
  assert.deepEqual(wrong, []);
  await close();
});

raceTest('toggles hide and show a method in the viewer and in the figures', async () => {
  const { tab, close } = await open(whole);
  await settled(tab);
  const with_ = await tab.locator('#viewer .view').screenshot();
  for (const method of data.methods) {
    const box = tab.locator(`#methods tr[data-method=${JSON.stringify(method.id)}] input[type=checkbox]`);
    await box.check();
    assert.ok((await tab.getAttribute('#viewer', 'data-visible')).split(' ').includes(method.id));
    await box.uncheck();
    assert.ok(!(await tab.getAttribute('#viewer', 'data-visible')).split(' ').includes(method.id));
    const curves = tab.locator(`figure [data-method=${JSON.stringify(method.id)}]`);
    for (const curve of (await curves.all()).slice(0, 2)) {
      assert.equal(await curve.evaluate((element) => getComputedStyle(element).display), 'none');
    }
  }
  assert.equal(await tab.getAttribute('#viewer', 'data-visible'), '');
  assert.ok((await tab.textContent('#viewer .view-message')).includes('switched off'));
  await settled(tab);
  assert.ok(!with_.equals(await tab.locator('#viewer .view').screenshot()), 'the picture did not change');
  await close();
});

raceTest('the cameras and the denoising show other pictures', async () => {
  const { tab, wrong, close } = await open(whole);
  await settled(tab);
  const seen = [await tab.locator('#viewer .view canvas').screenshot()];
  const differs = async (what) => {
    await settled(tab);
    const picture = await tab.locator('#viewer .view canvas').screenshot();
    assert.ok(!seen.some((other) => other.equals(picture)), `${what} shows nothing new`);
    const { colours } = await variety(tab, picture);
    assert.ok(colours > 20, `${what} is blank`);
    seen.push(picture);
  };
  for (const camera of ['chase', 'gate']) {
    await tab.check(`input[name=camera][value=${camera}]`, { force: true });
    await differs(camera);
  }
  await tab.selectOption('#gate', '1');
  await differs('another gate');
  await tab.click('#reset');
  assert.equal(await tab.isChecked('input[name=camera][value=orbit]'), true);
  if (await tab.isEnabled('input[name=mode][value=denoising]')) {
    await tab.check('input[name=mode][value=denoising]', { force: true });
    await differs('the noise');
    assert.ok((await tab.textContent('#readout')).includes('step 0 of'));
    await tab.locator('#scrub').fill('1000');
    await differs('the plan');
    await tab.locator('#scrub').fill('0');
    await tab.click('#play');
    await tab.waitForFunction(() => Number(document.querySelector('#viewer').dataset.time) > 0.5);
    await tab.click('#play');
  } else {
    assert.ok(!data.denoising?.length, 'there is a denoising, but it cannot be played');
  }
  assert.deepEqual(wrong, []);
  await close();
});

const shownNumber = (value, decimals) => (decimals === null ? String(value) : value.toFixed(decimals)).replace('-', '−');

test('the tables have the numbers of the data, and their CSV has them whole', async () => {
  const { tab, wrong, close } = await open(whole);
  assert.ok(data.tables.length > 0);
  for (const [i, table] of data.tables.entries()) {
    const panel = tab.locator('[data-table]').nth(await tab.evaluate(
      ([id, skip]) => [...document.querySelectorAll('[data-table]')].map((element, at) => [element.dataset.table, at]).filter(([key]) => key === id)[skip][1],
      [table.id, data.tables.slice(0, i).filter((other) => other.id === table.id).length]));
    if (table.missing) {
      assert.ok((await panel.textContent()).includes(table.missing));
      continue;
    }
    const cells = await panel.locator('tbody tr').evaluateAll((rows) => rows.map((row) => [...row.children].map((part) => part.textContent)));
    const expected = table.rows.map((row) => table.columns.map((column, c) => {
      const value = row[c] ?? null;
      return value === null ? '—' : typeof value === 'number' ? shownNumber(value, column.decimals) : value;
    }));
    assert.deepEqual(cells, expected, table.id);
    const words = await panel.textContent();
    for (const word of [table.command, table.version, table.source]) if (word) assert.ok(words.includes(word), `${table.id}: ${word}`);
    const [download] = await Promise.all([tab.waitForEvent('download'), panel.locator('button').click()]);
    const rows = readCsv(readFileSync(await download.path(), 'utf8'));
    assert.deepEqual(rows[0], table.columns.map((column) => column.name));
    table.rows.forEach((row, r) => row.forEach((value, c) => {
      const field = rows[r + 1][c];
      if (typeof value === 'number') assert.equal(Number(field), value, `${table.id} row ${r}`);
      else if (value === null) assert.equal(field, '');
      else assert.ok(field === value || field === `'${value}`, `${table.id} row ${r}: ${field}`);
    }));
  }
  assert.deepEqual(wrong, []);
  await close();
});

function readCsv(text) {
  const rows = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows[rows.length - 1].push(quoted !== undefined ? quoted.replace(/""/g, '"') : plain);
    if (end === '\r\n') rows.push([]);
  }
  rows.pop();
  return rows;
}

test('the figures are there, show values and can be saved', async () => {
  const { tab, wrong, close } = await open(whole);
  assert.equal(await tab.locator('figure').count(), data.figures.length);
  for (const figure of data.figures) {
    const frame = tab.locator(`figure[data-figure=${JSON.stringify(figure.id)}]`).first();
    if (!figure.svg) {
      assert.ok((await frame.textContent()).includes(figure.missing), figure.id);
      continue;
    }
    assert.equal(await frame.locator('svg.facet-figure').count(), 1, figure.id);
    const [download] = await Promise.all([tab.waitForEvent('download'), frame.locator('button').click()]);
    const saved = readFileSync(await download.path(), 'utf8');
    assert.match(saved, /^<svg[^>]* xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    const kept = await tab.evaluate(([before, after]) => {
      const count = (text) => new DOMParser().parseFromString(text, 'image/svg+xml').querySelectorAll('*').length;
      return [count(before), count(after)];
    }, [figure.svg, saved]);
    assert.equal(kept[1], kept[0], `${figure.id}: the saved figure lost parts`);
  }
  const point = tab.locator('figure [data-tip]:visible').first();
  if (await point.count()) {
    await tab.locator('figure [data-tip][tabindex="0"]').first().focus();
    assert.equal(await tab.isVisible('#tip'), true);
    await tab.keyboard.press('Escape');
    assert.equal(await tab.isVisible('#tip'), false);
  }
  assert.deepEqual(wrong, []);
  await close();
});

/** The contrast of all text with what is behind it, as the WCAG count it; the worst ones. */
async function contrasts(tab) {
  return tab.evaluate(() => {
    const channel = (x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    const light = ([r, g, b]) => 0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
    const parse = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
    const poor = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      if (!walker.currentNode.nodeValue.trim() || !element.checkVisibility() || element.closest('script, svg, .hidden, :disabled, .skip')) continue;
      if (element.closest('label')?.querySelector(':disabled')) continue;
      let behind = element;
      while (behind && (parse(getComputedStyle(behind).backgroundColor)[3] ?? 1) === 0) behind = behind.parentElement;
      const back = behind ? parse(getComputedStyle(behind).backgroundColor) : [255, 255, 255];
      const [a, b] = [light(parse(getComputedStyle(element).color)), light(back)];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < 4.5) poor.push(`${element.tagName}.${element.className} '${walker.currentNode.nodeValue.trim().slice(0, 30)}' ${ratio.toFixed(2)}`);
    }
    return [...new Set(poor)];
  });
}

test('both widths, light and dark: not blank, readable, nothing sticks out', async () => {
  for (const [width, height] of [[1280, 860], [390, 844]]) {
    for (const colorScheme of ['light', 'dark']) {
      const name = `${width}-${colorScheme}`;
      const { tab, wrong, close } = await open(whole, { context: { viewport: { width, height }, colorScheme } });
      await settled(tab);
      assert.equal(await tab.evaluate(() => document.documentElement.dataset.theme), colorScheme);
      const picture = await tab.screenshot({ path: join(pictures, `${name}.png`) });
      const { colours, other } = await variety(tab, picture);
      assert.ok(colours > 100 && other > 0.05, `${name} looks blank: ${colours} colours`);
      if (data.tasks) {
        const view = await variety(tab, await tab.locator('#viewer .view canvas').screenshot());
        assert.ok(view.colours > 20 && view.other > 0.02, `${name}: the 3D view looks blank`);
      }
      await tab.screenshot({ path: join(pictures, `${name}-full.png`), fullPage: true });
      const overflow = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `${name} is ${overflow} px too wide`);
      assert.deepEqual(await contrasts(tab), [], name);
      await tab.click('#theme');
      assert.notEqual(await tab.evaluate(() => document.documentElement.dataset.theme), colorScheme);
      assert.deepEqual(wrong, []);
      await close();
    }
  }
});

// ---- The single gate ----------------------------------------------------------------------------

const row = (venue) => `[data-venue=${JSON.stringify(venue.name)}]`;

gateTest('the single gate has a row a venue: flights from above, counts, frames in order', async () => {
  const { tab, wrong, close } = await open(whole);
  assert.equal(await tab.locator('.venue').count(), data.gate.venues.length);
  for (const venue of data.gate.venues) {
    const text = await tab.textContent(row(venue));
    if (venue.trials) {
      assert.ok(text.includes(`${venue.success} of ${venue.trials} through the gate`), text);
      assert.ok(text.includes(`${venue.crash} crashed, ${venue.timeout} timed out`), text);
    }
    assert.equal(text.includes('zero-shot'), venue.held_out, text);
    assert.equal(await tab.locator(`${row(venue)} svg.facet-figure`).count(), data.figures.some((figure) => figure.id === venue.figure) ? 1 : 0);
    const pictures = await tab.locator(`${row(venue)} .frames img`).evaluateAll((images) =>
      Promise.all(images.map((image) => image.decode().then(() => ({ alt: image.alt, wide: image.naturalWidth })))));
    assert.equal(pictures.length, venue.frames.length);
    pictures.forEach((picture, i) => {
      assert.ok(picture.wide > 0, `${venue.name}: frame ${i + 1} is no picture`);
      assert.ok(picture.alt.includes(`frame ${i + 1} at ${venue.frames[i].time.toFixed(1)} s`), picture.alt);
    });
  }
  const seen = data.gate.venues.filter((venue) => venue.trials && !venue.held_out);
  const sum = (key) => seen.reduce((total, venue) => total + venue[key], 0);
  const result = await tab.textContent(data.tasks ? '.gate-lead .result' : '.lead .result');
  if (seen.length) assert.ok(result.includes(`${sum('success')} of ${sum('trials')} flights`), result);
  assert.deepEqual(wrong, []);
  await close();
});

gateTest('the single gate alone is a whole page, at both widths and in both themes', async () => {
  for (const [width, height] of [[1280, 860], [390, 844]]) {
    for (const colorScheme of ['light', 'dark']) {
      const name = `gate-${width}-${colorScheme}`;
      const { tab, wrong, close } = await open(fill(source, gateAlone(data)), { context: { viewport: { width, height }, colorScheme } });
      assert.equal(await tab.locator('#grid, #viewer, #task, .notice, #notices').count(), 0);
      assert.equal(await tab.locator('.venue').count(), data.gate.venues.length);
      const held = data.gate.venues.find((venue) => venue.held_out && venue.trials);
      if (held) assert.ok((await tab.textContent('.lead')).includes(`${held.success} of ${held.trials} flights`));
      const { colours, other } = await variety(tab, await tab.screenshot({ path: join(pictures, `${name}.png`), fullPage: true }));
      assert.ok(colours > 100 && other > 0.05, `${name} looks blank: ${colours} colours`);
      const overflow = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `${name} is ${overflow} px too wide`);
      assert.deepEqual(await contrasts(tab), [], name);
      const hidden = await tab.locator('.venue').evaluateAll((rows) => rows.filter((part) => {
        const button = part.querySelector('button')?.getBoundingClientRect();
        const title = document.createRange();
        title.selectNodeContents(part.querySelector('h3'));
        return button && [...title.getClientRects()].some((box) => box.right > button.left && box.bottom > button.top && box.top < button.bottom);
      }).length);
      assert.equal(hidden, 0, `${name}: a button covers a title`);
      assert.deepEqual(wrong, []);
      await close();
    }
  }
});

gateTest('the keyboard reaches the flights of the single gate', async () => {
  const { tab, close } = await open(fill(source, gateAlone(data)));
  const tips = [];
  for (let i = 0; i < 60 && tips.length < data.gate.venues.length; i++) {
    await tab.keyboard.press('Tab');
    if (!(await tab.evaluate(() => document.activeElement.matches('.venue [data-tip]')))) continue;
    assert.equal(await tab.isVisible('#tip'), true);
    const first = await tab.textContent('#tip');
    await tab.keyboard.press('ArrowRight');
    tips.push([first, await tab.textContent('#tip')]);
  }
  assert.equal(tips.length, data.gate.venues.length);
  assert.ok(tips.some(([first, second]) => first !== second));
  await close();
});

gateTest('broken parts of the single gate are said, and the rest is shown', async () => {
  const broken = structuredClone(gateAlone(data));
  const [first, second, third] = broken.gate.venues;
  first.frames = [];
  first.shown = null;
  first.trials = null;
  second.frames[1].png = 'iVBORw0KGgo" onerror="alert(1)';
  second.figure = 'nowhere';
  third.success += 1;
  third.low = null;
  third.frames = [{}, null, 7];
  const { tab, wrong, close } = await open(fill(source, broken));
  assert.ok((await tab.textContent(row(first))).includes('no counts'));
  assert.ok((await tab.textContent(row(first))).includes('no camera frames'));
  assert.ok((await tab.textContent(row(second))).includes('no flights to draw'));
  assert.equal(await tab.locator(`${row(second)} img`).count(), second.frames.length - 1);
  assert.ok((await tab.textContent(row(third))).includes('no counts'));
  assert.ok((await tab.textContent('#notices')).includes('a camera frame cannot be read'));
  assert.ok(!(await tab.innerText('body')).match(/\b(NaN|undefined|Infinity|null)\b/));
  for (const gate of [null, [], { venues: [] }, { venues: [null, 3, {}] }, { venues: {} }]) {
    const other = await open(fill(source, { ...broken, gate }));
    assert.ok((await other.tab.textContent('#main')).trim().length > 0);
    assert.deepEqual(other.wrong, []);
    await other.close();
  }
  assert.deepEqual(wrong, []);
  await close();
});

raceTest('without data of the single gate there is no such section', async () => {
  const { gate, ...rest } = data;
  const other = (entry) => entry.group !== 'gate';
  const { tab, wrong, close } = await open(fill(source, { ...rest, figures: data.figures.filter(other), tables: data.tables.filter(other) }));
  assert.equal(await tab.locator('.venue, .gate-lead').count(), 0);
  assert.ok(!(await tab.textContent('nav')).includes('camera'));
  assert.deepEqual(wrong, []);
  await close();
});

// ---- Broken, partial and hostile data -----------------------------------------------------------

const copy = () => structuredClone(data);

for (const [name, text] of [['no data', '{}'], ['broken JSON', '{"format": 1, "tasks": [{'], ['NaN', '{"format": 1, "tasks": NaN}'], ['nothing', ''], ['a list', '[]'], ['another format', '{"format": 99}']]) {
  test(`${name}: one plain message`, async () => {
    const { tab, wrong, close } = await open(fill(source, text));
    assert.equal(await tab.locator('.notice').count(), 1);
    assert.ok((await tab.textContent('.notice')).length > 30);
    assert.equal(await tab.locator('#grid, figure, [data-table]').count(), 0);
    assert.deepEqual(wrong, []);
    await close();
  });
}

raceTest('parts of wrong kinds are left out and the page works', async () => {
  const small = copy();
  small.course.tracks.splice(1);
  small.tasks = small.tasks.filter((task) => task.track === 0);
  small.flights = small.flights.filter((flight) => flight.task < small.tasks.length);
  small.denoising = small.denoising.filter((entry) => entry.task < small.tasks.length);
  small.figures.splice(2);
  const junk = [undefined, null, 'text', [null, 1, 'x', {}, []], { min: 1, tracks: 5 }];
  // Every part is missing once, is a list of rubbish once, and is one of the others in turn.
  const trials = Object.keys(small).filter((key) => key !== 'format').flatMap((part, i) =>
    [...new Set([junk[0], junk[3], junk[i % junk.length]])].map((value) => [part, value]));
  // Only these parts get as far as the 3D stage; the others are quicker without it.
  const staged = ['methods', 'course', 'tasks', 'flights', 'denoising'];
  for (const withStage of [true, false]) {
    const own = withStage ? browser : await launch(flat);
    const { tab, wrong, go, close } = await open(fill(source, small), { browser: own, ignore: /WebGL/, context: { viewport: { width: 390, height: 600 } } });
    for (const [part, value] of trials.filter(([key]) => staged.includes(key) === withStage)) {
      await go(fill(source, { ...small, [part]: value }));
      await tab.waitForSelector('#foot p', { state: 'attached' });
      assert.ok((await tab.textContent('#main')).trim().length > 0);
      assert.deepEqual(wrong, [], `${part}: ${JSON.stringify(value)}`);
    }
    await close();
    if (!withStage) await own.close();
  }
});

raceTest('a missing method, null numbers and missing certificates show plain messages', async () => {
  const partial = copy();
  const gone = partial.main_method;
  const task = partial.tasks.findIndex((entry) => entry.held_out);
  partial.flights = partial.flights.filter((flight) => flight.method !== gone || flight.task !== task);
  for (const flight of partial.flights) {
    flight.error_m = flight.speed_generated = flight.duration = null;
    flight.attitudes = null;
    for (const result of flight.gate_results) result.miss = result.time = null;
  }
  const broken = partial.flights.find((flight) => flight.method !== gone);
  broken.positions[1] = null;
  partial.flights[partial.flights.length - 1].passed = null;
  partial.denoising = [];
  for (const entry of partial.tasks) entry.speed_reference = entry.certified = entry.paper_passed = null;
  partial.tables.push({ id: 'none', group: 'certificates', title: 'None', missing: 'Nothing was certified.' });
  partial.figures.push({ id: 'bad', group: 'certificates', title: 'Bad', caption: '', svg: '<svg><g></svg>' });
  const { tab, wrong, close } = await open(fill(source, partial));
  await tab.click(cell(partial.tasks[task]));
  assert.ok((await tab.textContent(cell(partial.tasks[task]))).includes('no flight'));
  assert.ok((await tab.textContent('#task')).includes('has no flight of this task'));
  assert.equal(await tab.isEnabled('input[name=mode][value=denoising]'), false);
  assert.ok((await tab.textContent('#notices')).includes('cannot be read'));
  assert.ok((await tab.textContent('[data-table=none]')).includes('Nothing was certified.'));
  assert.ok((await tab.textContent('figure[data-figure=bad]')).includes('cannot be read'));
  assert.ok(!(await tab.innerText('body')).match(/\b(NaN|undefined|Infinity)\b/));
  assert.deepEqual(wrong, []);
  await close();
});

raceTest('hostile strings are shown as text and run nothing', async () => {
  const evil = '</script><img src=x onerror="alert(1)"><script>alert(2)</script>';
  const hostile = copy();
  const track = hostile.course.tracks[0];
  track.name = track.description = evil;
  hostile.course.openings[0].name = evil;
  for (const task of hostile.tasks.slice(0, 3)) task.id = `${evil}${task.id}`;
  for (const method of hostile.methods) {
    method.name = method.short = method.description = evil;
    method.color_light = 'red;} * {background:url(https://example.org/x)}';
    method.dash = '"><script>alert(3)</script>';
  }
  hostile.colors.push({ id: 'x}body{display:none', light: '#000000', dark: '#ffffff' });
  hostile.messages = [evil];
  hostile.command = hostile.version = evil;
  for (const source of hostile.sources) source.note = source.name = evil;
  for (const table of hostile.tables) table.title = table.note = table.command = evil;
  for (const flight of hostile.flights) flight.end = evil;
  for (const venue of hostile.gate?.venues ?? []) {
    venue.name = evil;
    venue.shown = { color: evil, gate: evil, side: evil, end: evil, duration: evil };
    venue.frames = ['x" onerror="alert(10)', 'iVBORw0KGgo" onerror="alert(11)', 'https://example.org/i.png', ...venue.frames.map((frame) => frame.png)]
      .map((png, i) => ({ time: i, png }));
  }
  hostile.figures = [
    '<script>alert(4)</script>', '<g onload="alert(5)" onclick="alert(5)"><rect width="9" height="9"/></g>',
    '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><img src="x" onerror="alert(6)"/></body></foreignObject>',
    '<image href="https://example.org/i.png"/>', '<use href="https://example.org/u.svg#a"/>', '<a href="javascript:alert(7)"><text>x</text></a>',
    '<style>@import url(https://example.org/s.css)</style>', '<rect fill="url(https://example.org/f)" width="9" height="9"/>',
    '<rect width="9" height="9" style="background:url(https://example.org/b)" data-tip="&lt;img src=x onerror=alert(8)&gt;"/>',
    '<animate attributeName="href" to="javascript:alert(9)"/>',
  ].map((body, i) => ({ id: `evil-${i}`, group: 'tracks', title: evil, caption: evil, svg: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="alert(0)">${body}</svg>` }));
  // The content policy names the handlers in the figures' text as it stops them; they never get in.
  const { tab, wrong, close } = await open(fill(source, hostile), { ignore: /^Executing inline event handler violates/ });
  await tab.click('#grid button >> nth=1');
  await tab.click('#play');
  await tab.locator('figure [data-tip]').first().focus();
  await tab.waitForTimeout(300);
  assert.equal(await tab.locator('.frames img:not([src^="data:image/png;base64,iVBORw0KGgo"])').count(), 0);
  assert.equal(await tab.locator('img:not(.frames img), iframe, object, embed, foreignObject, figure script, figure a, figure style, animate, image').count(), 0);
  assert.equal(await tab.evaluate(() => [...document.querySelectorAll('figure *')].filter((part) => [...part.attributes].some((a) => /^on|href/i.test(a.name) || /javascript:|https:/i.test(a.value))).length), 0);
  assert.equal(await tab.locator('script').count(), 2);
  assert.ok((await tab.textContent('#grid')).includes(evil));
  assert.ok((await tab.textContent('#tip')).includes('onerror'));
  assert.deepEqual(wrong, []);
  await close();
});

raceTest('without WebGL a plain message stands in the viewer and the rest works', async () => {
  const plain = await launch(flat);
  const { tab, wrong, close } = await open(whole, { browser: plain, ignore: /WebGL/ });
  assert.equal(await tab.getAttribute('#viewer', 'data-webgl'), 'no');
  assert.ok((await tab.textContent('#viewer .view-message')).includes('WebGL'));
  assert.equal(await tab.locator('figure').count(), data.figures.length);
  await tab.click(cell(feasible[0]));
  assert.equal(await tab.getAttribute(cell(feasible[0]), 'aria-pressed'), 'true');
  assert.deepEqual(wrong, []);
  await close();
  await plain.close();
});

// ---- Live ---------------------------------------------------------------------------------------

const liveTest = (name, run) => data.live && test(name, run);
const live = (tab, key) => tab.getAttribute('#live', `data-${key}`);
const taskOf = (result) => data.tasks[result.task];

/** Opens the live tab and waits for its first flight. */
async function openLive(options = {}) {
  const opened = await open(whole, { ...options, context: { reducedMotion: 'reduce', ...options.context } });
  await opened.tab.click('#tab-live');
  await opened.tab.waitForSelector('#live[data-passed]', { timeout: 60_000 });
  return opened;
}

async function chooseLive(tab, task) {
  await tab.selectOption('#live-track', String(task.track));
  await tab.selectOption('#live-opening', String(task.opening));
  assert.equal(await live(tab, 'task'), task.id);
}

liveTest('live: plans as facet sample does, and passes the gates that facet fly passes', async () => {
  const plain = await launch(flat); // numbers alone, and no time for pictures
  const { tab, wrong, close } = await openLive({ browser: plain, ignore: /WebGL/ });
  let same = 0;
  let largest = 0;
  const [times, flights] = [[], []];
  for (const result of data.live.results) {
    await chooseLive(tab, taskOf(result));
    assert.equal(await live(tab, 'held-out'), String(result.held_out));
    const plan = (await live(tab, 'plan')).split(' ').map(Number);
    largest = Math.max(largest, ...plan.map((value, i) => Math.abs(value - result.plan[i])));
    times.push(Number(await live(tab, 'plan-ms')));
    flights.push(Number(await live(tab, 'flight-ms')));
    same += Number(await live(tab, 'passed')) === result.passed ? 1 : 0;
  }
  for (let i = 0; i < 30; i++) { // once the browser has compiled what is hot
    await tab.click('#live-next');
    if (i >= 10) times.push(Number(await live(tab, 'plan-ms')));
  }
  times.splice(0, times.length - 20);
  assert.ok(data.live.results.length || !given, 'the page has no live flights to compare with');
  if (data.live.results.length) {
    for (const list of [times, flights]) list.sort((a, b) => a - b);
    console.log(`        plans differ by ${largest.toExponential(1)} at most; gates agree on ${same} of ${data.live.results.length} tasks; ` +
      `a plan takes ${times[times.length >> 1]} ms (median), ${times[0]} ms at best; a flight at most ${flights.at(-1)} ms`);
    assert.ok(largest < 1e-4, `plans differ by ${largest}`);
    assert.ok(times[0] < 50, `the fastest plan takes ${times[0]} ms: under 20 a second`);
    assert.ok(same >= 0.9 * data.live.results.length, `the gates agree on ${same} tasks alone`);
  }
  assert.deepEqual(wrong, []);
  await close();
  await plain.close();
});

liveTest('live: seed, steps and weights make another plan, and a moved gate is missed', async () => {
  const plain = await launch(flat);
  const { tab, wrong, close } = await openLive({ browser: plain, ignore: /WebGL/ });
  const plans = new Set([await live(tab, 'plan')]);
  const changed = async (act) => {
    await act();
    const plan = await live(tab, 'plan');
    assert.ok(!plans.has(plan), 'the plan did not change');
    plans.add(plan);
  };
  const slide = (id, value) => tab.locator(id).evaluate((input, to) => {
    input.value = to;
    for (const name of ['input', 'change']) input.dispatchEvent(new Event(name, { bubbles: true }));
  }, String(value));
  await changed(() => tab.click('#live-next'));
  await changed(() => slide('#live-steps', 12));
  await changed(() => slide('#live-weight-0', 0.8));
  await changed(() => slide('#live-weight-1', 1.3));
  await tab.click('#live-defaults');
  await tab.fill('#live-seed', String(data.live.seed));
  await tab.locator('#live-seed').press('Enter');
  assert.equal(await live(tab, 'plan'), [...plans][0]); // back to the first, to the bit

  const before = Number(await live(tab, 'passed'));
  await slide('#live-offset-0', 3);
  await slide('#live-offset-2', 1.5);
  await tab.waitForFunction(() => document.querySelector('#live-verdict').textContent.includes('moved'));
  assert.ok(Number(await live(tab, 'passed')) < before, 'a gate far away is still passed');
  await tab.click('#live-back');
  assert.equal(Number(await live(tab, 'passed')), before);
  assert.deepEqual(wrong, []);
  await close();
  await plain.close();
});

liveTest('live: a gate can be dragged, and the flight is seen from noise to its end', async () => {
  const { tab, wrong, close } = await openLive({ context: { viewport: { width: 1280, height: 860 } } });
  const offsets = () => tab.locator('[id^=live-offset]').evaluateAll((inputs) => inputs.map((input) => Number(input.value)));
  // Some gate is under the pointer somewhere: the cursor tells.
  const at = await tab.locator('#live .view').evaluate((view) => {
    const box = view.getBoundingClientRect();
    for (let y = 0.2; y < 0.9; y += 0.04) {
      for (let x = 0.1; x < 0.95; x += 0.03) {
        const place = [box.left + x * box.width, box.top + y * box.height];
        view.dispatchEvent(new PointerEvent('pointermove', { clientX: place[0], clientY: place[1] }));
        if (view.classList.contains('over-gate')) return place;
      }
    }
    return null;
  });
  assert.ok(at, 'no gate is under the pointer anywhere');
  await tab.mouse.move(...at);
  await tab.mouse.down();
  await tab.mouse.move(at[0] + 60, at[1] + 10, { steps: 4 });
  await tab.mouse.up();
  await tab.waitForFunction(() => document.querySelector('#live-verdict').textContent.includes('moved'));
  assert.ok(Math.hypot(...(await offsets())) > 0.2, 'the gate did not follow the pointer');

  const scrub = (value) => tab.locator('#live-scrub').evaluate((input, to) => {
    input.value = to;
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }, String(value));
  await scrub(0);
  assert.match(await tab.textContent('#live-readout'), /^step 0 of/);
  await scrub(1000);
  const [time, end] = (await tab.textContent('#live-readout')).match(/[\d.]+/g).map(Number);
  assert.ok(time > 0 && Math.abs(time - end) < 0.06, `ends at ${time} of ${end}`);
  await scrub(300);
  const place = await live(tab, 'drone');
  await tab.locator('#live canvas').focus();
  await tab.keyboard.press('Space');
  await tab.waitForFunction((before) => document.querySelector('#live').dataset.drone !== before, place);
  assert.deepEqual(wrong, []);
  await close();
});

liveTest('live: both widths and themes, with the keyboard alone', async () => {
  for (const [width, height] of [[1280, 860], [390, 844]]) {
    for (const colorScheme of ['light', 'dark']) {
      const { tab, wrong, close } = await openLive({ context: { viewport: { width, height }, colorScheme } });
      await tab.waitForTimeout(500);
      const name = `live-${width}-${colorScheme}`;
      await tab.screenshot({ path: join(pictures, `${name}.png`) });
      await tab.locator('#live').screenshot({ path: join(pictures, `${name}-whole.png`) });
      const view = await variety(tab, await tab.locator('#live .view canvas').screenshot());
      assert.ok(view.colours > 20 && view.other > 0.02, `${name}: the 3D view looks blank`);
      const overflow = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `${name} is ${overflow} px too wide`);
      assert.deepEqual(await contrasts(tab), [], name);
      await tab.locator('#tab-live').press('ArrowLeft');
      assert.equal(await tab.locator('#live').isVisible(), false);
      assert.equal(await tab.locator('#flights').isVisible(), true);
      await tab.locator('#tab-flights').press('ArrowRight');
      assert.equal(await tab.locator('#live').isVisible(), true);
      const reached = new Set();
      for (let i = 0; i < 24; i++) {
        await tab.keyboard.press('Tab');
        reached.add(await tab.evaluate(() => document.activeElement?.id || document.activeElement?.tagName));
      }
      for (const id of ['live-track', 'live-opening', 'live-seed', 'live-steps', 'live-weight-0', 'live-gate', 'live-offset-2', 'live-play', 'CANVAS']) {
        assert.ok(reached.has(id), `${name}: the keyboard does not reach ${id}`);
      }
      assert.deepEqual(wrong, []);
      await close();
    }
  }
});

raceTest('without WebAssembly there is no live tab, and the rest works', async () => {
  const plain = await launch(flat);
  const context = await plain.newContext({ viewport: { width: 640, height: 700 } });
  const tab = await context.newPage();
  const wrong = [];
  tab.on('pageerror', (error) => wrong.push(error.message));
  await tab.addInitScript('delete globalThis.WebAssembly');
  await tab.goto(write(whole));
  await tab.waitForSelector('#grid button');
  assert.equal(await tab.locator('#live, #tab-live').count(), 0);
  assert.equal(await tab.locator('#flights').isVisible(), true);
  assert.deepEqual(wrong, []);
  await context.close();
  await plain.close();
});

// ---- Running ------------------------------------------------------------------------------------

let passed = 0;
let failed = 0;
const begun = Date.now();
const only = (process.env.FACET_ONLY ?? '').split('|'); // each part is of some test's name
for (const part of only) {
  if (tests.some(([name]) => name.includes(part))) continue;
  failed++;
  console.log(`FAILED  no test of this page has '${part}' in its name`);
}

/** Runs tests until none is left; each has tabs of its own, so that two can run at once. */
async function work(queue) {
  for (const [name, run] of queue) {
    const start = Date.now();
    try {
      await run();
      passed++;
      console.log(`ok      ${name} (${Date.now() - start} ms)`);
    } catch (error) {
      failed++;
      console.log(`FAILED  ${name}\n        ${String(error?.message ?? error).split('\n').join('\n        ')}`);
      if (process.env.FACET_TRACE) console.log(error.stack);
    }
  }
}
const queue = tests.filter(([name]) => only.some((part) => name.includes(part))).values();
await Promise.all([work(queue), work(queue)]);
await browser.close();
rmSync(folder, { recursive: true, force: true });
console.log(`pictures in out/web, ${((Date.now() - begun) / 1000).toFixed(0)} s`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
