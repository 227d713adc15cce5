import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentPresence, healthChecks, laneTimes } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import { type Context, systemOrigin } from '#server/domain/context.ts';
import { fetchGoalState, setExtension } from '#server/domain/goal-states/index.ts';
import { holdVm, releaseHold } from '#server/domain/holds/index.ts';
import { getInstanceView, readFleetRows } from '#server/domain/views/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { handOutNext, noteProgress, queueExecution, settleDue, takeResult } from './index.ts';
import { plan, resultOf } from './testing/machine.ts';

let door: AgentDoor;
let admin: Context;
const start = new Date('2030-01-01T10:00:00Z');
beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin', now: start });
});
afterAll(() => door.close());

const at = (seconds: number): Context => ({ ...admin, now: new Date(start.getTime() + seconds * 1_000) });
const time = (seconds: number) => at(seconds).now.toISOString();

/**
 * Declares an extension whose goal must conclude within 720 seconds of `start`: 420 for commands, 300 for the status.
 */
async function givenGoal(): Promise<string> {
  const { vmId } = await givenVm(admin);
  // The agent has announced its next call for a time after the end of the test.
  await admin.db.insert(agentPresence).values({ vmId, lastSeenAt: start, nextExpectedAt: at(99_999).now });
  const timeouts = { install: 300, enable: 120 };
  const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled', timeouts } as const;
  await setExtension(admin, { vmId, name: 'probe', goal });
  await fetchGoalState(admin.db, vmId, start);
  return vmId;
}
const probeOf = async (vmId: string, seconds: number) => (await getInstanceView(at(seconds), { vmId })).extensions[0];
const deadlineOf = async (vmId: string, seconds: number) => (await probeOf(vmId, seconds))?.deadlineAt;

/** Begins an execution at this second. Returns its id. */
async function begin(vmId: string, seconds: number): Promise<string> {
  const { execution } = await queueExecution(at(seconds), { vmId, plan });
  await handOutNext(at(seconds), vmId);
  await noteProgress(at(seconds), vmId, execution.id, { run: 1, state: 'received', sentMsAgo: 0 });
  await noteProgress(at(seconds), vmId, execution.id, { run: 1, state: 'running', sentMsAgo: 0 });
  return execution.id;
}
const end = (vmId: string, id: string, seconds: number) =>
  takeResult(at(seconds), vmId, id, JSON.stringify(resultOf(id)));

test('MU-73 an extension’s deadline does not pass while an execution holds the lane, and moves by its length', async () => {
  const vmId = await givenGoal();
  const present = (await deadlineOf(vmId, 50)) ?? '';
  expect(present).toBe(time(720));
  const execution = await begin(vmId, 100);
  expect(await deadlineOf(vmId, 101)).toBeNull();
  // Without the execution, the deadline would have passed long ago. Neither the page nor the lists show a failure.
  expect(await probeOf(vmId, 5_000)).toMatchObject({ deadlineAt: null, health: 'progressing' });
  await end(vmId, execution, 5_100);
  expect(await deadlineOf(vmId, 5_101)).toBe(time(5_720));
  const row = (await readFleetRows(at(5_719), { vmIds: [vmId] })).items[0]?.extensions[0];
  expect(row?.health).toBe((await probeOf(vmId, 5_719))?.health);
  expect(await probeOf(vmId, 5_719)).toMatchObject({ health: 'progressing' });
  expect(await probeOf(vmId, 5_721)).toMatchObject({ health: 'failed', cause: 'deadline' });
});

test('MU-73 a hold that overlaps an execution counts once', async () => {
  const vmId = await givenGoal();
  const execution = await begin(vmId, 100);
  await holdVm(at(150), { vmId, reason: 'Patch window' });
  await end(vmId, execution, 200);
  expect(await deadlineOf(vmId, 201)).toBeNull();
  await releaseHold(at(300), { vmId });
  expect(await deadlineOf(vmId, 301)).toBe(time(920));
});

test('a deadline that passed before the execution began stays in the past', async () => {
  const vmId = await givenGoal();
  await begin(vmId, 800);
  expect(await probeOf(vmId, 801)).toMatchObject({ deadlineAt: time(720), health: 'failed' });
});

test('the beginning and the end of an execution mark the health of the VM as due', async () => {
  const vmId = await givenGoal();
  const isDue = async () => {
    const [row] = await admin.db.select().from(healthChecks).where(eq(healthChecks.vmId, vmId));
    await admin.db
      .update(healthChecks)
      .set({ dueAt: at(99_999).now })
      .where(eq(healthChecks.vmId, vmId));
    return row?.dueAt.getTime() === 0;
  };
  await isDue();
  const { execution } = await queueExecution(at(10), { vmId, plan, timeoutSeconds: 100 });
  await handOutNext(at(10), vmId);
  expect(await isDue(), 'waiting changes no deadline').toBe(false);
  await noteProgress(at(11), vmId, execution.id, { run: 1, state: 'running', sentMsAgo: 0 });
  expect(await isDue()).toBe(true);
  await noteProgress(at(12), vmId, execution.id, { run: 1, state: 'running', sentMsAgo: 0 });
  expect(await isDue(), 'progress changes no deadline').toBe(false);
  await settleDue({ ...at(200), actor: systemActor, origin: systemOrigin });
  expect(await isDue()).toBe(true);
});

test('only periods that can still move a deadline are kept, and none of a deleted VM', async () => {
  const vmId = await givenGoal();
  const rowOf = async () => (await admin.db.select().from(laneTimes).where(eq(laneTimes.vmId, vmId)))[0];
  await end(vmId, await begin(vmId, 10), 20);
  await end(vmId, await begin(vmId, 30), 40);
  expect((await rowOf())?.past).toEqual([
    [time(10), time(20)],
    [time(30), time(40)],
  ]);
  const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'disabled' } as const;
  await setExtension(at(50), { vmId, name: 'probe', goal });
  await fetchGoalState(admin.db, vmId, at(50).now);
  await end(vmId, await begin(vmId, 60), 70);
  expect(await rowOf()).toMatchObject({ takenAt: null, past: [[time(60), time(70)]] });
  await removeVm(at(80), { vmId });
  expect(await rowOf()).toBeUndefined();
});
