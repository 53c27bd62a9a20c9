// Debian's Chromium without a window, with WebGL drawn in software.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const places = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export async function launch(extra = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader']) {
  const executablePath = places.find((place) => place && existsSync(place));
  if (!executablePath) throw new Error('no Chromium: install Debian\'s package chromium, or name one in CHROMIUM');
  return chromium.launch({ executablePath, args: ['--no-sandbox', ...extra] });
}
