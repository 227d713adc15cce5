import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import type { LaunchOptions } from '@playwright/test';
import { inflate } from '@sparticuz/chromium';

const require = createRequire(import.meta.url);

/**
 * The packed browser and what it needs in addition to libc: NSS in `al2023`, a font and its configuration, software GL.
 */
const parts = ['chromium.br', 'al2023.tar.br', 'fonts.tar.br', 'swiftshader.tar.br'];

/**
 * Returns the options for starting Chromium in tests: the browser at CHROMIUM_PATH, or the browser from npm. The
 * browser from npm needs no system libraries except libc, and is unpacked once per version into the system's temporary
 * folder.
 */
export async function chromiumLaunch(): Promise<LaunchOptions> {
  const args = [
    '--no-sandbox',
    // Pages are short-lived, so optimizing their scripts would take longer than it saves.
    '--js-flags=--no-opt --no-maglev',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--font-render-hinting=none',
  ];
  if (process.env.CHROMIUM_PATH) return { executablePath: process.env.CHROMIUM_PATH, args };
  const folder = await unpacked();
  return {
    executablePath: path.join(folder, 'chromium'),
    args,
    env: {
      ...definedEnvironment(),
      LD_LIBRARY_PATH: [path.join(folder, 'al2023', 'lib'), process.env.LD_LIBRARY_PATH].filter(Boolean).join(':'),
      ...(existsSync('/etc/fonts/fonts.conf') ? {} : { FONTCONFIG_PATH: path.join(folder, 'fonts') }),
    },
  };
}

/**
 * Unpacks the browser into a temporary folder and then renames the folder, so that a killed run leaves no partial
 * browser.
 */
async function unpacked(): Promise<string> {
  const home = path.resolve(require.resolve('@sparticuz/chromium'), '../..');
  const { version } = require(path.join(home, 'package.json')) as { version: string };
  const folder = path.join(tmpdir(), `annex-chromium-${version}-${userInfo().uid}`);
  if (existsSync(folder)) return folder;

  const temporary = mkdtempSync(`${folder}.`);
  const previous = process.env.TMPDIR;
  // The package unpacks into the folder that TMPDIR names.
  process.env.TMPDIR = temporary;
  try {
    await Promise.all(parts.map((part) => inflate(path.join(home, 'bin', part))));
  } finally {
    if (previous === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = previous;
  }
  // The package's configuration names folders of another platform.
  const fonts = `<dir>${path.join(folder, 'fonts')}</dir><cachedir>${path.join(folder, 'font-cache')}</cachedir>`;
  writeFileSync(path.join(temporary, 'fonts', 'fonts.conf'), `<?xml version="1.0"?><fontconfig>${fonts}</fontconfig>`);
  try {
    renameSync(temporary, folder);
  } catch (error) {
    // Another run may have created the folder first.
    rmSync(temporary, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

function definedEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
