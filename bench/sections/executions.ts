import { agentRows } from '../executions/agent-rows.ts';
import { begun } from '../executions/begun.ts';
import { plan, planSha256 } from '../executions/bench-plan.ts';
import { cycles } from '../executions/cycles.ts';
import { lists } from '../executions/lists.ts';
import { unchangedPolls } from '../executions/polls.ts';
import { repeats } from '../executions/repeats.ts';
import { transcripts } from '../executions/transcripts.ts';
import type { Bench, Figure } from './section.ts';

/** Measures the cost of executions: for polls, the agents' API, the database, and the machine. */
export async function executions(bench: Bench): Promise<Figure[]> {
  const client = bench.deployment.services.db.$client;
  await client.query('insert into execution_plans values ($1, $2, now())', [planSha256, plan]);
  return [
    await unchangedPolls(bench),
    await begun(bench),
    await cycles(bench),
    ...(await transcripts(bench)),
    await repeats(bench),
    await lists(bench),
    ...(await agentRows(bench)),
  ];
}
