import { eq, sql } from 'drizzle-orm';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { agentPresence, extensionLatest } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { batchStatement } from '#server/domain/reports/batch-statement.ts';
import { heartbeatsStatement } from '#server/domain/reports/heartbeats-statement.ts';
import type { IngestResult } from '#server/domain/reports/index.ts';
import { testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { type IntakeBounds, ReportIntake } from './report-intake.ts';

let services: Services;
const open: ReportIntake[] = [];

beforeAll(async () => {
  services = await testServices();
  await givenVersion(services.db);
});
afterEach(async () => {
  for (const intake of open.splice(0)) await intake.close();
});

function newIntake(bounds: IntakeBounds = { reports: 100, bytes: 1_000_000 }): ReportIntake {
  const intake = new ReportIntake(services.db, bounds, (error) => expect.unreachable(String(error)));
  open.push(intake);
  return intake;
}

/** Creates VMs whose agents have reported before, so that the batch statement accepts their reports. */
async function givenVms(count: number): Promise<GivenVm[]> {
  const vms = await Promise.all(
    Array.from({ length: count }, async () => {
      const vm = await givenVm(services, 'intake');
      await vm.declare('probe');
      await vm.deliver();
      return vm;
    }),
  );
  const now = new Date();
  for (const { vmId } of vms) {
    await services.db.insert(agentPresence).values({ vmId, lastSeenAt: now, nextExpectedAt: now });
  }
  return vms;
}

const statusEntry = (word: string) => ({
  extension: 'probe',
  sequenceNumber: 1,
  ageSeconds: 1,
  file: [{ version: 1.0, timestampUTC: '2026-01-01T00:00:00Z', status: { status: word } }],
});
const heartbeatEntry = (status: string) => ({
  extension: 'probe',
  ageSeconds: 1,
  file: [{ version: 1.0, heartbeat: { status } }],
});
async function take(intake: ReportIntake, vm: GivenVm, report: object, bytes = 100): Promise<IngestResult> {
  const receivedAt = new Date();
  return intake.take(await vm.agent(receivedAt), { vmId: vm.vmId, report, receivedAt }, bytes);
}
const latestOf = async ({ vmId }: GivenVm) =>
  (await services.db.select().from(extensionLatest).where(eq(extensionLatest.vmId, vmId)))[0];
const statusOf = async (vm: GivenVm) => (await latestOf(vm))?.status?.status;
const heartbeatOf = async (vm: GivenVm) => (await latestOf(vm))?.heartbeat?.status;

test('a report is one statement, and concurrent reports share statements', async () => {
  const intake = newIntake();
  const vms = await givenVms(40);
  const [first] = vms as [GivenVm];
  await take(intake, first, { statuses: [statusEntry('transitioning')] });
  expect(
    await statementsOf(() => take(intake, first, { reportNumber: 1, statuses: [statusEntry('success')] })),
  ).toHaveLength(1);
  const all = await statementsOf(() =>
    Promise.all(vms.map((vm) => take(intake, vm, { reportNumber: 2, statuses: [statusEntry('warning')] }))),
  );
  expect(all.length).toBeLessThanOrEqual(4);
  for (const vm of vms) expect(await statusOf(vm)).toBe('warning');
});

test('a repeated heartbeat is one small statement, and a changed heartbeat sends a wake-up', async () => {
  const intake = newIntake();
  const [vm] = (await givenVms(1)) as [GivenVm];
  const say = (status: string) => take(intake, vm, { heartbeats: [heartbeatEntry(status)] });
  await say('ready');
  expect(await statementsOf(() => say('ready'))).toEqual([heartbeatsStatement.text]);
  expect(await statementsOf(() => say('notready'))).toEqual([heartbeatsStatement.text, batchStatement.text]);
  expect(await heartbeatOf(vm)).toBe('notready');
});

test('reports of one VM are ingested in the order in which they arrive', async () => {
  const intake = newIntake();
  const [vm] = (await givenVms(1)) as [GivenVm];
  const words = ['transitioning', 'warning', 'error', 'transitioning', 'success'];
  const ctx = await vm.agent();
  const results = await Promise.all(
    words.map((word, index) => {
      const report = { run: 'a', reportNumber: index + 1, statuses: [statusEntry(word)] };
      return intake.take(ctx, { vmId: vm.vmId, report, receivedAt: new Date() }, 100);
    }),
  );
  expect(results.map(({ stored }) => stored)).toEqual([1, 1, 1, 1, 1]);
  expect(await statusOf(vm)).toBe('success');
});

test('an invalid report and a report with a locked row do not affect other reports', async () => {
  const intake = newIntake();
  const vms = await givenVms(6);
  const [held, ghost, ...others] = vms as [GivenVm, GivenVm, ...GivenVm[]];
  const freed = Promise.withResolvers<void>();
  const holding = services.db.transaction(async (tx) => {
    await tx.execute(sql`select from agent_presence where vm_id = ${held.vmId} for update`);
    await freed.promise;
  });
  const waiting = take(intake, held, { statuses: [statusEntry('error')] });
  const refused = expect(
    take(intake, ghost, { statuses: [{ ...statusEntry('error'), extension: 'ghost' }] }),
  ).rejects.toMatchObject({ faults: [{ code: 'extension_unknown' }] });
  const taken = await Promise.all(others.map((vm) => take(intake, vm, { statuses: [statusEntry('success')] })));
  expect(taken.every(({ stored }) => stored === 1)).toBe(true);
  await refused;
  freed.resolve();
  await holding;
  expect((await waiting).stored).toBe(1);
  expect(await statusOf(held)).toBe('error');
});

test('a batch that waits for a lock does not delay the reports that arrive meanwhile', async () => {
  const intake = newIntake();
  const [held, other] = (await givenVms(2)) as [GivenVm, GivenVm];
  const hanging = async (): Promise<boolean> => {
    const { rows } = await services.db.execute<{ query: string; ms: number }>(sql`
      select query, extract(epoch from clock_timestamp() - query_start) * 1000 as ms from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`);
    // `pg_stat_activity` shows only the beginning of a long statement.
    return rows.some(({ query, ms }) => query.length > 500 && batchStatement.text.startsWith(query) && ms > 60);
  };
  let number = 0;
  // A batch waits only half a second for a lock, so the test tries again if the machine is slow.
  const answeredMeanwhile = async (): Promise<boolean> => {
    number += 1;
    const reportNumber = number;
    const freed = Promise.withResolvers<void>();
    const holding = services.db.transaction(async (tx) => {
      await tx.execute(sql`select from agent_presence where vm_id = ${held.vmId} for update`);
      await freed.promise;
    });
    const waiting = take(intake, held, { reportNumber, statuses: [statusEntry('transitioning')] });
    await expect.poll(hanging, { interval: 10 }).toBe(true);
    await take(intake, other, { reportNumber, statuses: [statusEntry('transitioning')] });
    const meanwhile = await hanging();
    freed.resolve();
    await Promise.all([holding, waiting]);
    return meanwhile;
  };
  await expect.poll(answeredMeanwhile, { timeout: 10_000 }).toBe(true);
});

test('above 80% of the limit, only final reports are accepted; at the limit, none; rejections have Retry-After', async () => {
  const intake = newIntake({ reports: 5, bytes: 1_000_000 });
  const vms = await givenVms(7);
  const answers = await Promise.allSettled(
    vms.map(async (vm, index) => {
      const ctx = await vm.agent();
      return { ctx, vm, report: { statuses: [statusEntry(index === 5 ? 'success' : 'transitioning')] } };
    }),
  ).then((ready) => {
    const given = ready.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    // Queues all reports before the first of them is committed.
    return Promise.allSettled(
      given.map(async ({ ctx, vm, report }) => intake.take(ctx, { vmId: vm.vmId, report, receivedAt: new Date() }, 1)),
    );
  });
  expect(answers.map(({ status }) => status === 'fulfilled')).toEqual([true, true, true, true, false, true, false]);
  const refusals = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
  for (const refusal of refusals) {
    expect(refusal).toMatchObject({ code: 'reports_too_many', kind: 'unavailable' });
    expect(refusal.retryAfter).toBeGreaterThanOrEqual(1);
    expect(refusal.params.seconds).toBe(refusal.retryAfter);
  }
  expect(await statusOf(vms[5] as GivenVm)).toBe('success');
  expect(intake.waiting).toBe(0);
  await take(intake, vms[6] as GivenVm, { statuses: [statusEntry('warning')] });

  const small = newIntake({ reports: 100, bytes: 10 });
  const [one, other] = vms as [GivenVm, GivenVm];
  const first = take(small, one, {}, 12);
  await expect(Promise.all([first, take(small, other, {}, 12)])).rejects.toMatchObject({ code: 'reports_too_many' });
  await first;
});

test('bodies in transit count: at the limit, no further body is accepted', async () => {
  const intake = newIntake({ reports: 100, bytes: 1_000 });
  const [first, second] = [intake.expect('a', 600), intake.expect('b', 400)];
  expect(() => intake.expect('c', 1)).toThrow('reports_too_many');
  first();
  intake.expect('a', 600)();
  second();
  intake.expect('a', 5_000)();
});

test('bodies of one VM take at most an eighth of the limit, and other VMs can send bodies', () => {
  const intake = newIntake({ reports: 100, bytes: 8_000 });
  const [first, second] = [intake.expect('busy', 600), intake.expect('busy', 400)];
  expect(() => intake.expect('busy', 1)).toThrow('reports_too_many');
  intake.expect('other', 1_000)();
  first();
  intake.expect('busy', 600)();
  second();
  intake.expect('busy', 5_000)();
});

test('one VM fills at most an eighth of the queue, and reports of other VMs are accepted', async () => {
  const intake = newIntake({ reports: 100, bytes: 8_000 });
  const [busy, other] = (await givenVms(2)) as [GivenVm, GivenVm];
  const reports = Array.from({ length: 6 }, (_, index) =>
    take(intake, busy, { reportNumber: index + 1, statuses: [statusEntry('warning')] }, 400).then(
      () => 'taken',
      (error: { code?: string }) => error.code,
    ),
  );
  await expect(take(intake, other, { statuses: [statusEntry('success')] }, 400)).resolves.toMatchObject({ stored: 1 });
  const results = await Promise.all(reports);
  expect(results.filter((result) => result === 'taken').length).toBeGreaterThanOrEqual(3);
  expect(results).toContain('reports_too_many');
});
