import { and, eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agents, auditEntries, executions } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import { type Context, systemOrigin } from '#server/domain/context.ts';
import { holdVm, releaseHold } from '#server/domain/holds/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { readActs } from '#server/testing/acts.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { cancelExecution, cancelWaiting, handOutNext, queueExecution, settleDue } from './index.ts';
import { givenMachine, plan } from './testing/machine.ts';

let door: AgentDoor;
let admin: Context;

beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
});
afterAll(() => door.close());

const at = (seconds: number): Context => ({ ...admin, now: new Date(Date.now() + seconds * 1_000) });
const portal = (seconds: number): Context => ({ ...at(seconds), actor: systemActor, origin: systemOrigin });

describe('the answer to the next execution', () => {
  test('is the same again while the machine has not acknowledged it, and the next one after its result', async () => {
    const machine = await givenMachine(admin, door);
    const first = await machine.queue();
    const second = await machine.queue();
    expect([(await machine.next())?.id, (await machine.next())?.id]).toEqual([first.id, first.id]);
    await machine.progress(first.id);
    await machine.result(first.id);
    expect((await machine.next())?.id).toBe(second.id);
  });

  test('marks an acknowledged execution as lost, and keeps its late result (MU-35, MU-36)', async () => {
    const machine = await givenMachine(admin, door);
    const first = await machine.queue();
    const second = await machine.queue();
    await machine.next();
    await machine.progress(first.id);
    expect((await machine.next())?.id).toBe(second.id);
    expect(await machine.get(first.id)).toMatchObject({ state: 'lost', reason: 'execution.lost' });
    // The late result is stored, and does not change the state (MU-35).
    expect((await machine.result(first.id)).status).toBe(204);
    expect(await machine.get(first.id)).toMatchObject({ state: 'lost', late: true, errorCode: 0 });
  });

  test('is empty during a hold, and contains the execution after it (MU-38)', async () => {
    const machine = await givenMachine(admin, door);
    const { id, stamp } = await machine.queue();
    await holdVm(admin, { vmId: machine.vmId, reason: 'Patch window' });
    const etag = await machine.etag();
    expect((await machine.poll(etag)).headers.get('annex-execution')).toBeNull();
    expect(await machine.next()).toBeNull();
    await releaseHold(admin, { vmId: machine.vmId });
    expect((await machine.poll(etag)).headers.get('annex-execution')).toContain(String(stamp));
    expect((await machine.next())?.id).toBe(id);
  });

  test('skips an execution for a machine that was replaced (MU-37)', async () => {
    const machine = await givenMachine(admin, door);
    const { id } = await machine.queue();
    await admin.db.update(agents).set({ enrolledAt: new Date() }).where(eq(agents.vmId, machine.vmId));
    expect(await machine.next()).toBeNull();
    expect(await machine.get(id)).toMatchObject({ state: 'cancelled', reason: 'execution.machine-replaced' });
  });

  test('is never a canceled execution (MU-32)', async () => {
    const machine = await givenMachine(admin, door);
    const { vmId } = machine;
    const ids = [];
    for (let round = 0; round < 10; round += 1) {
      const { id } = await machine.queue();
      const [next] = await Promise.all([machine.next(), cancelExecution(admin, { vmId, executionId: id })]);
      const { state } = await machine.get(id);
      expect([state, next?.id ?? null]).toEqual(next === null ? ['cancelled', null] : ['delivered', id]);
      if (next !== null) await machine.result(id);
      ids.push(id);
    }
    for (const id of ids) expect(await machine.get(id)).toMatchObject({ state: 'cancelled' });
  });
});

describe('time', () => {
  test('ends an execution that no machine began, and it never begins (MU-31)', async () => {
    const machine = await givenMachine(admin, door);
    const { id } = await machine.queue(plan, { validForSeconds: 60 });
    await settleDue(portal(59));
    expect(await machine.get(id)).toMatchObject({ state: 'queued' });
    await settleDue(portal(61));
    expect(await machine.get(id)).toMatchObject({ state: 'expired', reason: 'execution.expired' });
    expect(await machine.next()).toBeNull();
  });

  test('of a hold does not count: the execution expires later by the length of the hold', async () => {
    const machine = await givenMachine(admin, door);
    const { id } = await machine.queue(plan, { validForSeconds: 60 });
    const { vmId } = machine;
    await holdVm(at(20), { vmId, reason: 'Patch window' });
    await settleDue(portal(100));
    expect(await machine.get(id)).toMatchObject({ state: 'queued' });
    await releaseHold(at(200), { vmId });
    await settleDue(portal(235));
    expect(await machine.get(id), '36 seconds were left').toMatchObject({ state: 'queued' });
    await settleDue(portal(245));
    expect(await machine.get(id)).toMatchObject({ state: 'expired' });
    const { execution } = await queueExecution(at(250), { vmId, plan, validForSeconds: 60 });
    await holdVm(at(260), { vmId, reason: 'Patch window' });
    await releaseHold(at(9_000), { vmId });
    expect(await handOutNext(at(9_040), vmId), 'after a hold longer than its validity').toContain(execution.id);
  });

  test('ends an execution that is not answered, after a grace, and the machine may ask for the next (MU-19, MU-34)', async () => {
    const machine = await givenMachine(admin, door);
    const first = await machine.queue(plan, { timeoutSeconds: 100 });
    const second = await machine.queue();
    await machine.next();
    await machine.progress(first.id, 'running');
    await settleDue(portal(105));
    expect(await machine.get(first.id)).toMatchObject({ state: 'running' });
    await settleDue(portal(115));
    expect(await machine.get(first.id)).toMatchObject({ state: 'timed-out', reason: 'execution.timed-out' });
    expect((await machine.progress(first.id, 'running')).status, 'the agent learns of it').toBe(409);
    expect(await machine.get(second.id)).toMatchObject({ state: 'queued' });
    expect((await machine.next())?.id).toBe(second.id);
  });
});

describe('the end of a VM', () => {
  test('cancels waiting executions, and the delivered one is lost', async () => {
    const machine = await givenMachine(admin, door);
    const open = await machine.queue();
    const waiting = await machine.queue();
    await machine.next();
    await removeVm(admin, { vmId: machine.vmId });
    expect((await machine.get(open.id)).state).toBe('lost');
    expect((await machine.get(waiting.id)).state).toBe('cancelled');
  });
});

test('one call cancels all waiting executions', async () => {
  const machine = await givenMachine(admin, door);
  const open = await machine.queue();
  await machine.next();
  const waiting = [await machine.queue(), await machine.queue()];
  expect(await cancelWaiting(admin, { vmId: machine.vmId })).toBe(2);
  expect(await cancelWaiting(admin, { vmId: machine.vmId })).toBe(0);
  for (const { id } of waiting) expect((await machine.get(id)).state).toBe('cancelled');
  expect((await machine.get(open.id)).state).toBe('delivered');
  const acts = await readActs(
    admin.db,
    and(eq(auditEntries.vmId, machine.vmId), eq(auditEntries.action, 'execution.cancel-waiting')),
  );
  expect(acts).toHaveLength(1);
});

test('at most one execution is open, however many calls ask at the same moment', async () => {
  const machine = await givenMachine(admin, door);
  for (let n = 0; n < 3; n += 1) await machine.queue();
  const answers = await Promise.all(Array.from({ length: 8 }, () => machine.next()));
  expect(new Set(answers.map((answer) => answer?.id)).size).toBe(1);
  expect(
    await admin.db.$count(executions, and(eq(executions.vmId, machine.vmId), eq(executions.state, 'delivered'))),
  ).toBe(1);
});
