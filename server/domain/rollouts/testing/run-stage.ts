import { and, asc, eq } from 'drizzle-orm';
import { executions } from '#db/schema/index.ts';
import { executionEnvelope } from '#protocol/executions/index.ts';
import { handOutNext, noteProgress, takeResult } from '#server/domain/executions/index.ts';
import { resultOf } from '#server/domain/executions/testing/example.ts';
import type { RolloutChange } from '#server/domain/rollout-rules/stored.ts';
import { givenRunbook } from '#server/domain/runbooks/testing/given-runbook.ts';
import { testContext } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { type GivenRollout, rolloutStage } from './rollout-stage.ts';

/** A fleet whose agents run a runbook for rollouts, at times that the test chooses. */
export async function runStage() {
  const stage = await rolloutStage();
  const { db, services, at, as } = stage;
  const admin = await testContext({ services, role: 'admin' });
  const { name: runbook, version } = await givenRunbook(admin, { parameters: null, title: 'Greet' });

  const run: Partial<RolloutChange> = {
    ...{ kind: 'run', handler: null, version },
    run: { runbook, parameters: {}, secretParameters: [], timeoutSeconds: 600, validForSeconds: 86_400 },
  };

  /** Creates VMs whose agents call for weeks. */
  async function givenAgents(count: number, tags: Record<string, string> = {}): Promise<GivenVm[]> {
    const fleet: GivenVm[] = [];
    for (let n = 0; n < count; n += 1) {
      const vm = await givenVm(services, 'run');
      fleet.push(vm);
      await stage.hear(vm, -60);
      if (Object.keys(tags).length > 0) await stage.setTags(vm, tags);
    }
    await stage.fold(-60);
    return fleet;
  }

  /** A running rollout of the runbook. */
  const givenRun = (vms: readonly GivenVm[], { change = {}, ...more }: GivenRollout = {}): Promise<string> =>
    stage.givenRollout(vms, { name: 'greet', planned: 'run', ...more, change: { ...run, ...change } });

  const executionsOf = ({ vmId }: GivenVm) =>
    db.select().from(executions).where(eq(executions.vmId, vmId)).orderBy(asc(executions.turn));

  /** The agent fetches its next execution; null if there is none. */
  async function fetch({ vmId }: GivenVm, seconds: number): Promise<string | null> {
    const text = await handOutNext(as(seconds), vmId);
    return text === null ? null : executionEnvelope.parse(JSON.parse(text)).id;
  }
  /** The agent begins its next execution. Returns its id. */
  async function start(vm: GivenVm, seconds: number): Promise<string> {
    const id = await fetch(vm, seconds);
    if (id === null) throw new Error('there is no execution');
    await noteProgress(as(seconds), vm.vmId, id, { run: 1, state: 'running', sentMsAgo: 0 });
    return id;
  }
  /** The agent sends the result of the execution that it has. */
  async function end({ vmId }: GivenVm, seconds: number, code = 0): Promise<void> {
    const [open] = await db
      .select()
      .from(executions)
      .where(and(eq(executions.vmId, vmId), eq(executions.state, 'running')));
    if (open === undefined) throw new Error('nothing runs');
    await takeResult(as(seconds), vmId, open.id, JSON.stringify(resultOf(open.planId, { ErrorCode: code })));
  }
  /** The agent fetches its execution, runs it and sends the result. */
  async function finish(vm: GivenVm, seconds: number, code = 0): Promise<void> {
    await start(vm, seconds);
    await end(vm, seconds, code);
  }
  return {
    ...stage,
    ...{ admin, runbook, version, at, givenAgents, givenRun, executionsOf, fetch, start, end, finish },
  };
}
