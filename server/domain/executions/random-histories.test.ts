import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { executions } from '#db/schema/index.ts';
import { finalStates, openStates } from '#protocol/executions/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import { type Context, systemOrigin } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { holdVm, releaseHold } from '#server/domain/holds/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import {
  cancelExecution,
  cancelWaiting,
  handOutNext,
  listExecutions,
  noteProgress,
  queueExecution,
  settleDue,
  takeResult,
} from './index.ts';
import { plan, resultOf } from './testing/machine.ts';

let door: AgentDoor;
let admin: Context;
beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
});
afterAll(() => door.close());

/** Returns a seeded random number generator, so that failures can be reproduced. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

/** Waits for a call. A rejection by the rules is allowed; any other error fails the test. */
async function allowed(call: Promise<unknown>): Promise<void> {
  await call.catch((error: unknown) => {
    if (!(error instanceof DomainError)) throw error;
  });
}

/** Makes random calls, two at a time, so that calls of all kinds overlap. Returns the time of the last calls. */
async function run(vmId: string, seed: number): Promise<Date> {
  const random = dice(seed);
  let now = new Date('2030-01-01T00:00:00Z');
  const known: string[] = [];
  const some = () => known[random(known.length)] ?? '00000000-0000-7000-8000-000000000000';
  const acts: ((ctx: Context) => Promise<unknown>)[] = [
    (ctx) => queueExecution(ctx, { vmId, plan, timeoutSeconds: 20, validForSeconds: 60 }).then(keep),
    (ctx) => queueExecution(ctx, { vmId, plan, timeoutSeconds: 600 }).then(keep),
    (ctx) => handOutNext(ctx, vmId),
    (ctx) => handOutNext(ctx, vmId),
    (ctx) => noteProgress(ctx, vmId, some(), { run: 1, state: 'received', sentMsAgo: 0 }),
    (ctx) => noteProgress(ctx, vmId, some(), { run: 1 + random(2), state: 'running', sentMsAgo: 5 }),
    (ctx) => noteProgress(ctx, vmId, some(), { run: 1, state: 'restarting', sentMsAgo: 5 }),
    (ctx) => finish(ctx, some(), random(2)),
    (ctx) => finish(ctx, some(), random(2)),
    (ctx) => cancelExecution(ctx, { vmId, executionId: some() }),
    (ctx) => (random(4) === 0 ? cancelWaiting(ctx, { vmId }) : Promise.resolve()),
    (ctx) => (random(2) === 0 ? holdVm(ctx, { vmId, reason: 'x' }) : releaseHold(ctx, { vmId })),
    (ctx) => settleDue({ ...ctx, actor: systemActor, origin: systemOrigin }),
  ];
  const keep = ({ execution }: { execution: { id: string } }) => void known.push(execution.id);
  const finish = (ctx: Context, id: string, code: number) =>
    takeResult(ctx, vmId, id, JSON.stringify(resultOf(id, { ErrorCode: code })));
  for (let turn = 0; turn < 40; turn += 1) {
    now = new Date(now.getTime() + random(15_000));
    const ctx = { ...admin, now };
    const pair = [acts[random(acts.length)], acts[random(acts.length)]];
    await Promise.all(pair.map((act) => allowed(act?.(ctx) ?? Promise.resolve())));
    const open = await admin.db.$count(
      executions,
      sql`${executions.vmId} = ${vmId} and ${executions.state} in ${[...openStates]}`,
    );
    expect(open, 'a machine has at most one execution').toBeLessThanOrEqual(1);
  }
  return now;
}

test.each(Array.from({ length: 12 }, (_, seed) => seed + 1))(
  'case 34: history %i: every execution ends in time, once, and what ended stays as it was (MU-69)',
  async (seed) => {
    const { vmId } = await givenVm(admin);
    const now = await run(vmId, seed);
    const statesOf = async () =>
      new Map((await listExecutions(admin, { vmId, limit: 200 })).items.map(({ id, state }) => [id, state]));
    const before = await statesOf();
    const isEnded = (state: string) => (finalStates as readonly string[]).includes(state);
    // Releases the hold first, because a hold pauses the validity of waiting executions.
    await allowed(releaseHold({ ...admin, now }, { vmId }));
    // By then, waiting executions have expired, and delivered executions have exceeded their timeout and grace period.
    const later = new Date(now.getTime() + 86_400_000);
    await settleDue({ ...admin, now: later, actor: systemActor, origin: systemOrigin });
    const end = await statesOf();
    for (const [id, state] of end) {
      expect(isEnded(state), id).toBe(true);
      const earlier = before.get(id);
      if (earlier !== undefined && isEnded(earlier)) expect(state).toBe(earlier);
    }
    const rows = await admin.db.select().from(executions).where(eq(executions.vmId, vmId));
    for (const row of rows) {
      expect([row.dueAt, row.concludedAt === null]).toEqual([null, false]);
      // Only delivered executions have a result. Executions that succeeded or failed have an error code.
      if (row.handedOut === 0) expect(row.result).toBeNull();
      if (row.state === 'succeeded' || row.state === 'failed') expect(row.errorCode).not.toBeNull();
    }
    await removeVm(admin, { vmId });
  },
);
