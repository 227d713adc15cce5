import { readFlags } from '#scripts/read-flags.ts';
import { runChaos } from './chaos/run-chaos.ts';
import { openSmallDisk, type SmallDisk } from './chaos/small-disk.ts';
import { startDeployment, stopDeployments } from './deployment/deployment.ts';
import { seedFleet } from './fleet/seed-fleet.ts';
import { writeResults } from './print/results.ts';

const usage = `usage: npm run chaos [-- FLAGS]

Sends reports to two gateways on one database while processes are killed, the database stalls, the disk fills up and
connections are closed. Afterwards checks every acknowledged report. Exits with 1 if one is missing.
  --kills N      number of processes to kill (100)
  --minutes N    maximum duration (60)
  --vms N        VMs in the fleet (2000)
  --seed WORD    determines which failures occur when (annex)
  --json FILE    file for the figures; by default a new file in bench/results`;

const values = readFlags(usage, {
  options: {
    kills: { type: 'string', default: '100' },
    minutes: { type: 'string', default: '60' },
    vms: { type: 'string', default: '2000' },
    seed: { type: 'string', default: 'annex' },
    json: { type: 'string' },
  },
});

const say = (line: string): void => console.log(`Chaos: ${line}`);
const undo = new Set<() => void>();
let disk: SmallDisk | undefined;

async function main(): Promise<void> {
  disk = openSmallDisk();
  if (disk.fill === null) say('this user may not mount a file system: the disk is not filled in this run.');
  const deployment = await startDeployment({
    gateways: 2,
    worker: true,
    folder: disk.folder,
    quiet: true,
    say: () => {},
  });
  const fleet = await seedFleet(deployment.services, { vms: Number(values.vms), seed: values.seed, say });
  const { kills, minutes } = values;
  const result = await runChaos({ deployment, fleet, disk, undo, say, kills: Number(kills), minutes: Number(minutes) });
  const { lost, behind, twice, acknowledged, unacknowledged, faults, errors } = result;
  const file = await writeResults(deployment.services.db.$client, 'chaos', { options: values, ...result }, values.json);
  const list = (counts: Record<string, number>): string =>
    Object.entries(counts)
      .map(([what, count]) => `${count} × ${what}`)
      .join(', ') || 'none';
  console.log(
    [
      '',
      `${acknowledged} reports acknowledged in ${result.minutes.toFixed(1)} minutes, ${unacknowledged} not in the end`,
      `${result.kills} kills. Problems: ${list(faults)}`,
      `failed calls, sent again: ${list(errors)}`,
      `longest time without an acknowledgement: ${result.longestOutage.toFixed(1)} s (${result.longestOutageDuring})`,
      `stored ${result.stored}, of these twice: ${twice}`,
      `acknowledged and lost: ${lost.length}${lost.length > 0 ? ` (${lost.slice(0, 5).join('; ')} …)` : ''}`,
      `shown behind what was acknowledged: ${behind.length}${behind.length > 0 ? ` (${behind.slice(0, 5).join('; ')} …)` : ''}`,
      '',
      `in full: ${file}`,
    ].join('\n'),
  );
  if (lost.length + behind.length + unacknowledged > 0) process.exitCode = 1;
}

async function close(): Promise<void> {
  for (const act of undo) act();
  await stopDeployments();
  disk?.remove();
}

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'] as const) {
  process.on(name, () => void close().finally(() => process.exit(130)));
}
await main()
  .catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  })
  .finally(close);
// Exits explicitly, because the open channel to the parent process would keep this process running.
process.exit();
