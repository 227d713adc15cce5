import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { healthChecks, laneTimes } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import { changesChannel } from '#server/domain/changes/index.ts';
import { type Context, systemOrigin } from '#server/domain/context.ts';
import { goalStatesChannel } from '#server/domain/goal-states/index.ts';
import { holdVm, releaseHold } from '#server/domain/holds/index.ts';
import { ProcessMemory } from '#server/platform/process-memory.ts';
import { tellAfterCommit } from '#server/platform/wakes/index.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { writeChange } from './change-execution.ts';
import {
  cancelExecution,
  getExecution,
  handOutNext,
  noteProgress,
  queueExecution,
  settleDue,
  takeResult,
} from './index.ts';
import { findNext } from './next-execution.ts';
import { plan, resultOf } from './testing/machine.ts';

let admin: Context;
beforeAll(async () => {
  admin = await testContext({ role: 'admin' });
});

/** Returns the context of another process, whose memory is empty. */
const process = (): Context => ({ ...admin, now: new Date(), memory: new ProcessMemory() });
const running = (run = 1) => ({ run, state: 'running', sentMsAgo: 0 });

/** Queues an execution for a new VM. */
async function givenQueued(): Promise<{ vmId: string; id: string; get: () => ReturnType<typeof getExecution> }> {
  const { vmId } = await givenVm(admin);
  const { execution } = await queueExecution(process(), { vmId, plan });
  const { id } = execution;
  return { vmId, id, get: () => getExecution(admin, { vmId, executionId: id }) };
}

describe('what a process remembers', () => {
  test('does not undo what another process wrote', async () => {
    const { vmId, id, get } = await givenQueued();
    const [one, other] = [process(), process()];
    expect(await handOutNext(one, vmId)).toContain(id);
    await noteProgress(one, vmId, id, running());
    await noteProgress(other, vmId, id, running(2));
    await noteProgress(one, vmId, id, running());
    expect(await get()).toMatchObject({ state: 'running', run: 2 });
    await noteProgress(one, vmId, id, { run: 2, state: 'restarting', sentMsAgo: 0 });
    await noteProgress(other, vmId, id, running(3));
    expect(await get()).toMatchObject({ state: 'running', run: 3, reboots: 1 });
  });

  test('does not revive an execution that has ended', async () => {
    const { vmId, id, get } = await givenQueued();
    const one = process();
    await handOutNext(one, vmId);
    await noteProgress(one, vmId, id, running());
    const later = { ...process(), now: new Date(Date.now() + 86_400_000), actor: systemActor, origin: systemOrigin };
    await settleDue(later);
    await expect(noteProgress(one, vmId, id, running(2))).rejects.toMatchObject({ code: 'execution_concluded' });
    await takeResult(one, vmId, id, JSON.stringify(resultOf(id)));
    expect(await get()).toMatchObject({ state: 'timed-out', late: true, errorCode: 0 });
  });

  test('includes no cancellation by another process, which still counts', async () => {
    const { vmId, id, get } = await givenQueued();
    const one = process();
    await handOutNext(one, vmId);
    await noteProgress(one, vmId, id, running());
    await cancelExecution(process(), { vmId, executionId: id });
    await takeResult(one, vmId, id, JSON.stringify(resultOf(id, { ErrorCode: 1 })));
    expect(await get()).toMatchObject({ state: 'cancelled' });
  });
});

test('an execution is not delivered if a hold begins after it was read', async () => {
  const { vmId, id, get } = await givenQueued();
  const ctx = process();
  const next = await findNext(ctx, vmId);
  if (next === null) throw new Error('no execution');
  const deliver = () => writeChange(ctx, next, { values: { state: 'delivered', handedOut: 1 }, isHandOut: true });
  await holdVm(admin, { vmId, reason: 'Patch window' });
  expect(await deliver()).toBe(false);
  expect(await get()).toMatchObject({ state: 'queued' });
  expect(await handOutNext(ctx, vmId)).toBeNull();
  await releaseHold(admin, { vmId });
  expect(await handOutNext(ctx, vmId)).toContain(id);
  expect(await deliver(), 'the row has changed').toBe(false);
});

test('of many concurrent results, one is the first and the others are counted', async () => {
  const { vmId, id, get } = await givenQueued();
  await handOutNext(process(), vmId);
  const contexts = [process(), process(), process()];
  await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      takeResult(contexts[n % 3] ?? admin, vmId, id, JSON.stringify(resultOf(id, { ErrorCode: n % 2 }))),
    ),
  );
  const { state, errorCode, repeats } = await get();
  expect([state, repeats]).toEqual([errorCode === 0 ? 'succeeded' : 'failed', 29]);
});

test('a change that cannot be stored fails alone, and the changes of other VMs in the same batch are stored', async () => {
  const ctx = process();
  const queued = await Promise.all(Array.from({ length: 4 }, givenQueued));
  const found = await Promise.all(queued.map(({ vmId }) => findNext(ctx, vmId)));
  const tooLarge = 2 ** 40;
  const written = await Promise.allSettled(
    found.map((next, n) => {
      if (next === null) throw new Error('no execution');
      return writeChange(ctx, next, { values: { run: n === 2 ? tooLarge : 7 } });
    }),
  );
  expect(written.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(await Promise.all(queued.map(async ({ get }) => (await get()).run))).toEqual([7, 7, 0, 7]);
});

test('executions mark no health as due on a VM without a goal that is still open', async () => {
  const { vmId, id } = await givenQueued();
  const ctx = process();
  const later = new Date('2099-01-01T00:00:00Z');
  await admin.db.update(healthChecks).set({ dueAt: later }).where(eq(healthChecks.vmId, vmId));
  await handOutNext(ctx, vmId);
  await noteProgress(ctx, vmId, id, running());
  const laneOf = async () => (await admin.db.select().from(laneTimes).where(eq(laneTimes.vmId, vmId)))[0];
  expect((await laneOf())?.takenAt).toBeInstanceOf(Date);
  await takeResult(ctx, vmId, id, JSON.stringify(resultOf(id)));
  expect(await laneOf()).toMatchObject({ takenAt: null, past: [] });
  const [check] = await admin.db.select().from(healthChecks).where(eq(healthChecks.vmId, vmId));
  expect(check?.dueAt).toEqual(later);
});

test('pages and gateways are notified over another transport too, after the change is stored', async () => {
  const { vmId, id } = await givenQueued();
  const db = openDatabase(admin.db.$client);
  const posts: [channel: string, payload: string][] = [];
  tellAfterCommit(db, (channel, payloads) => posts.push(...payloads.map((one): [string, string] => [channel, one])));
  const ctx = { ...process(), db };
  await handOutNext(ctx, vmId);
  const change: [string, string] = [changesChannel, JSON.stringify({ topic: 'execution', key: vmId })];
  expect(posts.splice(0)).toEqual([change]);
  const statements = await statementsOf(() => takeResult(ctx, vmId, id, JSON.stringify(resultOf(id))));
  expect(statements).toHaveLength(1);
  expect(posts).toEqual([change, [goalStatesChannel, vmId]]);
});
