import { resolve } from 'node:path';
import { readFlags } from '#scripts/read-flags.ts';
import { startDeployment, stopDeployments } from './deployment/deployment.ts';
import { seedFleet } from './fleet/seed-fleet.ts';
import { Agents } from './load/agents.ts';
import { million } from './million/million.ts';
import { writeResults } from './print/results.ts';
import { tableOf } from './print/table.ts';
import { executions } from './sections/executions.ts';
import { fleet } from './sections/fleet.ts';
import { held } from './sections/held.ts';
import { poll } from './sections/poll.ts';
import { recovery } from './sections/recovery.ts';
import { report } from './sections/report.ts';
import { rolloutParts, rollouts } from './sections/rollouts.ts';
import type { Figure, Section } from './sections/section.ts';
import { services } from './sections/services.ts';
import { topology } from './sections/topology.ts';
import { stock } from './stock/stock.ts';

const sections: Readonly<Record<string, Section>> = {
  ...{ poll, report, held, fleet, executions, recovery },
  ...{ rollouts, topology, services },
};
/** Sections that run only if they are named. */
const named: Readonly<Record<string, Section>> = { ...sections, ...rolloutParts };

const usage = `usage: npm run bench [-- FLAGS]
       npm run bench -- --million [--minutes N] [--vms N] [--connections N] [--seed WORD] [--json FILE]
       npm run bench -- --stock [--vms N] [--rounds N] [--seconds N] [--json FILE]

Measures this version on a separate database that is deleted afterwards: each figure together with a baseline in the
same run. Run nothing else on the machine at the same time.
  --only NAMES     some of: ${Object.keys(sections).join(', ')};
                   or parts: ${Object.keys(rolloutParts).join(', ')}
  --rounds N       how often figure and baseline are measured in turn (5)
  --seconds N      duration of one measurement (3)
  --vms N          VMs in the fleet (10000)
  --seed WORD      seed of credentials and of all random values (annex)
  --json FILE      file for the figures; by default a new file in bench/results
  --profile FOLDER folder for a CPU profile of the gateway, written when it exits; profiling lowers the figures

The headline run: 1,000,000 VMs report at the usual rate. Needs 15 GB of disk and several minutes before it begins.
  --minutes N      duration (10), after a warm-up of four and a half minutes in which every agent calls twice
  --connections N  keep-alive connections that all agents share (512)

Stock Azure Linux agents: with --stock, 1,000 idle agents (--vms) call one gateway every six seconds, in 3 rounds of 60 seconds.`;

const values = readFlags(usage, {
  options: {
    only: { type: 'string', default: Object.keys(sections).join(',') },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    vms: { type: 'string' },
    million: { type: 'boolean', default: false },
    stock: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '10' },
    connections: { type: 'string', default: '512' },
    seed: { type: 'string', default: 'annex' },
    json: { type: 'string' },
    profile: { type: 'string' },
  },
});

const say = (line: string): void => console.log(`Bench: ${line}`);

async function runMillion(): Promise<void> {
  const { seed, json } = values;
  const [vms, minutes, connections] = [
    Number(values.vms ?? 1_000_000),
    Number(values.minutes),
    Number(values.connections),
  ];
  const isMet = await million({ vms, minutes, connections, seed, json, say });
  if (!isMet) process.exitCode = 1;
}

async function runStock(): Promise<void> {
  const [vms, rounds, seconds] = [
    Number(values.vms ?? 1_000),
    Number(values.rounds ?? 3),
    Number(values.seconds ?? 60),
  ];
  if (!(await stock({ vms, rounds, seconds, json: values.json, say }))) process.exitCode = 1;
}

async function runSections(): Promise<void> {
  const names = values.only.split(',');
  const unknown = names.filter((name) => named[name] === undefined);
  if (unknown.length > 0) throw new Error(`There is no section ${unknown.join(', ')}.\n\n${usage}`);
  const environment: Record<string, string> =
    values.profile === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${resolve(values.profile)}` };
  const deployment = await startDeployment({ environment, say });
  const seeded = await seedFleet(deployment.services, { vms: Number(values.vms ?? 10_000), seed: values.seed, say });
  const agents = new Agents({ count: seeded.vms, seed: seeded.seed, etag: seeded.etag, run: `bench-${process.pid}` });
  const figures: Figure[] = [];
  for (const name of names) {
    say(`${name} …`);
    const bench = { deployment, agents, rounds: Number(values.rounds ?? 5), seconds: Number(values.seconds ?? 3), say };
    figures.push(...((await named[name]?.(bench)) ?? []));
  }
  const file = await writeResults(deployment.services.db.$client, 'bench', { options: values, figures }, values.json);
  console.log(`\n${tableOf(figures)}\n\nin full: ${file}`);
}

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'] as const) {
  process.on(name, () => void stopDeployments().finally(() => process.exit(130)));
}
await (values.million ? runMillion() : values.stock ? runStock() : runSections())
  .catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  })
  .finally(stopDeployments);
// Exits explicitly, because the open channel to the parent process would keep this process running.
process.exit();
