import { and, eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { auditEntries, stockAgents } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { getGoalState, removeExtension, setExtension } from '#server/domain/goal-states/index.ts';
import type { SetExtensionInput } from '#server/domain/goal-states/input.ts';
import { listArchives, listOutputs, requestArchive } from '#server/domain/logs/index.ts';
import { getWireAccess, rotateTenantKey, setHold } from '#server/domain/stock-agents/index.ts';
import { getInstanceView } from '#server/domain/views/index.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { longTest } from '#server/testing/long.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { givenStockVm, healthPost, openWireDoor, StockVm, type WireDoor } from '#server/testing/stock-agent.ts';

let ctx: Context;
let door: WireDoor;

beforeAll(async () => {
  ctx = await testContext({ role: 'operator', services: await testServices({ config: { wire: true, vmRate: 0 } }) });
  door = await openWireDoor(ctx);
  for (const version of ['1.0.0.0', '1.1']) {
    await givenVersion(ctx.db, { version, reportHeartbeat: false });
    await givenVersion(ctx.db, {
      handler: 'Acme.Lab.Many',
      version,
      supportsMultipleExtensions: true,
      reportHeartbeat: false,
    });
    await givenVersion(ctx.db, { handler: 'Acme.Lab.Beat', version });
  }
});
afterAll(() => door.close());

const set = (vm: StockVm, name: string, goal: Partial<SetExtensionInput['goal']> = {}) =>
  setExtension(ctx, {
    vmId: vm.vmId,
    name,
    goal: { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled', ...goal },
  });
/** Returns the VM's next goal state. It is available shortly after its commit. */
const next = (vm: StockVm, before: { incarnation: string }) =>
  vi.waitFor(async () => {
    const wanted = await vm.poll();
    if (wanted.incarnation === before.incarnation) throw new Error('nothing new');
    return wanted;
  });
const view = async (vm: StockVm) => getInstanceView({ ...ctx, now: new Date() }, { vmId: vm.vmId });
const shown = async (vm: StockVm, name = 'probe') => (await view(vm)).extensions.find((each) => each.name === name);

test('install, new settings, update: published versions, sequence numbers as seqNo, status as a report', async () => {
  const vm = await givenStockVm(ctx, door, 'steps');
  const { incarnation } = await set(vm, 'probe', { settings: { publicSettings: { word: 'größe <&> "\u2028' } } });
  const wanted = await vm.poll();
  expect(wanted).toMatchObject({
    incarnation: String(incarnation),
    plugins: [{ name: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' }],
    settings: [{ seqNo: 1, name: null, level: 0, json: { publicSettings: { word: 'größe <&> "\u2028' } } }],
  });
  expect((await vm.report()).status).toBe(200);
  expect(await view(vm)).toMatchObject({
    agent: { status: 'ready', version: '2.7.3.0' },
    health: 'healthy',
    extensions: [
      {
        version: '1.0.0.0',
        handlerState: { state: 'enabled', sequenceNumber: 1 },
        status: { status: 'success', code: 0 },
      },
    ],
  });
  await set(vm, 'probe', { version: '1.1' });
  expect(await next(vm, wanted)).toMatchObject({ plugins: [{ version: '1.1' }], settings: [{ seqNo: 2 }] });
  await vm.report();
  expect(await shown(vm)).toMatchObject({ version: '1.1', health: 'healthy', status: { sequenceNumber: 2 } });
  expect(await getWireAccess(ctx, { vmId: vm.vmId })).toMatchObject({
    stock: { version: '2.7.3.0', seen: { incarnation: 4 }, settled: { incarnation: 4, status: 'Success' } },
  });
});

test('an agent that installed versions with four parts keeps them', async () => {
  const vm = await givenStockVm(ctx, door, 'four-parts');
  await ctx.db.update(stockAgents).set({ publishedVersions: false }).where(eq(stockAgents.vmId, vm.vmId));
  await set(vm, 'probe', { version: '1.1' });
  expect(await vm.poll()).toMatchObject({ plugins: [{ version: '1.1.0.0' }] });
  await vm.report();
  expect(await shown(vm)).toMatchObject({ version: '1.1', health: 'healthy' });
});

describe('the incarnation', () => {
  test('changes once for an uninstall, not again when the extension leaves the goal state', async () => {
    const vm = await givenStockVm(ctx, door, 'leaving');
    await set(vm, 'probe');
    await set(vm, 'other', { handler: 'Acme.Lab.Beat' });
    const before = await vm.poll();
    await vm.report();
    await removeExtension(ctx, { vmId: vm.vmId, name: 'probe' });
    const { incarnation, plugins } = await next(vm, before);
    expect(plugins).toContainEqual({ name: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'uninstall' });
    await vm.report();
    const after = await getGoalState(ctx, { vmId: vm.vmId });
    expect(after.extensions.map(({ name }) => name)).toEqual(['other']);
    expect(after.incarnation).toBeGreaterThan(Number(incarnation));
    expect((await vm.poll()).incarnation).toBe(incarnation);
    const acts = await readActs(
      ctx.db,
      and(eq(auditEntries.vmId, vm.vmId), eq(auditEntries.action, 'extension.removed')),
    );
    expect(acts).toHaveLength(1);
  });

  test('stays the same if nothing changes for the agent', async () => {
    const vm = await givenStockVm(ctx, door, 'staying');
    await set(vm, 'probe');
    const before = await vm.poll();
    await set(vm, 'probe', { timeouts: { enable: 10 } });
    await rotateTenantKey(ctx, { vmId: vm.vmId });
    await set(vm, 'probe', { state: 'disabled' });
    const { incarnation } = await getGoalState(ctx, { vmId: vm.vmId });
    // Three incarnations were published, and the agent has seen only the last one.
    expect((await next(vm, before)).incarnation).toBe(String(incarnation));
  });
});

describe('an uninstall', () => {
  test.each<[string, Record<string, unknown> | undefined]>([
    ['of an older goal state', { inSvdSeqNo: '1', status: 'Success' }],
    ['of a goal state that failed', { status: 'Failed' }],
    ['before any goal state', undefined],
  ])('is not done after a status %s', async (name, said) => {
    const vm = await givenStockVm(ctx, door, name.replaceAll(' ', '-'));
    await set(vm, 'probe');
    const before = await vm.poll();
    await vm.report();
    await removeExtension(ctx, { vmId: vm.vmId, name: 'probe' });
    await next(vm, before);
    const states = async () => (await getGoalState(ctx, { vmId: vm.vmId })).extensions.map(({ state }) => state);
    await vm.report(({ aggregateStatus: whole }) => {
      const done = whole.vmArtifactsAggregateStatus?.goalStateAggregateStatus;
      if (said === undefined) whole.vmArtifactsAggregateStatus = undefined;
      else whole.vmArtifactsAggregateStatus = { goalStateAggregateStatus: { ...done, ...said } };
    });
    expect(await states()).toEqual(['uninstall']);
    await vm.report();
    expect(await states()).toEqual([]);
  });

  test('of one of several extensions disables the extension; of the last one, removes the handler', async () => {
    const vm = await givenStockVm(ctx, door, 'several');
    const many = { handler: 'Acme.Lab.Many' };
    await set(vm, 'first', many);
    await set(vm, 'second.one', { ...many, dependsOn: ['first'] });
    const wanted = await vm.poll();
    expect(wanted.settings).toMatchObject([
      { name: 'first', state: 'enabled', level: 0 },
      { name: expect.stringMatching(/^second_one_[0-9a-f]{8}$/), state: 'enabled', level: 1 },
    ]);
    await vm.report();
    expect(await shown(vm, 'second.one')).toMatchObject({ health: 'healthy' });
    await removeExtension(ctx, { vmId: vm.vmId, name: 'second.one' });
    const without = await next(vm, wanted);
    expect(without).toMatchObject({
      plugins: [{ state: 'enabled' }],
      settings: [{ state: 'enabled' }, { state: 'disabled' }],
    });
    await vm.report();
    expect((await getGoalState(ctx, { vmId: vm.vmId })).extensions.map(({ name }) => name)).toEqual(['first']);
    await removeExtension(ctx, { vmId: vm.vmId, name: 'first' });
    expect(await next(vm, without)).toMatchObject({ plugins: [{ state: 'uninstall' }] });
    await vm.report();
    expect((await getGoalState(ctx, { vmId: vm.vmId })).extensions).toEqual([]);
  });
});

describe('on hold', () => {
  test('the agent keeps its goal state, and gets all later declarations in one incarnation', async () => {
    const vm = await givenStockVm(ctx, door, 'held');
    const { vmId } = vm;
    await set(vm, 'probe');
    const before = await vm.poll();
    await vm.report();
    const held = await setHold(ctx, { vmId, onHold: true });
    expect(await setHold(ctx, { vmId, onHold: true })).toEqual(held);
    const wanted = await next(vm, before);
    expect(wanted).toMatchObject({ incarnation: String(held.incarnation), onHold: true, settings: [{ seqNo: 1 }] });
    await set(vm, 'probe', { settings: { publicSettings: { word: 'new' } } });
    await set(vm, 'other', { handler: 'Acme.Lab.Beat' });
    door.agents.forget(vmId);
    const restarted = new StockVm(door.url, vmId, vm.token);
    expect([await vm.poll(), await restarted.poll()]).toEqual([wanted, wanted]);
    // The agent reports that it has finished its current goal state.
    await vm.report(({ aggregateStatus: { vmArtifactsAggregateStatus: done } }) => {
      Object.assign(done?.goalStateAggregateStatus ?? {}, { inSvdSeqNo: wanted.incarnation });
    });
    expect(await view(vm)).toMatchObject({ agent: { hold: { by: 'Test operator' } }, health: 'progressing' });
    expect(await shown(vm)).toMatchObject({ deliveredAt: null, deadlineAt: null, status: { sequenceNumber: 1 } });
    const released = await setHold(ctx, { vmId, onHold: false });
    const after = await next(vm, wanted);
    expect(after).toMatchObject({ incarnation: String(released.incarnation), onHold: false });
    expect(after.settings.map(({ seqNo }) => seqNo)).toEqual([1, 2]);
    await vm.report();
    expect(await view(vm)).toMatchObject({ agent: { hold: null }, health: 'healthy' });
    const acts = await readActs(ctx.db, eq(auditEntries.vmId, vmId));
    const ofHold = acts.map(({ action }) => action).filter((action) => action.startsWith('hold.'));
    expect(ofHold.sort()).toEqual(['hold.release', 'hold.set']);
  });

  test('a hold that ends before the agent calls has no effect', async () => {
    const vm = await givenStockVm(ctx, door, 'held-shortly');
    await set(vm, 'probe');
    const before = await vm.poll();
    await setHold(ctx, { vmId: vm.vmId, onHold: true });
    await setHold(ctx, { vmId: vm.vmId, onHold: false });
    door.agents.forget(vm.vmId);
    expect(await vm.poll()).toEqual(before);
  });

  test('deadlines pause until the release; an overdue deadline stays overdue', async () => {
    const hours = (n: number) => ({ ...ctx, now: new Date(Date.now() + n * 3_600_000) });
    const given = async (name: string, heldIn: number) => {
      const vm = await givenStockVm(ctx, door, name);
      const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' as const };
      await setExtension(hours(-3), { vmId: vm.vmId, name: 'probe', goal });
      await setHold(hours(heldIn), { vmId: vm.vmId, onHold: true });
      await vm.poll();
      await vm.report();
      return vm;
    };
    const waiting = await given('held-in-time', -3);
    expect(await shown(waiting)).toMatchObject({ health: 'progressing', deadlineAt: null });
    const late = await given('held-too-late', -1);
    expect(await shown(late)).toMatchObject({ health: 'failed', deadlineAt: expect.any(String) });
    const release = hours(0);
    await setHold(release, { vmId: waiting.vmId, onHold: false });
    const { health, deadlineAt } = (await shown(waiting)) ?? {};
    expect(health).toBe('progressing');
    expect(Date.parse(deadlineAt ?? '')).toBeGreaterThan(release.now.getTime());
  });

  test('a VM without a stock agent cannot be put on hold', async () => {
    const { id: vmId } = await registerVm(ctx, { name: 'no-agent' });
    await expect(setHold(ctx, { vmId, onHold: true })).rejects.toMatchObject({ code: 'wire_access_absent' });
  });
});

test("a command's output is stored, separately for each run", async () => {
  const vm = await givenStockVm(ctx, door, 'outputs');
  await set(vm, 'probe');
  await vm.poll();
  const param = (name: string, value: string) => `<Param Name="${name}" Value="${value}" T="mt:wstr" />`;
  const event = (message: string) =>
    `<Event id="1"><![CDATA[${param('Name', 'Acme.Lab.Probe')}${param('Operation', 'Enable')}${param('Message', message)}]]></Event>`;
  const events = [
    event('Command: bin/enable&#10;[stdout]&#10;one'),
    event('Target handler state: enabled'),
    event('[stdout]&#10;two'),
  ];
  const body = `<TelemetryData version="1.0"><Provider id="x">${events.join('')}</Provider></TelemetryData>`;
  expect((await vm.call('wire', '/machine?comp=telemetrydata', { method: 'POST', body })).status).toBe(200);
  const { items } = await listOutputs(ctx, { vmId: vm.vmId });
  expect(items).toMatchObject([
    { extension: 'probe', command: 'enable', sequenceNumber: 1, attempt: 2, storedBytes: 12 },
    { extension: 'probe', command: 'enable', sequenceNumber: 1, attempt: 1, storedBytes: 32 },
  ]);
});

test('AZ-G11 logs are not requested from an agent that cannot send them', async () => {
  const vm = await givenStockVm(ctx, door, 'no-logs');
  await set(vm, 'probe');
  await expect(requestArchive(ctx, { vmId: vm.vmId, handler: 'Acme.Lab.Probe' })).rejects.toMatchObject({
    kind: 'conflict',
    code: 'logs_not_supported',
  });
  expect((await listArchives(ctx, { vmId: vm.vmId })).items).toEqual([]);
});

longTest('an agent that runs commands is expected to be silent until its next call', async () => {
  const vm = await givenStockVm(ctx, door, 'silent');
  await set(vm, 'probe');
  await vm.poll();
  const later = (minutes: number) => new Date(Date.now() + minutes * 60_000);
  const statusIn = async (minutes: number) =>
    (await getInstanceView({ ...ctx, now: later(minutes) }, { vmId: vm.vmId })).agent.status;
  // Sightings are written once a second.
  const soon = { timeout: 10_000 };
  await expect.poll(() => statusIn(24), soon).toBe('ready');
  expect(await statusIn(26)).toBe('unresponsive');
  await vm.report();
  await expect.poll(() => statusIn(3), soon).toBe('unknown');
  expect(await statusIn(11)).toBe('unresponsive');
});

describe('the cost of an idle agent', () => {
  test('a new goal state is read once, and served from memory', async () => {
    const vm = await givenStockVm(ctx, door, 'pinned');
    const before = await vm.poll();
    await set(vm, 'probe');
    // Five statements read the credential, the goal state's text, the agent, the manifests and the incarnation. Two
    // more record the change.
    expect(await statementsOf(() => next(vm, before))).toHaveLength(7);
    expect(await statementsOf(() => vm.poll())).toEqual([]);
  });

  test('unchanged polls and statuses run no statement, except for one report a minute', async () => {
    const vm = await givenStockVm(ctx, door, 'idle');
    await set(vm, 'probe');
    await vm.poll();
    await vm.report();
    await vm.poll();
    const period = async () => {
      await vm.poll();
      await vm.report();
      await vm.call('hgap', '/versions');
      await vm.call('hgap', '/health');
      await vm.call('wire', '/HealthService', {
        method: 'POST',
        body: healthPost({ GuestAgentPluginHeartbeat: true }),
      });
    };
    await period();
    // Stores the sighting now. Otherwise, it would be stored up to a second later.
    await door.presence.flush();
    const threePeriods = async () => {
      for (let n = 0; n < 3; n++) await period();
    };
    // The agent API's timers may run during some attempts, but not during all of them.
    await vi.waitFor(async () => expect(await statementsOf(threePeriods)).toEqual([]), { timeout: 5_000 });
  });
});
