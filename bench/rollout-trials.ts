import { readFlags } from '#scripts/read-flags.ts';
import { startDeployment, stopDeployments } from './deployment/deployment.ts';
import { seedFleet } from './fleet/seed-fleet.ts';
import { numberFrom, randomFrom } from './load/schedule.ts';
import { writeResults } from './print/results.ts';
import { falseAlarmRate, pairsUntilSeen } from './rollouts/trials/calculated.ts';
import { type RolloutTrial, runTrial } from './rollouts/trials/run-trial.ts';
import type { FailureRates } from './rollouts/trials/simulated-fleet.ts';
import { median } from './sections/section.ts';

const usage = `usage: npm run rollout-trials [-- FLAGS]

Runs rollouts of a bad version and of a good version over simulated VMs, in simulated time. The strategy is "careful",
but only the comparison with unchanged VMs can stop a rollout. Prints how many rollouts it stopped, next to calculated
figures.
  --runs N       rollouts of each version (20)
  --vms N        VMs in the fleet (2000)
  --bad N        percent of changed VMs that fail because of the bad version (20)
  --others N     percent of VMs that fail for other reasons meanwhile, during the rollout of the bad version (1)
  --good N       the same during the rollout of the good version, for changed and unchanged VMs alike (5)
  --only WHICH   bad or good
  --seed WORD    seed of all random values, except the order of the VMs (annex)
  --json FILE    file for the figures; by default a new file in bench/results`;

const values = readFlags(usage, {
  options: {
    runs: { type: 'string', default: '20' },
    vms: { type: 'string', default: '2000' },
    bad: { type: 'string', default: '20' },
    others: { type: 'string', default: '1' },
    good: { type: 'string', default: '5' },
    only: { type: 'string' },
    seed: { type: 'string', default: 'annex' },
    json: { type: 'string' },
  },
});

const say = (line: string): void => console.log(`Trials: ${line}`);
const [runs, bad, others, good] = [values.runs, values.bad, values.others, values.good].map(Number) as [
  number,
  number,
  number,
  number,
];
/** Rings of the strategy in which VMs of later rings can be watched. */
const rings = 3;

async function main(): Promise<void> {
  const deployment = await startDeployment({ quiet: true, say: () => {} });
  const { services } = deployment;
  await seedFleet(services, { vms: Number(values.vms), seed: values.seed, say });
  const run = async (version: 'bad' | 'good', rates: FailureRates): Promise<RolloutTrial[]> => {
    const trials: RolloutTrial[] = [];
    for (let n = 1; n <= runs && (values.only ?? version) === version; n += 1) {
      const began = performance.now();
      const random = randomFrom(numberFrom(`${values.seed} ${version} ${n}`));
      const trial = await runTrial({ services, rates, random });
      trials.push(trial);
      const { state, changed, pairs, changedFirst, controlFirst, hours } = trial;
      const took = `${hours.toFixed(1)} h in ${((performance.now() - began) / 1_000).toFixed(0)} s`;
      say(
        `${version} version ${n}: ${state} after ${changed} VMs, ${pairs} pairs, last ring ${changedFirst}:${controlFirst}, ${took}`,
      );
    }
    return trials;
  };
  const [ofBad, ofGood] = [
    await run('bad', { changed: bad / 100, others: others / 100 }),
    await run('good', { changed: 0, others: good / 100 }),
  ];
  const trials = { bad: ofBad, good: ofGood };
  const file = await writeResults(services.db.$client, 'rollout-trials', { options: values, trials }, values.json);
  console.log(['', ...summaryOfBad(ofBad), ...summaryOfGood(ofGood), '', `in full: ${file}`].join('\n'));
}

const isStopped = ({ state, why }: RolloutTrial): boolean => state === 'paused' && why.includes('worse_than_control');

function summaryOfBad(trials: readonly RolloutTrial[]): string[] {
  if (trials.length === 0) return [];
  const stopped = trials.filter(isStopped);
  const changed = stopped.map((trial) => trial.changed);
  const random = randomFrom(numberFrom(values.seed));
  const calculated = pairsUntilSeen({
    ...{ rings, random, others: others / 100 },
    changed: 1 - (1 - bad / 100) * (1 - others / 100),
  });
  return [
    `bad version, ${bad} % of changed and ${others} % of other VMs fail: stopped in ${stopped.length} of ${trials.length}`,
    `  VMs changed until then: median ${median(changed)}, worst ${Math.max(0, ...changed)} of ${values.vms}`,
    `  pairs until then: median ${median(stopped.map(({ pairs }) => pairs))}, of all rings`,
    `  calculated for one ring without delay: median ${calculated.median} pairs, worst ${calculated.worst} in 1,000`,
  ];
}

function summaryOfGood(trials: readonly RolloutTrial[]): string[] {
  if (trials.length === 0) return [];
  const alarms = trials.filter(isStopped).length;
  const ended = trials.filter(({ state }) => state === 'finished').length;
  const rate = falseAlarmRate(rings, 600);
  const all = 1 - (1 - rate) ** rings;
  return [
    `good version, ${good} % of all VMs fail: ${alarms} false alarms in ${trials.length}, ${ended} finished`,
    `  calculated: at most ${(100 * rate).toFixed(1)} % a ring and ${(100 * all).toFixed(1)} % a rollout,`,
    `  so at most ${(all * trials.length).toFixed(1)} expected in ${trials.length}`,
  ];
}

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'] as const) {
  process.on(name, () => void stopDeployments().finally(() => process.exit(130)));
}
await main()
  .catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  })
  .finally(stopDeployments);
// Exits explicitly, because the open channel to the parent process would keep this process running.
process.exit();
