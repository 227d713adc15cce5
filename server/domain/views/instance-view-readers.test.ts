import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Role } from '#db/schema/auth.ts';
import { agentPresence, agentProblems, agentRefusals, agents, reportHistory } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { setExtension } from '#server/domain/goal-states/index.ts';
import { grantWireAccess, setHold } from '#server/domain/stock-agents/index.ts';
import { refusalCodes } from '#server/domain/vms/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { getInstanceView } from './get-instance-view.ts';

let services: Services;
const start = new Date();
const later = (seconds: number) => new Date(start.getTime() + seconds * 1000);
const day = 86_400;

beforeAll(async () => {
  services = await testServices({ config: { wire: true } });
  await givenVersion(services.db, { supportsMultipleExtensions: true });
});

async function view(vmId: string, { role = 'viewer' as Role, now = start } = {}) {
  return getInstanceView(await testContext({ services, role, now }), { vmId });
}

/** Creates a VM with the extension `probe`, whose agent called at `start`. */
async function vmWithProbe(): Promise<GivenVm> {
  const vm = await givenVm(services);
  await vm.declare('probe');
  await vm.deliver(start);
  await services.db.insert(agentPresence).values({ vmId: vm.vmId, lastSeenAt: start, nextExpectedAt: later(60) });
  return vm;
}

async function report(vm: GivenVm, content: object, receivedAt = start): Promise<void> {
  await ingestReport(await vm.agent(receivedAt), { vmId: vm.vmId, report: content, receivedAt });
}

const failed = { extension: 'probe', version: '1.0.0.0', sequenceNumber: 1, state: 'failed', exitCode: 1 };

describe('the output of a command', () => {
  const lines = (count: number) =>
    Array.from({ length: count }, (_, n) => `line ${String(n).padStart(4, '0')}\n`).join('');

  test.each<[Role, boolean]>([
    ['viewer', false],
    ['publisher', false],
    ['operator', true],
    ['admin', true],
  ])('is in the view of a person with the role %s: %s', async (role, isShown) => {
    const vm = await vmWithProbe();
    await report(vm, { handlers: [{ ...failed, output: 'permission denied' }] });
    const { extensions, explanation } = await view(vm.vmId, { role });
    const [state] = extensions.map(({ handlerState }) => handlerState);
    if (isShown) expect(state?.outputTail).toBe('permission denied');
    else expect(state).not.toHaveProperty('outputTail');
    // Readers who cannot see the output do not get a button that shows it.
    expect(explanation?.act?.hasOutput).toBe(isShown);
    expect(JSON.stringify([extensions, explanation]).includes('permission denied')).toBe(isShown);
  });

  test.each<[string, string, string]>([
    ['of 4,000 characters is whole', 'x'.repeat(4_000), 'x'.repeat(4_000)],
    ['of one longer line keeps its end', `a${'x'.repeat(4_000)}`, 'x'.repeat(4_000)],
    ['that ends with a line break keeps the end of its only line', `${'x'.repeat(5_000)}\n`, `${'x'.repeat(3_999)}\n`],
    ['of many lines begins with a whole one', lines(500), lines(500).slice(-390 * 10)],
    ['is not cut within a character', `${'😀'.repeat(3_000)}x`, `\ufffd${'😀'.repeat(1_999)}x`],
  ])('%s', async (_, output, expected) => {
    const vm = await vmWithProbe();
    await report(vm, { handlers: [{ ...failed, output }] });
    const { extensions } = await view(vm.vmId, { role: 'operator' });
    const tail = extensions[0]?.handlerState?.outputTail ?? '';
    expect(tail.isWellFormed() && tail.length <= 4_000).toBe(true);
    if (output.includes('line')) {
      expect(tail.startsWith('line ') && output.endsWith(tail)).toBe(true);
      expect(tail.length).toBeGreaterThan(3_980);
    } else expect(tail).toBe(expected);
  });
});

test.each<[Role, boolean]>([
  ['viewer', false],
  ['publisher', false],
  ['operator', true],
  ['admin', true],
])('problems of the agent are in the view of a person with the role %s: %s', async (role, isShown) => {
  const vm = await vmWithProbe();
  const problem = { about: 'goal-state', message: 'cannot be read', at: start };
  await services.db.insert(agentProblems).values({ vmId: vm.vmId, ...problem });
  const { agent } = await view(vm.vmId, { role });
  if (isShown) expect(agent.problems).toEqual([{ ...problem, at: start.toISOString() }]);
  else expect(agent).not.toHaveProperty('problems');
});

describe('rejected calls', () => {
  const refuse = (vmId: string, code: string, at: Date) => services.db.insert(agentRefusals).values({ vmId, code, at });

  test('of the last day are shown, newest first, to everyone', async () => {
    const { vmId } = await givenVm(services);
    await refuse(vmId, 'counter_jumped', later(-100));
    await refuse(vmId, 'agent_unidentified', later(-50));
    await refuse(vmId, 'renewals_exceeded', later(-day + 1));
    await refuse(vmId, 'report_bytes_exceeded', later(-day));
    const { agent } = await view(vmId);
    expect(agent.refusals).toEqual([
      { code: 'agent_unidentified', at: later(-50).toISOString() },
      { code: 'counter_jumped', at: later(-100).toISOString() },
      { code: 'renewals_exceeded', at: later(-day + 1).toISOString() },
    ]);
  });

  const limits = {
    report_bytes_exceeded: 'reportBytesPerHour',
    goal_states_exceeded: 'goalStateBytesPerHour',
    history_cleared: 'historyBytes',
  } as const;
  test.each(refusalCodes)('%s names the limit that was exceeded, if there is one', async (code) => {
    const { vmId } = await givenVm(services);
    await refuse(vmId, code, later(-1));
    const limit = Object.entries(limits).find(([of]) => of === code)?.[1];
    const { agent } = await view(vmId);
    expect(agent.refusals[0]?.limitBytes).toBe(limit && services.config.limits.vm[limit]);
  });

  test('a cleared history names the oldest report that is kept or, if none is, the time of the clearing', async () => {
    const { vmId } = await givenVm(services);
    await refuse(vmId, 'history_cleared', later(-5));
    expect((await view(vmId)).agent.refusals[0]?.keptFrom).toBe(later(-5).toISOString());
    const row = { vmId, extension: 'probe', kind: 'status' as const, current: true, document: {} };
    await services.db.insert(reportHistory).values({ ...row, at: later(-300) });
    expect((await view(vmId)).agent.refusals[0]?.keptFrom).toBe(later(-300).toISOString());
  });
});

test('a second machine with the same identity, and a version that the agent did not name', async () => {
  const { vmId } = await givenVm(services);
  await services.db.insert(agents).values({
    ...{ vmId, credentialHash: randomUUID(), certificate: 'PEM', thumbprint: 'AB', keyHash: randomUUID() },
    ...{ name: 'annex', version: '', os: {}, enrolledAt: start, duplicateSeenAt: later(-9) },
  });
  expect((await view(vmId)).agent).toMatchObject({
    ...{ name: 'annex', version: null, enrolledAt: start.toISOString() },
    duplicateSeenAt: later(-9).toISOString(),
  });
});

test('a hold is the reason until it is released, and moves deadlines by its length', async () => {
  const operator = await testContext({ services, role: 'operator', now: start });
  const { id: vmId } = await registerVm(operator, { name: `held-${randomUUID().slice(0, 8)}` });
  await grantWireAccess(operator, { vmId });
  const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' as const };
  await setExtension(operator, { vmId, name: 'probe', goal });
  await services.db
    .insert(agentPresence)
    .values({ vmId, lastSeenAt: start, nextExpectedAt: later(60) })
    .onConflictDoUpdate({ target: agentPresence.vmId, set: { lastSeenAt: start, nextExpectedAt: later(60) } });
  const before = await view(vmId);
  expect([before.agent.hold, typeof before.extensions[0]?.deadlineAt]).toEqual([null, 'string']);
  await setHold({ ...operator, now: later(5) }, { vmId, onHold: true });
  const held = await view(vmId, { now: later(10) });
  expect(held.agent.hold).toEqual({ at: later(5).toISOString(), by: 'Test operator', reason: null, until: null });
  expect(held.extensions[0]?.deadlineAt).toBeNull();
  expect(held.explanation).toMatchObject({ lead: { code: 'lead.hold' }, act: null });
  await setHold({ ...operator, now: later(1_000) }, { vmId, onHold: false });
  const released = await view(vmId, { now: later(1_001) });
  expect(released.agent.hold).toBeNull();
  expect(Date.parse(released.extensions[0]?.deadlineAt ?? '')).toBe(
    Date.parse(before.extensions[0]?.deadlineAt ?? '') + 995_000,
  );
});

test('the conclusion of an earlier sequence number does not conclude the goal', async () => {
  const vm = await vmWithProbe();
  const file = [{ version: 1, timestampUTC: start.toISOString(), status: { status: 'success' } }];
  const status = { extension: 'probe', sequenceNumber: 1, ageSeconds: 0, readSecondsAgo: 0, file };
  await report(vm, { statuses: [status] });
  expect((await view(vm.vmId)).extensions[0]).toMatchObject({
    ...{ concludedWith: 'success', concludedAt: start.toISOString(), deadlineAt: null },
  });
  await vm.declare('probe', { settings: { publicSettings: { changed: true } } });
  expect((await view(vm.vmId, { now: later(1) })).extensions[0]).toMatchObject({
    ...{ concludedWith: null, concludedAt: null, done: false, deliveredAt: null, deadlineAt: expect.any(String) },
    status: { status: 'success', sequenceNumber: 1 },
  });
});

test('AZ-H3 the age of a heartbeat grows in whole seconds, and names the next reading', async () => {
  const vm = await vmWithProbe();
  const file = [{ version: 1, heartbeat: { status: 'ready', code: 0 } }];
  await report(vm, { heartbeats: [{ extension: 'probe', ageSeconds: 4.5, readSecondsAgo: 0, file }] });
  const at = async (seconds: number) => (await view(vm.vmId, { now: later(seconds) })).extensions[0]?.heartbeat;
  expect(await at(0)).toMatchObject({ ageSeconds: 4, nextReadingAt: later(120).toISOString() });
  expect(await at(0.5)).toMatchObject({ ageSeconds: 5 });
  expect(await at(30)).toMatchObject({ ageSeconds: 34, verdict: 'ready' });
});

test('the goal and the reports of a VM come from one moment', async () => {
  const vm = await vmWithProbe();
  const views = await Promise.all([
    ...Array.from({ length: 6 }, () => view(vm.vmId)),
    vm.declare('second').then(() => view(vm.vmId)),
  ]);
  for (const { incarnation, extensions } of views) expect(extensions.length).toBe(incarnation - 1);
});
