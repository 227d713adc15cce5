import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { agentPresence, agents, changes } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { testContext } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { readFleetRows } from './fleet-rows.ts';
import { getInstanceView } from './get-instance-view.ts';
import { heartbeat, later, openProbeStage, type ProbeStage, start, status, statusFile } from './testing/probe.ts';

let stage: ProbeStage;
let services: Services;
beforeAll(async () => {
  stage = await openProbeStage();
  ({ services } = stage);
});

const send: ProbeStage['send'] = (...report) => stage.send(...report);
const view: ProbeStage['view'] = (...reader) => stage.view(...reader);
const _resources: ProbeStage['resources'] = (...file) => stage.resources(...file);
const vmWithProbe: ProbeStage['vmWithProbe'] = (...handler) => stage.vmWithProbe(...handler);

test('shows a VM whose agent never called', async () => {
  const vm = await givenVm(services);
  await vm.declare('probe');
  expect(await view(vm)).toMatchObject({
    vmId: vm.vmId,
    name: vm.name,
    incarnation: 2,
    deliveredIncarnation: 0,
    agent: { status: 'never', lastSeenAt: null, version: null, clockSkewSeconds: null },
    extensions: [
      {
        name: 'probe',
        handler: 'Acme.Lab.Probe',
        goalVersion: '1.0.0.0',
        version: null,
        goal: 'enabled',
        goalSequenceNumber: 1,
        handlerState: null,
        heartbeat: { verdict: 'none', ageSeconds: null, message: null },
        status: null,
        health: 'unknown',
      },
    ],
    health: 'unknown',
    languages: [],
  });
});

test('AZ-S6 heartbeat and status of all extensions are aggregated into one response', async () => {
  const vm = await vmWithProbe();
  await send(vm, {
    agentTime: later(7).toISOString(),
    handlers: [
      {
        extension: 'probe',
        version: '1.0.0.0',
        sequenceNumber: 1,
        state: 'enabled',
        command: 'enable',
        exitCode: 0,
        attempt: 1,
        output: `${'x'.repeat(5000)}\nlast line\n`,
      },
    ],
    ...heartbeat('ready'),
    ...status(
      statusFile('success', { code: 0, operation: 'probing', substatus: [{ name: 'disk', status: 'warning' }] }),
    ),
  });
  const asOperator = await getInstanceView(await testContext({ services, role: 'operator', now: later(5) }), {
    vmId: vm.vmId,
  });
  expect(asOperator).toMatchObject({
    agent: { status: 'ready', lastSeenAt: start.toISOString(), clockSkewSeconds: 7 },
    extensions: [
      {
        version: '1.0.0.0',
        deadlineAt: null,
        concludedAt: start.toISOString(),
        concludedWith: 'success',
        deliveredAt: start.toISOString(),
        handlerState: {
          state: 'enabled',
          command: 'enable',
          sequenceNumber: 1,
          exitCode: 0,
          timedOut: false,
          attempt: 1,
          outputTail: 'last line\n',
          blockedBy: null,
          at: start.toISOString(),
        },
        heartbeat: { verdict: 'ready', ageSeconds: 9, code: null, message: null },
        status: {
          sequenceNumber: 1,
          status: 'success',
          code: 0,
          operation: 'probing',
          timestampUTC: '2026-01-01T00:00:00.000Z',
          stale: false,
          staleSeconds: 0,
          message: null,
          substatus: [{ name: 'disk', status: 'warning', code: null, message: null, substatus: [] }],
        },
        health: 'healthy',
      },
    ],
    health: 'healthy',
  });
  const asViewer = await view(vm);
  expect(asViewer.extensions[0]?.handlerState).not.toHaveProperty('outputTail');
  expect(JSON.stringify(asViewer)).not.toContain('last line');
});

describe('time', () => {
  test('AZ-H3 AZ-S4 AZ-S6 a VM whose agent stops calling changes although nothing is written', async () => {
    const vm = await vmWithProbe();
    await send(vm, { ...heartbeat('ready'), ...status(statusFile('warning')) });
    const at = async (seconds: number) => {
      const { agent, extensions, health } = await view(vm, undefined, { now: later(seconds) });
      const [extension] = extensions;
      return [agent.status, extension?.heartbeat.verdict, extension?.status?.staleSeconds, extension?.health, health];
    };
    expect(await at(10)).toEqual(['ready', 'ready', 0, 'degraded', 'degraded']);
    expect(await at(151)).toEqual(['unknown', 'unknown', 0, 'degraded', 'degraded']);
    expect(await at(340)).toEqual(['unknown', 'unknown', 10, 'degraded', 'degraded']);
    expect(await at(597)).toEqual(['unknown', 'unresponsive', 267, 'degraded', 'degraded']);
    expect(await at(601)).toEqual(['unresponsive', 'unresponsive', 271, 'unresponsive', 'unresponsive']);
  });

  test('AZ-H3 only the portal’s clock and the reported age count, not the guest’s clock', async () => {
    const vm = await vmWithProbe();
    await send(vm, {
      agentTime: '1999-01-01T00:00:00Z',
      ...heartbeat('ready', { ageSeconds: 50, readSecondsAgo: 20 }),
    });
    const { extensions } = await view(vm);
    expect(extensions[0]?.heartbeat).toMatchObject({
      verdict: 'ready',
      ageSeconds: 70,
      readAt: later(-20).toISOString(),
      nextReadingAt: later(100).toISOString(),
    });
  });

  test('AZ-S6 a deadline that passes without a conclusion fails, and a conclusion cancels it', async () => {
    const vm = await vmWithProbe();
    await send(vm, { ...status(statusFile('transitioning')) });
    const at = async (seconds: number) => {
      await services.db
        .update(agentPresence)
        .set({ lastSeenAt: later(seconds), nextExpectedAt: later(seconds + 60) })
        .where(eq(agentPresence.vmId, vm.vmId));
      return (await view(vm, undefined, { now: later(seconds) })).extensions[0];
    };
    expect(await at(100)).toMatchObject({ health: 'progressing', deadlineAt: later(900).toISOString() });
    expect(await at(901)).toMatchObject({ health: 'failed' });
    await send(vm, { ...status(statusFile('success')) }, later(902));
    expect(await at(903)).toMatchObject({ health: 'healthy', deadlineAt: null, concludedWith: 'success' });
  });

  test('a deadline includes every planned command, and unfinished commands of the previous goal', async () => {
    const vm = await vmWithProbe();
    const declared = async (goal: object) => {
      await vm.declare('probe', goal);
      await vm.deliver(start);
      return (await view(vm)).extensions[0]?.deadlineAt;
    };
    const within = (minutes: number) => later(minutes * 60).toISOString();
    // The deadline allows time for enable, for an install that may not have finished and, after a change of the
    // version, for the commands of the update. It always includes the time to read the status.
    expect(await declared({ settings: { publicSettings: { a: 1 } } })).toBe(within(15));
    expect(await declared({ version: '2.0.0.0' })).toBe(within(30));
    await send(vm, status(statusFile('success'), { sequenceNumber: 3 }));
    expect(await declared({ version: '2.0.0.0', settings: { publicSettings: { a: 2 } } })).toBe(within(10));
    await send(vm, status(statusFile('success'), { sequenceNumber: 4 }));
    expect(await declared({ version: '1.0.0.0' })).toBe(within(25));
  });

  test("AZ-G2 AZ-S6 a deadline counts from the extension's turn, because steps run one at a time", async () => {
    const vm = await vmWithProbe();
    await vm.declare('agent', { handler: 'Acme.Lab.Quiet', timeouts: { install: 3600 } });
    await vm.deliver(start);
    const handler = { extension: 'agent', sequenceNumber: 1, command: 'install', attempt: 1 };
    const deadline = async () => (await view(vm)).extensions.find(({ name }) => name === 'probe')?.deadlineAt;
    expect(await deadline()).toBe(later(900).toISOString());
    await send(vm, { handlers: [{ ...handler, state: 'installing' }] }, later(10));
    expect(await deadline()).toBe(later(10 + 3600 + 900).toISOString());
    await send(vm, { handlers: [{ ...handler, state: 'installed', exitCode: 0 }] }, later(2000));
    expect(await deadline()).toBe(later(2000 + 900).toISOString());
  });

  test('AZ-S6 an extension that is disabled as declared has no deadline, and does not count', async () => {
    const vm = await vmWithProbe();
    await vm.declare('probe', { state: 'disabled' });
    expect(await view(vm)).toMatchObject({ extensions: [{ health: 'progressing', deadlineAt: expect.any(String) }] });
    await send(vm, { handlers: [{ extension: 'probe', sequenceNumber: 2, state: 'disabled' }] });
    expect(await view(vm)).toMatchObject({ health: 'healthy', extensions: [{ health: 'disabled', deadlineAt: null }] });
  });

  test('AZ-H4 a handler that did not opt in shows no heartbeat verdict instead of a bad verdict', async () => {
    const vm = await vmWithProbe('Acme.Lab.Quiet');
    await send(vm, { ...heartbeat('notready'), ...status(statusFile('success')) });
    expect((await view(vm, undefined, { now: later(500) })).extensions[0]).toMatchObject({
      heartbeat: { verdict: 'none', ageSeconds: null, code: null, message: null },
      health: 'healthy',
    });
  });

  test('AZ-S6 a waiting extension shows what it waits for', async () => {
    const vm = await vmWithProbe();
    await vm.declare('agent', { handler: 'Acme.Lab.Quiet', dependsOn: ['probe'] });
    const handlers = [{ extension: 'agent', sequenceNumber: 1, state: 'waiting', blockedBy: 'probe' }];
    await send(vm, { handlers });
    expect((await view(vm)).extensions[0]).toMatchObject({
      name: 'agent',
      dependsOn: ['probe'],
      handlerState: { state: 'waiting', blockedBy: 'probe' },
      health: 'progressing',
    });
  });
});

test('AZ-S1 a rejected status is shown with its faults until a valid one was read', async () => {
  const vm = await vmWithProbe();
  const bad = statusFile('done', { code: 'E7' });
  const changesOf = () => services.db.$count(changes, eq(changes.key, vm.vmId));
  await expect(send(vm, status(bad), later(1))).rejects.toMatchObject({ code: 'report_invalid' });
  const refused = {
    sequenceNumber: 1,
    readAt: later(1).toISOString(),
    faults: [{ path: '/0/status/status', code: 'field_choice' }, { path: '/0/status/code' }],
  };
  expect((await view(vm)).extensions).toMatchObject([{ status: null, refusedStatus: refused, health: 'progressing' }]);

  // An invalid file that is sent again does not notify open pages. Valid entries of the same report are stored.
  const notified = await changesOf();
  await expect(send(vm, status(bad), later(2))).rejects.toThrow();
  expect(await changesOf()).toBe(notified);
  await send(vm, { ...heartbeat('ready'), ...status(statusFile('done')) }, later(3));
  expect((await view(vm)).extensions[0]?.refusedStatus?.faults).toHaveLength(1);

  await send(vm, status(statusFile('success')), later(4));
  expect((await view(vm)).extensions).toMatchObject([{ refusedStatus: null, status: { status: 'success' } }]);
  await expect(send(vm, status(bad), later(5))).rejects.toThrow();
  expect((await view(vm)).extensions).toMatchObject([{ status: { status: 'success' }, refusedStatus: {} }]);
  await vm.declare('probe', { settings: { publicSettings: { other: true } } });
  expect((await view(vm)).extensions).toMatchObject([{ refusedStatus: null }]);
});

test('AZ-H1 a rejected heartbeat is shown with its faults until a valid one was read', async () => {
  const vm = await vmWithProbe();
  await expect(send(vm, heartbeat('fine'), later(1))).rejects.toThrow();
  expect((await view(vm)).extensions).toMatchObject([
    { refusedHeartbeat: { sequenceNumber: null, faults: [{ path: '/0/heartbeat/status', code: 'field_choice' }] } },
  ]);
  await send(vm, heartbeat('ready'), later(2));
  expect((await view(vm)).extensions).toMatchObject([{ refusedHeartbeat: null }]);
});

test('a few faults of rejected files are stored, and only for extensions of the VM', async () => {
  const vm = await vmWithProbe();
  const substatus = Array.from({ length: 50 }, () => ({ status: 'odd' }));
  await expect(send(vm, status(statusFile('done', { substatus })))).rejects.toThrow();
  await expect(send(vm, status(statusFile('done'), { extension: 'elsewhere' }))).rejects.toThrow();
  const { extensions } = await view(vm);
  expect(extensions.map(({ refusedStatus }) => refusedStatus?.faults.length)).toEqual([5]);
});

test('AZ-S5 a status after the conclusion counts for health, and sets no new deadline', async () => {
  const vm = await vmWithProbe();
  await send(vm, { ...heartbeat('ready'), ...status(statusFile('success')) });
  const statusNow = (word: string) => statusFile(word, { formattedMessage: { lang: 'en', message: `now ${word}` } });
  for (const [index, [word, health]] of (
    [
      ['error', 'failed'],
      ['warning', 'degraded'],
      ['transitioning', 'progressing'],
      ['success', 'healthy'],
    ] as const
  ).entries()) {
    const at = later(index + 10);
    await send(vm, { ...heartbeat('ready'), ...status(statusNow(word)) }, at);
    expect((await view(vm, 'en', { now: at })).extensions).toMatchObject([
      {
        health,
        status: { status: word, message: { text: `now ${word}` } },
        concludedAt: start.toISOString(),
        concludedWith: 'success',
        deadlineAt: null,
      },
    ]);
  }
  // The agent was silent for longer than any deadline: the status counts as stale, and the goal is not late.
  await send(vm, { ...heartbeat('ready'), ...status(statusNow('warning')) }, later(20));
  await send(vm, heartbeat('ready'), later(5000));
  const [probe] = (await view(vm, 'en', { now: later(5000) })).extensions;
  expect(probe).toMatchObject({ health: 'degraded', cause: 'status', status: { stale: true }, deadlineAt: null });
});

test('AZ-S6 an error substatus under a success degrades the extension, with its sentence', async () => {
  const vm = await vmWithProbe();
  const full = { name: 'disk', status: 'error', code: 28, formattedMessage: { lang: 'de', message: 'sdb1 ist voll' } };
  const parts = [
    { name: 'net', status: 'success', substatus: [full] },
    { name: 'cpu', status: 'error' },
  ];
  await send(vm, { ...heartbeat('ready'), ...status(statusFile('success', { substatus: parts })) });
  const [probe] = (await view(vm)).extensions;
  expect(probe).toMatchObject({
    health: 'degraded',
    cause: 'substatus',
    failedPart: { name: 'disk', code: 28, message: { text: 'sdb1 ist voll', lang: 'de' } },
  });
  const ctx = await testContext({ services, role: 'viewer', now: start });
  expect((await readFleetRows(ctx, { vmIds: [vm.vmId] })).items).toMatchObject([{ health: 'degraded' }]);

  await send(vm, status(statusFile('success', { substatus: [{ ...full, status: 'success' }] })));
  expect((await view(vm)).extensions).toMatchObject([{ health: 'healthy', cause: null, failedPart: null }]);
});

test("a list shows the same health as the VMs' pages", async () => {
  const vms = await Promise.all([vmWithProbe(), vmWithProbe(), givenVm(services)]);
  const [good, bad, empty] = vms as [GivenVm, GivenVm, GivenVm];
  await send(good, { ...heartbeat('ready'), ...status(statusFile('success')) });
  await send(bad, { ...status(statusFile('error')) });
  const ctx = await testContext({ services, role: 'viewer', now: start });
  const { items } = await readFleetRows(ctx, { vmIds: vms.map(({ vmId }) => vmId) });
  const health = new Map(items.map((row) => [row.id, row]));
  expect(health.get(good.vmId)).toMatchObject({
    health: 'healthy',
    agent: { status: 'ready', lastSeenAt: start.toISOString() },
    extensions: [{ name: 'probe', handler: 'Acme.Lab.Probe', health: 'healthy', waitsFor: null }],
  });
  expect(health.get(bad.vmId)).toMatchObject({ health: 'failed', extensions: [{ health: 'failed' }] });
  expect(health.get(empty.vmId)).toMatchObject({
    health: 'unknown',
    agent: { status: 'never', lastSeenAt: null },
    extensions: [],
  });
  for (const { vmId } of vms) {
    const whole = await getInstanceView(ctx, { vmId });
    expect(whole.health).toBe(health.get(vmId)?.health);
  }
});

test('rejects anonymous callers and unknown VMs', async () => {
  const vm = await vmWithProbe();
  await expect(getInstanceView(await testContext({ services, role: null }), { vmId: vm.vmId })).rejects.toMatchObject({
    kind: 'unauthenticated',
  });
  const nowhere = { vmId: '00000000-0000-4000-8000-000000000000' };
  await expect(getInstanceView(await testContext({ services }), nowhere)).rejects.toMatchObject({ code: 'vm_unknown' });
  expect(await services.db.$count(agents, eq(agents.vmId, vm.vmId))).toBe(0);
});
