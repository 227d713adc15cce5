import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readFlags } from '#scripts/read-flags.ts';
import { provideTestPrograms } from '#server/testing/programs.ts';
import { root, startDeployment, stopDeployments } from './deployment/deployment.ts';
import { writeResults } from './print/results.ts';
import { runSoak } from './soak/run-soak.ts';

const usage = `usage: npm run soak [-- FLAGS]

Runs real agent processes while their goal states and the settings of their units' services change at random,
executions are queued, and agents, gateway, worker and database are killed with kill -9. Exits with 1 if a VM does not
reach its goal, a handler was called out of order, the portal's settings of a unit differ from what its hooks wrote
down, or an execution does not succeed with each of its calls run once.
  --minutes N    duration (60)
  --agents N     number of VMs (10)
  --agent PATH   checkout of Annex whose agent runs, with its packages installed (this one)
  --seed WORD    determines which goals change and what is killed when (annex)
  --json FILE    file for the figures; by default a new file in bench/results`;

const values = readFlags(usage, {
  options: {
    minutes: { type: 'string', default: '60' },
    agents: { type: 'string', default: '10' },
    agent: { type: 'string' },
    seed: { type: 'string', default: 'annex' },
    json: { type: 'string' },
  },
});

const agentRoot = resolve(values.agent ?? root);
if (!existsSync(join(agentRoot, 'agent/main.ts'))) {
  console.error(`${agentRoot} has no agent/main.ts. Pass the root of a checkout of Annex to --agent.`);
  process.exit(2);
}

const say = (line: string): void => console.log(`Soak: ${line}`);
const undo = new Set<() => Promise<unknown>>();

async function main(): Promise<void> {
  // Handlers need openssl to decrypt their settings.
  await provideTestPrograms();
  const deployment = await startDeployment({ worker: true, quiet: true, say: () => {} });
  const { minutes, agents, seed } = values;
  const result = await runSoak({
    deployment,
    minutes: Number(minutes),
    agents: Number(agents),
    agentRoot,
    seed,
    undo,
    say,
  });
  const {
    changes,
    settings,
    executions,
    kills,
    calls,
    settledAfter,
    outOfOrder,
    notAtGoal,
    endedByThemselves,
    folder,
  } = result;
  const file = await writeResults(deployment.services.db.$client, 'soak', { options: values, ...result }, values.json);
  const some = (lines: string[]): string =>
    lines
      .slice(0, 20)
      .map((line) => `\n  ${line}`)
      .join('');
  console.log(
    [
      '',
      `${changes} changes of goal states and ${settings} of settings in ${result.minutes.toFixed(1)} minutes, ${calls} calls of handlers`,
      `${executions} executions of five calls`,
      `kill -9: ${Object.entries(kills)
        .map(([what, count]) => `${count} × ${what}`)
        .join(', ')}`,
      settledAfter === null
        ? 'never all at their goal'
        : `all at their goal ${settledAfter.toFixed(1)} s after the last change`,
      `out of order: ${outOfOrder.length}${some(outOfOrder)}`,
      `not at their goal: ${notAtGoal.length}${some(notAtGoal)}`,
      `agents that exited on their own: ${endedByThemselves}`,
      '',
      `in full: ${file}`,
    ].join('\n'),
  );
  if (outOfOrder.length + notAtGoal.length + endedByThemselves > 0) {
    process.exitCode = 1;
    console.log(`The machines' folders stay in ${folder}.`);
  } else rmSync(folder, { recursive: true, force: true });
}

async function close(): Promise<void> {
  for (const act of undo) await act();
  await stopDeployments();
}

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'] as const) {
  process.on(name, () => void close().finally(() => process.exit(130)));
}
await main()
  .catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  })
  .finally(close);
// Exits explicitly, because the open channel to the parent process would keep this process running.
process.exit();
