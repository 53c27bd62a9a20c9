// Takes pictures of a page at both widths and in both themes, for people to look at.
//   node tests/shots.mjs PAGE FOLDER
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch } from './browser.mjs';

const [page, folder] = process.argv.slice(2);
if (!page || !folder) {
  console.error('usage: node tests/shots.mjs PAGE FOLDER');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
const browser = await launch();
for (const [width, height] of [[1280, 860], [390, 844]]) {
  for (const colorScheme of ['light', 'dark']) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme });
    const tab = await context.newPage();
    await tab.goto(pathToFileURL(resolve(page)).href);
    await tab.waitForTimeout(700);
    const name = `${folder}/${width}-${colorScheme}`;
    await tab.screenshot({ path: `${name}.png` });
    await tab.screenshot({ path: `${name}-full.png`, fullPage: true });
    await context.close();
  }
}
await browser.close();
