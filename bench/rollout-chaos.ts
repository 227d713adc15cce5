import { readFlags } from '#scripts/read-flags.ts';
import { startDeployment, stopDeployments } from './deployment/deployment.ts';
import { seedFleet } from './fleet/seed-fleet.ts';
import { writeResults } from './print/results.ts';
import { runRolloutChaos } from './rollouts/chaos/run-rollout-chaos.ts';

const usage = `usage: npm run rollout-chaos [-- FLAGS]

Runs a rollout of a whole fleet in four rings, while the worker and the database are killed every few seconds. Agents
poll and report over HTTP. Afterwards checks that no VM got two goal states of one attempt, that no availability set had
two VMs out of service, that every step has the outcome that its agent reported, and that the counts add up. Exits with
1 otherwise.
  --vms N        VMs in the fleet (1000)
  --every N      seconds between two kills, on average (5)
  --minutes N    maximum duration (60)
  --seed WORD    determines which processes are killed when (annex)
  --json FILE    file for the figures; by default a new file in bench/results`;

const values = readFlags(usage, {
  options: {
    vms: { type: 'string', default: '1000' },
    every: { type: 'string', default: '5' },
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: 'annex' },
    json: { type: 'string' },
  },
});

const say = (line: string): void => console.log(`Rollout chaos: ${line}`);
const shown = 10;

async function main(): Promise<void> {
  const deployment = await startDeployment({ quiet: true, say: () => {} });
  const { services } = deployment;
  const fleet = await seedFleet(services, { vms: Number(values.vms), seed: values.seed, say });
  const [everySeconds, minutes] = [Number(values.every), Number(values.minutes)];
  const result = await runRolloutChaos({ deployment, fleet, everySeconds, minutes, say });
  const file = await writeResults(services.db.$client, 'rollout-chaos', { options: values, ...result }, values.json);
  const { state, seconds, kills, steps, published, recalled, answered, failures, problems } = result;
  const list = Object.entries(steps).map(([name, count]) => `${count} ${name}`);
  console.log(
    [
      '',
      `${state} after ${seconds.toFixed(0)} s, ${kills.worker} kills of the worker, ${kills.database} of the database`,
      `steps: ${list.join(', ')}; ${published} goal states published, ${recalled} recalled`,
      `${answered} goal states fetched and reported on, ${failures} failed calls sent again`,
      `problems: ${problems.length}`,
      ...problems.slice(0, shown).map((problem) => `  ${problem}`),
      '',
      `in full: ${file}`,
    ].join('\n'),
  );
  if (problems.length > 0) process.exitCode = 1;
}

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'] as const) {
  process.on(name, () => void stopDeployments().finally(() => process.exit(130)));
}
await main()
  .catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  })
  .finally(stopDeployments);
// Exits explicitly, because the open channel to the parent process would keep this process running.
process.exit();
