import { watch } from 'node:fs';
import path from 'node:path';
import { loadConfig } from '#server/platform/env.ts';
import { exitWith, root, runInForeground, say } from './foreground.ts';
import { readFlags } from './read-flags.ts';

const usage = `Starts the portal, the agent gateway, the worker and the database for development. Press Ctrl-C to stop them.

  npm run dev
      Pages reload when a file in app/ changes; the processes restart when server code changes.

docs/operations.md lists the environment variables.`;

/**
 * Folders of code and texts that the portal, gateway and worker load only when they start. Next.js itself watches the
 * pages' files.
 */
const watched = ['server', 'protocol', 'db', 'locales'];
/** How long to wait for more changes, because editors and Git write several files at a time. */
const settleMs = 200;

const isSource = (file: string): boolean => /\.(ts|json)$/.test(file) && !/\.(test|spec)\.ts$/.test(file);

/** Calls `act` with the last changed file after a burst of changes, but never while the previous call is running. */
function onChange(act: (file: string) => Promise<void>): void {
  let changed: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let acting = false;
  const settle = async (): Promise<void> => {
    if (acting || changed === undefined) return;
    acting = true;
    const file = changed;
    changed = undefined;
    await act(file).catch(exitWith);
    acting = false;
    await settle();
  };
  for (const folder of watched) {
    watch(path.join(root, folder), { recursive: true }, (_event, name) => {
      if (name === null || !isSource(name)) return;
      changed = path.join(folder, name);
      clearTimeout(timer);
      timer = setTimeout(() => void settle(), settleMs);
    });
  }
}

async function main(): Promise<void> {
  readFlags(usage, { options: {} });
  await runInForeground({
    config: loadConfig(),
    development: true,
    async whenReady({ restart }) {
      onChange(async (file) => {
        say(`${file} changed; restarting portal, gateway and worker.`);
        await restart();
      });
    },
  });
}

main().catch(exitWith);
