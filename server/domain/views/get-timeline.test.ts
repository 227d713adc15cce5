import { beforeAll, expect, test } from 'vitest';
import { extensionHealth, healthTransitions } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import { type Services, systemOrigin } from '#server/domain/context.ts';
import { queueExecution } from '#server/domain/executions/index.ts';
import { examplePlan } from '#server/domain/executions/testing/example.ts';
import { setExtension } from '#server/domain/goal-states/index.ts';
import { endHolds, holdVm } from '#server/domain/holds/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { getTimeline } from './get-timeline.ts';

let services: Services;
const now = new Date();
const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000);

beforeAll(async () => {
  services = await testServices();
  await givenVersion(services.db);
  await givenVersion(services.db, { handler: 'Acme.Lab.Other' });
});

const read = async (
  vm: Pick<GivenVm, 'vmId'>,
  { from = ago(30), to = new Date(now.getTime() + 300_000), role = 'viewer' as const } = {},
) =>
  getTimeline(await testContext({ services, role, now }), {
    vmId: vm.vmId,
    from: from.toISOString(),
    to: to.toISOString(),
  });

type Row = Omit<typeof healthTransitions.$inferInsert, 'vmId'>;
const record = (vm: GivenVm, rows: Row[]) =>
  services.db.insert(healthTransitions).values(rows.map((row) => ({ ...row, vmId: vm.vmId })));
const health = (minutes: number, from: string | null, to: string | null, rest: Partial<Row> = {}): Row => ({
  at: ago(minutes),
  extension: 'probe',
  kind: 'health',
  from,
  to,
  ...rest,
});

test("shows goal states and users' actions with time and name, without agents' actions", async () => {
  const vm = await givenVm(services);
  await vm.declare('probe');
  const { configuration, acts, merged } = await read(vm);
  expect(configuration).toMatchObject([{ incarnation: 2, by: 'Test operator', count: 2 }]);
  expect(acts).toMatchObject([
    { who: 'Test operator', action: 'extension.set', target: 'probe', declared: 'added', count: 2, kind: 'user' },
  ]);
  expect(merged).toBe(2);
});

test('shows the end of a hold at its set time as an action of the portal', async () => {
  const { vmId } = await givenVm(services);
  const operator = await testContext({ services, role: 'operator', now: ago(5) });
  await holdVm(operator, { vmId, reason: 'Patch window', until: ago(2).toISOString() });
  await endHolds({ ...operator, actor: systemActor, origin: systemOrigin, now: ago(1) });
  const { acts } = await read({ vmId });
  expect(acts.filter(({ action }) => action.startsWith('hold.'))).toMatchObject([
    { who: 'Test operator', kind: 'user', action: 'hold.set' },
    { who: 'Annex', kind: 'system', action: 'hold.end', at: ago(1).toISOString(), declared: null },
  ]);
});

test('shows which parts a declaration changed, however large the settings are', async () => {
  const vm = await givenVm(services);
  const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' as const };
  const declare = async (minutes: number, change: object) =>
    setExtension(await testContext({ services, role: 'operator', now: ago(minutes) }), {
      vmId: vm.vmId,
      name: 'probe',
      goal: { ...goal, ...change },
    });
  const publicSettings = { large: 'x'.repeat(20_000), plain: 1 };
  await declare(-0.5, {});
  await declare(-1, { settings: { publicSettings } });
  await declare(-2, { settings: { publicSettings, protectedSettings: { key: 'k' } } });
  await declare(-3, { settings: { publicSettings }, state: 'disabled' });
  await declare(-4, { settings: { publicSettings }, state: 'disabled', timeouts: { enable: 9 } });
  const { acts } = await read(vm);
  expect(acts.flatMap(({ declared }) => declared ?? [])).toEqual(['added', 'settings', 'secrets', 'disabled', 'other']);
});

test('a time outside the database’s calendar is rejected', async () => {
  const { vmId } = await givenVm(services);
  const [from, to] = ['0000-01-01T00:00:00Z', '0000-01-02T00:00:00Z'];
  await expect(getTimeline(await testContext({ services }), { vmId, from, to })).rejects.toMatchObject({
    code: 'invalid',
  });
});

test('omits events before and after the window', async () => {
  const vm = await givenVm(services);
  await vm.declare('probe');
  expect(await read(vm, { from: ago(30), to: ago(10) })).toMatchObject({ configuration: [], acts: [] });
});

test('shows health and heartbeat of every extension, from records before and within the window', async () => {
  const vm = await givenVm(services);
  await vm.declare('probe');
  await record(vm, [
    health(50, 'progressing', 'healthy'),
    health(20, 'healthy', 'progressing', { cause: 'waiting', waitsFor: 'mount' }),
    health(10, 'progressing', 'failed', { cause: 'exit' }),
    health(40, null, 'ready', { kind: 'heartbeat' }),
    { at: ago(9), extension: null, kind: 'health', from: 'healthy', to: 'failed' },
  ]);
  const { lanes } = await read(vm);
  expect(lanes).toMatchObject([
    {
      extension: 'probe',
      health: [
        { from: ago(30).toISOString(), to: ago(20).toISOString(), state: 'healthy' },
        { to: ago(10).toISOString(), state: 'progressing', cause: 'waiting', waitsFor: 'mount' },
        { to: null, state: 'failed', cause: 'exit' },
      ],
      heartbeat: [{ from: ago(30).toISOString(), to: null, state: 'ready' }],
    },
  ]);
});

test('takes the health of an unchanged extension from the lists; if it is not listed, its health is unknown', async () => {
  const vm = await givenVm(services);
  await vm.declare('probe');
  await vm.declare('other', { handler: 'Acme.Lab.Other' });
  await services.db.insert(extensionHealth).values({
    vmId: vm.vmId,
    name: 'probe',
    handler: 'Acme.Lab.Probe',
    goalVersion: '1.0.0.0',
    health: 'degraded',
    heartbeat: 'none',
    cause: 'stale',
    since: ago(500),
  });
  const { lanes } = await read(vm);
  expect(lanes.map(({ extension, health }) => [extension, health[0]?.state, health[0]?.cause])).toEqual([
    ['other', null, null],
    ['probe', 'degraded', 'stale'],
  ]);
});

test('shows executions that ran or waited within the window', async () => {
  const vm = await givenVm(services);
  const admin = await testContext({ services, role: 'admin', now: ago(20) });
  const { execution } = await queueExecution(admin, { vmId: vm.vmId, plan: { ...examplePlan, Name: 'Clean up' } });
  expect((await read(vm)).executions).toMatchObject([
    { from: ago(20).toISOString(), to: null, state: 'queued', executionId: execution.id, name: 'Clean up', count: 1 },
  ]);
  expect((await read(vm, { from: ago(60), to: ago(30) })).executions).toEqual([]);
});

test('a removed extension keeps its lane while it is within the window', async () => {
  const vm = await givenVm(services);
  await record(vm, [
    health(50, null, 'healthy'),
    health(50, null, 'ready', { kind: 'heartbeat' }),
    health(20, 'healthy', null),
  ]);
  expect((await read(vm)).lanes).toMatchObject([
    {
      extension: 'probe',
      health: [{ state: 'healthy', to: ago(20).toISOString() }],
      heartbeat: [{ state: 'ready', to: ago(20).toISOString() }],
    },
  ]);
  expect((await read(vm, { from: ago(15) })).lanes).toEqual([]);
});

test('merges and counts many changes', async () => {
  const vm = await givenVm(services);
  await vm.declare('probe');
  const flapping = Array.from({ length: 1_000 }, (_, index) =>
    health(20 - index / 100, index % 2 ? 'failed' : 'healthy', index % 2 ? 'healthy' : 'failed'),
  );
  await record(vm, flapping);
  const { lanes, merged } = await read(vm);
  const shown = lanes[0]?.health ?? [];
  expect(shown.length).toBeLessThan(400);
  expect(shown.reduce((sum, { count }) => sum + count, 0)).toBe(1_001);
  expect(merged).toBeGreaterThan(600);
});

test('merges hundreds of goal states into one event that shows the last goal state', async () => {
  const vm = await givenVm(services);
  const operator = await testContext({ services, role: 'operator' });
  for (const target of ['a', 'b', 'c', 'd']) {
    const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' as const };
    await setExtension(operator, {
      vmId: vm.vmId,
      name: 'probe',
      goal: { ...goal, settings: { publicSettings: { target } } },
    });
  }
  expect((await read(vm)).configuration).toMatchObject([{ incarnation: 5, count: 5 }]);
});

test('rejects anonymous callers, unknown VMs, and windows that are empty or too long', async () => {
  const vm = await givenVm(services);
  const anybody = await testContext({ services, role: null });
  const times = { from: ago(30).toISOString(), to: now.toISOString() };
  await expect(getTimeline(anybody, { vmId: vm.vmId, ...times })).rejects.toMatchObject({ kind: 'unauthenticated' });
  await expect(read({ vmId: '00000000-0000-4000-8000-000000000000' })).rejects.toMatchObject({ code: 'vm_unknown' });
  await expect(read(vm, { from: now, to: now })).rejects.toMatchObject({ kind: 'unprocessable' });
  await expect(read(vm, { from: ago(9 * 24 * 60), to: now })).rejects.toMatchObject({ kind: 'unprocessable' });
});
