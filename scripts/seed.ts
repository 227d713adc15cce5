import { ConfigError } from '#server/platform/env.ts';
import { readFlags } from './read-flags.ts';
import { seedHandlers } from './seed/catalogue.ts';
import { keepAlive } from './seed/keep-alive.ts';
import { openHere } from './seed/open.ts';
import { SeedError, seed } from './seed/seed.ts';

const usage = `usage: npm run seed -- --vms NUMBER [--extensions 1…${seedHandlers.length}] [--more] [--keep-alive]
       npm run seed -- --keep-alive

Fills this portal's database (DATABASE_URL, or the embedded one in DATA_DIR) with a sample fleet.
  --more         adds to the VMs of an earlier seed
  --keep-alive   keeps running and sends reports for the VMs, which otherwise become unresponsive after ten minutes`;

function readOptions() {
  const values = readFlags(usage, {
    options: {
      vms: { type: 'string' },
      extensions: { type: 'string', default: '3' },
      more: { type: 'boolean', default: false },
      'keep-alive': { type: 'boolean', default: false },
    },
  });
  const vms = values.vms === undefined ? 0 : Number(values.vms);
  const extensions = Number(values.extensions);
  const isWhole = (value: number, from: number, to: number): boolean =>
    Number.isSafeInteger(value) && value >= from && value <= to;
  const asked = values.vms !== undefined || values['keep-alive'];
  if (!asked || !isWhole(vms, values.vms === undefined ? 0 : 1, 1_000_000)) throw new SeedError(usage);
  if (!isWhole(extensions, 1, seedHandlers.length)) throw new SeedError(usage);
  return { vms, extensions, more: values.more, keepAlive: values['keep-alive'] };
}

const say = (line: string): void => console.log(`Seed: ${line}`);

async function main(): Promise<void> {
  const options = readOptions();
  const { services, close } = await openHere();
  try {
    if (options.vms > 0) await seed(services, { ...options, say });
    if (!options.keepAlive) return;
    const stopping = new AbortController();
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
    say('reporting for the VMs. Press Ctrl-C to stop.');
    await keepAlive(services, stopping.signal);
  } finally {
    await close();
  }
}

main().catch((error: unknown) => {
  const known = error instanceof SeedError || error instanceof ConfigError;
  console.error(known ? error.message : error);
  process.exitCode = known ? 2 : 1;
});
