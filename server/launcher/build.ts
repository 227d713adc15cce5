import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { childEnvironment } from '#server/platform/env.ts';
import { waitUntil } from '#server/platform/processes.ts';
import { LockedError, takeLock } from './lock.ts';

/** Sources of the built pages. The domain is included because the pages' forms use its input schemas. */
const sources = ['app', 'locales', 'protocol', 'public', 'server/domain'];
const files = ['next.config.ts', 'package-lock.json', 'postcss.config.mjs', 'tsconfig.json'];

/**
 * Builds the pages if their sources have changed since the last build. If several processes start concurrently, they
 * build one at a time.
 */
export async function buildPages(root: string, say: (line: string) => void): Promise<void> {
  const marker = join(root, '.next', 'annex-sources');
  const isBuilt = async (wanted: string): Promise<boolean> =>
    (await readFile(marker, 'utf8').catch(() => '')) === wanted;
  if (await isBuilt(await sourcesDigest(root))) return;
  const unlock = await waitForLock(join(root, 'node_modules', '.cache', 'annex', 'build.lock'));
  try {
    const wanted = await sourcesDigest(root);
    if (await isBuilt(wanted)) return;
    const done = showProgress(say);
    await rm(marker, { force: true });
    await nextBuild(root).finally(done.stop);
    await mkdir(join(root, '.next'), { recursive: true });
    await writeFile(marker, wanted);
    say(`Pages built in ${done.seconds()} s.`);
  } finally {
    await unlock();
  }
}

/** Prints progress messages, because the build itself may print nothing for minutes. */
function showProgress(say: (line: string) => void): { stop(): void; seconds(): number } {
  const started = performance.now();
  const seconds = (): number => Math.round((performance.now() - started) / 1000);
  say('Building the pages, once for each version. This takes 15 seconds or more …');
  const timer = setInterval(() => say(`Still building the pages (${seconds()} s) …`), 20_000);
  return { stop: () => clearInterval(timer), seconds };
}

async function waitForLock(file: string): Promise<() => Promise<void>> {
  let unlock: (() => Promise<void>) | undefined;
  await waitUntil(async () => {
    try {
      unlock = await takeLock(file);
    } catch (error) {
      if (!(error instanceof LockedError)) throw error;
    }
    return unlock !== undefined;
  }, 300_000);
  if (unlock === undefined)
    throw new Error('Another start has been building the pages for five minutes. End it, then start again.');
  return unlock;
}

async function sourcesDigest(root: string): Promise<string> {
  const hash = createHash('sha256');
  const found = await Promise.all(sources.map((folder) => filesBelow(root, folder)));
  for (const file of [...files, ...found.flat().filter((name) => !/\.test\.tsx?$/.test(name))].sort()) {
    const bytes = await readFile(join(root, file)).catch(() => Buffer.alloc(0));
    hash.update(`${file}\n${bytes.length}\n`).update(bytes);
  }
  return hash.digest('hex');
}

async function filesBelow(root: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
}

/** Runs `next build`. Prints its output only if the build fails. */
async function nextBuild(root: string): Promise<void> {
  const child = spawn(process.execPath, [join(root, 'node_modules', 'next', 'dist', 'bin', 'next'), 'build'], {
    cwd: root,
    env: childEnvironment('build'),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk));
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`The pages could not be built.\n${Buffer.concat(output).toString()}`);
}
