import { and, asc, eq, isNull, sql } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import {
  agentPresence,
  changes,
  extensionHealth,
  healthChecks,
  healthTransitions,
  vmHealth,
} from '#db/schema/index.ts';
import { markForgotten } from '#server/domain/changes/index.ts';
import type { Services } from '#server/domain/context.ts';
import { writeSightings } from '#server/domain/enrollment/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { removeExtension } from '#server/domain/goal-states/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { updateVm } from '#server/domain/vms/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { longTest } from '#server/testing/long.ts';
import { foldHealth, markAged } from './index.ts';

let services: Services;
const start = new Date();
const later = (seconds: number) => new Date(start.getTime() + seconds * 1000);

beforeAll(async () => {
  services = await testServices();
  await givenVersion(services.db);
  await givenVersion(services.db, { version: '2.0.0.0' });
});

const vmRow = async ({ vmId }: GivenVm) =>
  (await services.db.select().from(vmHealth).where(eq(vmHealth.vmId, vmId)))[0];
const probeRow = async ({ vmId }: GivenVm) =>
  (await services.db.select().from(extensionHealth).where(eq(extensionHealth.vmId, vmId)))[0];
const ofVm = async ({ vmId }: GivenVm) =>
  services.db
    .select({ at: healthTransitions.at, from: healthTransitions.from, to: healthTransitions.to })
    .from(healthTransitions)
    .where(and(eq(healthTransitions.vmId, vmId), isNull(healthTransitions.extension)))
    .orderBy(asc(healthTransitions.id));
const notified = async (vm: GivenVm) =>
  (
    await services.db
      .select()
      .from(changes)
      .where(and(eq(changes.topic, 'fleet'), eq(changes.key, vm.vmId)))
  ).length;

/** Evaluates aged VMs as the worker does when time passes. */
async function foldAged(now: Date): Promise<void> {
  await markAged(services, { since: null, now, among: null });
  await foldHealth(services, now);
}

const send = async (vm: GivenVm, report: unknown, receivedAt = start) =>
  ingestReport(await vm.agent(receivedAt), { vmId: vm.vmId, report, receivedAt });
const ages = { ageSeconds: 0, readSecondsAgo: 0 };
const statusOf = (status: string, extra: object = {}) => ({
  statuses: [
    {
      extension: 'probe',
      sequenceNumber: 1,
      ...ages,
      file: [{ version: 1, timestampUTC: '2026-01-01T00:00:00Z', status: { status, ...extra } }],
    },
  ],
});
const handler = (fields: object = {}) => ({
  handlers: [{ extension: 'probe', version: '1.0.0.0', sequenceNumber: 1, state: 'enabled', ...fields }],
});
const beats = { heartbeats: [{ extension: 'probe', ...ages, file: [{ version: 1, heartbeat: { status: 'ready' } }] }] };
const good = { ...handler(), ...beats, ...statusOf('success') };

/** Returns a VM whose agent has the goal state, called at `at`, and announced its next call within a minute. */
async function givenProbe(at = start): Promise<GivenVm> {
  const vm = await givenVm(services, 'fold');
  await vm.declare('probe');
  await vm.deliver(at);
  await services.db
    .insert(agentPresence)
    .values({ vmId: vm.vmId, lastSeenAt: at, nextExpectedAt: new Date(at.getTime() + 60_000) });
  return vm;
}

test('a VM appears with its first goal state, and open pages are notified', async () => {
  const vm = await givenVm(services, 'fold');
  await foldHealth(services, start);
  expect(await vmRow(vm)).toEqual({
    vmId: vm.vmId,
    name: vm.name,
    tags: {},
    health: 'unknown',
    rank: 4,
    agent: 'never',
    since: start,
    deadlineAt: null,
    writtenBy: expect.any(String),
  });
  expect(await ofVm(vm)).toEqual([{ at: start, from: null, to: 'unknown' }]);
  expect(await notified(vm)).toBe(1);
  expect(await foldHealth(services, start)).toBe(0);
});

test('a health names the sequence number for which it was evaluated', async () => {
  const vm = await givenProbe();
  await send(vm, good, later(5));
  await foldHealth(services, later(5));
  expect(await probeRow(vm)).toMatchObject({ health: 'healthy', sequenceNumber: 1 });
  await vm.declare('probe', { state: 'disabled' });
  // Until the VM is evaluated again, the health is that of the earlier sequence number.
  expect(await probeRow(vm)).toMatchObject({ health: 'healthy', sequenceNumber: 1 });
  await foldHealth(services, later(6));
  expect(await probeRow(vm)).toMatchObject({ health: 'progressing', sequenceNumber: 2 });
  expect(await foldHealth(services, later(6))).toBe(0);
});

test('AZ-S6 every kind of change is folded; `since` is kept while the health is the same', async () => {
  const vm = await givenProbe();
  await foldHealth(services, start);
  expect(await vmRow(vm)).toMatchObject({ health: 'progressing', agent: 'ready', deadlineAt: expect.any(Date) });
  expect(await probeRow(vm)).toMatchObject({ health: 'progressing', cause: null, version: null });

  await send(vm, good, later(5));
  await foldHealth(services, later(5));
  expect(await vmRow(vm)).toMatchObject({ health: 'healthy', rank: 5, since: later(5), deadlineAt: null });
  expect(await probeRow(vm)).toMatchObject({ health: 'healthy', heartbeat: 'ready', version: '1.0.0.0', cause: null });

  const operator = await testContext({ services, role: 'operator' });
  await updateVm(operator, { vmId: vm.vmId, name: `${vm.name}-b`, tags: { env: 'prod' } });
  await foldHealth(services, later(6));
  expect(await vmRow(vm)).toMatchObject({ name: `${vm.name}-b`, tags: { env: 'prod' }, since: later(5) });

  await send(vm, { ...statusOf('warning', { message: { id: 'disk_full' } }) }, later(7));
  await foldHealth(services, later(7));
  expect(await vmRow(vm)).toMatchObject({ health: 'degraded', rank: 2, since: later(7) });
  expect(await probeRow(vm)).toMatchObject({ health: 'degraded', cause: 'status', messageId: 'disk_full' });

  await send(vm, handler({ state: 'failed', command: 'enable', exitCode: 51 }), later(8));
  await foldHealth(services, later(8));
  expect(await probeRow(vm)).toMatchObject({ health: 'failed', cause: 'exit', command: 'enable', exitCode: 51 });

  await vm.declare('probe', { version: '2.0.0.0' });
  await foldHealth(services, later(9));
  expect(await probeRow(vm)).toMatchObject({ health: 'progressing', goalVersion: '2.0.0.0', version: '1.0.0.0' });
  expect((await ofVm(vm)).map(({ to }) => to)).toEqual(['progressing', 'healthy', 'degraded', 'failed', 'progressing']);
});

test('AZ-S6 a failed part is folded as the cause, with the id of its message', async () => {
  const vm = await givenProbe();
  const full = { name: 'disk', status: 'error', message: { id: 'disk_full' } };
  await send(vm, { ...good, ...statusOf('success', { message: { id: 'mounted' }, substatus: [full] }) });
  await foldHealth(services, start);
  expect(await probeRow(vm)).toMatchObject({ health: 'degraded', cause: 'substatus', messageId: 'disk_full' });
  expect(await vmRow(vm)).toMatchObject({ health: 'degraded' });
});

test('a removed extension disappears and leaves one last transition', async () => {
  const vm = await givenProbe();
  await foldHealth(services, start);
  await removeExtension(await testContext({ services }), { vmId: vm.vmId, name: 'probe', force: true });
  await foldHealth(services, later(1));
  expect(await probeRow(vm)).toBeUndefined();
  expect(await vmRow(vm)).toMatchObject({ health: 'healthy' });
  const [last] = await services.db
    .select()
    .from(healthTransitions)
    .where(and(eq(healthTransitions.vmId, vm.vmId), eq(healthTransitions.extension, 'probe')))
    .orderBy(sql`id desc`)
    .limit(1);
  expect(last).toMatchObject({ kind: 'health', from: 'progressing', to: null });
});

test('a deleted VM leaves the lists immediately and is not evaluated again', async () => {
  const vm = await givenProbe();
  await foldHealth(services, start);
  await removeVm(await testContext({ services, now: later(1) }), { vmId: vm.vmId, decommission: false });
  expect(await vmRow(vm)).toBeUndefined();
  expect(await probeRow(vm)).toBeUndefined();
  expect(await notified(vm)).toBe(2);
  expect((await ofVm(vm)).at(-1)).toEqual({ at: later(1), from: 'progressing', to: null });
  await foldHealth(services, later(1));
  expect(await vmRow(vm)).toBeUndefined();
  expect(await services.db.select().from(healthChecks).where(eq(healthChecks.vmId, vm.vmId))).toEqual([]);
});

test('AZ-H3 AZ-S6 health ages at the right times without reports, and recovers', async () => {
  const vm = await givenProbe();
  await send(vm, good, later(60));
  await foldAged(later(60));
  expect(await vmRow(vm)).toMatchObject({ health: 'healthy', agent: 'ready' });
  // The report announced a call within 30 seconds, and the grace period is another 30 seconds.
  await foldAged(later(120));
  expect(await vmRow(vm)).toMatchObject({ agent: 'ready' });
  await foldAged(later(120.001));
  expect(await vmRow(vm)).toMatchObject({ agent: 'unknown', health: 'healthy' });
  await foldAged(later(210));
  expect(await probeRow(vm)).toMatchObject({ heartbeat: 'ready' });
  await foldAged(later(210.001));
  expect(await probeRow(vm)).toMatchObject({ heartbeat: 'unknown', health: 'degraded', cause: 'heartbeat' });
  expect(await vmRow(vm)).toMatchObject({ health: 'degraded', since: later(210.001) });
  await foldAged(later(660));
  expect(await vmRow(vm)).toMatchObject({ health: 'degraded' });
  await foldAged(later(660.001));
  expect(await vmRow(vm)).toMatchObject({ health: 'unresponsive', rank: 1, agent: 'unresponsive' });
  expect(await probeRow(vm)).toMatchObject({ health: 'unresponsive', cause: 'silent' });
  // No further evaluation is due yet, but one call makes the VM recover.
  const { rows } = await services.db.execute(sql`select due_at > ${later(660.001)} as rests from health_checks
    where vm_id = ${vm.vmId}`);
  expect(rows).toEqual([{ rests: true }]);
  await send(vm, { reportNumber: 1 }, later(900));
  await foldAged(later(900));
  expect(await vmRow(vm)).toMatchObject({ health: 'degraded', agent: 'ready' });
});

test('an agent that only polls recovers, and an agent that closes its poll is missed sooner', async () => {
  const vm = await givenProbe();
  await send(vm, good);
  await foldAged(later(601));
  expect(await vmRow(vm)).toMatchObject({ agent: 'unresponsive' });
  await services.db.execute(sql`insert into agents (vm_id, credential_hash, certificate, thumbprint, key_hash, name,
    version, os, enrolled_at) values (${vm.vmId}, 'c', '', '', 'k', 'a', '1', '{}', now())`);
  await writeSightings(services.db, [{ vmId: vm.vmId, at: later(700), nextExpectedAt: later(1000), counter: 1 }]);
  await foldAged(later(700));
  expect(await vmRow(vm)).toMatchObject({ agent: 'ready' });
  const hungUp = { vmId: vm.vmId, at: later(701), nextExpectedAt: later(730), counter: 1, hungUp: true };
  await writeSightings(services.db, [hungUp]);
  await foldAged(later(701));
  await foldAged(later(761));
  expect(await vmRow(vm)).toMatchObject({ agent: 'unknown' });
});

test('a goal whose deadline passed before delivery gets its full time from the delivery', async () => {
  const vm = await givenVm(services, 'fold');
  await vm.declare('probe');
  await services.db
    .insert(agentPresence)
    .values({ vmId: vm.vmId, lastSeenAt: later(100_000), nextExpectedAt: later(100_060) });
  await foldHealth(services, later(100_000));
  expect(await probeRow(vm)).toMatchObject({ health: 'failed', cause: 'deadline' });
  await vm.deliver(later(100_000));
  await foldHealth(services, later(100_000));
  expect(await probeRow(vm)).toMatchObject({ health: 'progressing', cause: null });
});

test('concurrent folds share the work, and changes committed meanwhile are folded later', async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => givenProbe()));
  const [one, other] = await Promise.all([foldHealth(services, start), foldHealth(services, start)]);
  expect(one + other).toBeGreaterThanOrEqual(20);
  for (const vm of all) expect(await vmRow(vm)).toMatchObject({ health: 'progressing' });
  const first = all[0] as GivenVm;
  await services.db.transaction(async (tx) => {
    // An open transaction locks the row, so the fold skips it.
    await tx.execute(sql`update health_checks set due_at = 'epoch' where vm_id = ${first.vmId}`);
    expect(await foldHealth(services, start)).toBe(0);
  });
  expect(await foldHealth(services, start)).toBe(1);
  await Promise.all([...all.map((vm) => send(vm, good)), foldHealth(services, start), foldHealth(services, start)]);
  await foldHealth(services, start);
  for (const vm of all) expect(await vmRow(vm)).toMatchObject({ health: 'healthy' });
  const transitions = await Promise.all(all.map(ofVm));
  expect(transitions.every((rows) => rows.map(({ to }) => to).join() === 'progressing,healthy')).toBe(true);
});

longTest('concurrent writers and folds do not block each other', async () => {
  const all = await Promise.all(Array.from({ length: 30 }, () => givenProbe()));
  for (const { vmId } of all) {
    await services.db.execute(sql`insert into agents (vm_id, credential_hash, certificate, thumbprint, key_hash, name,
      version, os, enrolled_at) values (${vmId}, ${vmId}, '', '', ${vmId}, 'a', '1', '{}', now())`);
  }
  const operator = await testContext({ services, role: 'operator' });
  const sightings = (seconds: number) => {
    const ids = all.map(({ vmId }) => vmId).sort();
    const seen = { at: later(seconds), nextExpectedAt: later(seconds + 30), counter: 1 };
    return writeSightings(
      services.db,
      ids.map((vmId) => ({ vmId, ...seen })),
    );
  };
  await Promise.all(
    [
      ...all.map((vm, index) => send(vm, good, later(1_000 + index))),
      ...all.map(({ vmId }, index) => updateVm(operator, { vmId, tags: { turn: String(index) } })),
      ...all.slice(0, 5).map(({ vmId }) => removeVm(operator, { vmId, decommission: false })),
      sightings(1_000),
      sightings(2_000),
      ...Array.from({ length: 6 }, () => foldHealth(services, later(1_000))),
    ].map((work) => Promise.resolve(work).catch((error: unknown) => expect(error).toBeInstanceOf(DomainError))),
  );
  await foldHealth(services, later(2_000));
  for (const vm of all.slice(0, 5)) expect(await vmRow(vm)).toBeUndefined();
  for (const [index, vm] of all.entries()) {
    if (index >= 5) expect(await vmRow(vm)).toMatchObject({ agent: 'ready', tags: { turn: String(index) } });
  }
});

test('5,000 VMs are folded with few statements', async () => {
  const shared = await testServices();
  await shared.db.execute(sql`
    insert into vms (id, name, tags, created_at, created_by)
    select gen_random_uuid(), 'many-' || n, '{}', now(), 'test' from generate_series(1, 5000) n`);
  expect(await markForgotten(shared)).toBe(5000);
  let statements = 0;
  const counted = new WeakSet<object>();
  shared.db.$client.on('acquire', (client) => {
    if (counted.has(client)) return;
    counted.add(client);
    const query = client.query.bind(client);
    const count = (...given: Parameters<typeof query>): unknown => {
      statements += 1;
      return query(...given);
    };
    Object.assign(client, { query: count });
  });
  expect(await foldHealth(shared, start)).toBe(5000);
  expect(statements).toBeLessThan(11 * 15);
  expect(statements).toBeGreaterThan(10);
  const { rows } = await shared.db.execute(sql`select count(*)::int as n from vm_health`);
  expect(rows).toEqual([{ n: 5000 }]);
  const keys = await shared.db.select().from(changes);
  expect(new Set(keys.map(({ key }) => key))).toEqual(new Set(['*']));
});
