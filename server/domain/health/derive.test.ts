import { describe, expect, test } from 'vitest';
import type { HandlerReport } from '#protocol/index.ts';
import { noPauses } from '#server/domain/verdicts/index.ts';
import { type AgentFacts, derive, type ExtensionFacts } from './derive.ts';
import { evaluateVm, type HealthUpdate } from './evaluate-vm.ts';
import type { ExtensionHealthRow, VmHealthFacts, VmHealthRow } from './load.ts';

const start = new Date('2026-03-01T12:00:00.000Z');
const after = (seconds: number) => new Date(start.getTime() + seconds * 1000);
const timeouts = { install: 1, update: 2, enable: 4, disable: 8, uninstall: 16 };
const report = (more: Partial<HandlerReport> = {}) =>
  ({ version: '1.0', sequenceNumber: 1, state: 'enabled', timedOut: false, ...more }) as HandlerReport;

/** An extension that was delivered at `start`. Running its commands and reading its status may take 305 s. */
const base: ExtensionFacts = {
  vmId: 'vm',
  name: 'probe',
  handler: 'Acme.Lab.Probe',
  goalVersion: '1.0',
  goal: 'enabled',
  goalSequenceNumber: 1,
  dependsOn: [],
  timeouts,
  commands: null,
  changedAt: after(-60),
  deliveredAt: start,
  heldAt: null,
  pastHolds: null,
  laneTakenAt: null,
  laneTimes: null,
  pauses: noPauses,
  handlerState: null,
  handlerAt: null,
  heartbeatStatus: null,
  heartbeatReadAt: null,
  heartbeatAgeSeconds: null,
  messageId: null,
  partFailed: false,
  partMessageId: null,
  statusWord: null,
  statusSequence: null,
  statusReadAt: null,
  statusAgeSeconds: null,
  concludedAt: null,
  concludedWith: null,
  optedIn: false,
  waitsUntil: null,
};
type Facts = Partial<ExtensionFacts>;
const agent: AgentFacts = { status: 'ready', heartbeatSeconds: null, statusSeconds: null };
const running: Facts = { handlerState: report({ state: 'enabling', command: 'enable' }), handlerAt: after(1) };
const enabled: Facts = { handlerState: report(), handlerAt: after(2) };
const status = (word: 'success' | 'error' | 'warning' | 'transitioning', readAt = after(5), ageSeconds = 0): Facts => ({
  statusWord: word,
  statusSequence: 1,
  statusReadAt: readAt,
  statusAgeSeconds: ageSeconds,
  ...(word === 'success' || word === 'error' ? { concludedAt: readAt, concludedWith: word } : {}),
});
const beat = (word: 'ready' | 'notready', readAt = after(5), ageSeconds = 0): Facts => ({
  optedIn: true,
  heartbeatStatus: word,
  heartbeatReadAt: readAt,
  heartbeatAgeSeconds: ageSeconds,
});

describe('AZ-S6 the health of an extension', () => {
  const failed: Facts = {
    handlerState: report({ state: 'failed', command: 'install', exitCode: 3 }),
    handlerAt: after(2),
  };
  const deadline = after(305);
  test.each<[string, Facts, number, string, Date | null]>([
    ['declared', {}, 10, 'progressing', deadline],
    ['its command runs', running, 10, 'progressing', deadline],
    ['enabled without a status', enabled, 10, 'progressing', deadline],
    ['at its deadline', enabled, 305, 'progressing', deadline],
    ['after its deadline', enabled, 305.001, 'failed deadline', deadline],
    ['concluded with success', { ...enabled, ...status('success') }, 400, 'healthy', null],
    ['concluded with an error', { ...enabled, ...status('error') }, 400, 'failed status', null],
    [
      'a success of the goal before',
      { ...enabled, ...status('success'), statusSequence: 0 },
      10,
      'progressing',
      deadline,
    ],
    ['a warning', { ...enabled, ...status('warning') }, 10, 'degraded status', deadline],
    ['a warning after its deadline', { ...enabled, ...status('warning') }, 306, 'failed deadline', deadline],
    [
      'a success with a failed part',
      { ...enabled, ...status('success'), partFailed: true },
      10,
      'degraded substatus',
      null,
    ],
    ['an exit code', failed, 10, 'failed exit', null],
    [
      'a timeout',
      { handlerState: report({ state: 'failed', timedOut: true }), handlerAt: after(2) },
      10,
      'failed timeout',
      null,
    ],
    ['a failure without an exit code', { handlerState: report({ state: 'failed' }) }, 10, 'failed command', null],
    ['a failure of the goal before', { ...failed, goalSequenceNumber: 2 }, 10, 'progressing', deadline],
    [
      'disabled as declared',
      { goal: 'disabled', handlerState: report({ state: 'disabled' }) },
      9_999,
      'disabled',
      null,
    ],
    ['enabled again', { handlerState: report({ state: 'disabled', sequenceNumber: 0 }) }, 10, 'progressing', deadline],
    ['waiting', { handlerState: report({ state: 'waiting', blockedBy: 'disk' }) }, 10, 'progressing waiting', deadline],
    ['no heartbeat from a handler that sends none', { ...enabled, ...status('success') }, 9_999, 'healthy', null],
    ['AZ-H3 not ready', { ...enabled, ...status('success'), ...beat('notready') }, 10, 'degraded heartbeat', null],
    [
      'AZ-H3 an overdue heartbeat',
      { ...enabled, ...status('success'), ...beat('ready') },
      156,
      'degraded heartbeat',
      null,
    ],
    ['AZ-H3 a heartbeat in time', { ...enabled, ...status('success'), ...beat('ready') }, 155, 'healthy', null],
    [
      'AZ-H4 a late heartbeat of a handler without',
      { ...enabled, ...status('success'), ...beat('ready'), optedIn: false },
      9_999,
      'healthy',
      null,
    ],
  ])('%s', (_, facts, seconds, expected, deadlineAt) => {
    const found = derive({ ...base, ...facts }, agent, after(seconds));
    expect([found.health, ...(found.cause === null ? [] : [found.cause])].join(' ')).toBe(expected);
    expect(found.deadlineAt).toEqual(deadlineAt);
  });

  test.each<[AgentFacts['status'], string]>([
    ['never', 'unknown'],
    ['unresponsive', 'unresponsive'],
    ['ready', 'failed'],
    ['unknown', 'failed'],
  ])('of an agent that is %s and reported a failure is %s', (word, health) => {
    expect(derive({ ...base, ...failed }, { ...agent, status: word }, after(10)).health).toBe(health);
  });

  test('counts the time until delivery from the declaration', () => {
    expect(derive({ ...base, deliveredAt: null }, agent, after(1)).deadlineAt).toEqual(after(245));
  });

  test('counts from the end of a wait', () => {
    expect(derive({ ...base, waitsUntil: after(100) }, agent, after(1)).deadlineAt).toEqual(after(405));
  });

  test('counts the planned commands only', () => {
    const commands = ['disable' as const, 'update' as const];
    expect(derive({ ...base, commands }, agent, after(1)).deadlineAt).toEqual(after(310));
    expect(derive({ ...base, commands: [] }, agent, after(1)).deadlineAt).toEqual(after(300));
  });

  test.each<[string, Facts, number, string | null]>([
    ['while it waits', { handlerState: report({ state: 'waiting', blockedBy: 'disk' }) }, 10, 'disk'],
    ['when that made it late', { handlerState: report({ state: 'waiting', blockedBy: 'disk' }) }, 999, 'disk'],
    ['where nothing blocks it', enabled, 10, null],
    ['once it failed', { handlerState: report({ state: 'failed', blockedBy: 'disk' }) }, 10, null],
  ])('names what it waits for: %s', (_, facts, seconds, waitsFor) => {
    expect(derive({ ...base, ...facts }, agent, after(seconds)).waitsFor).toBe(waitsFor);
  });

  test.each<[string, Facts, number | null, number, number | null]>([
    ['AZ-S4 a warning in time', status('warning'), null, 335, null],
    ['AZ-S4 an overdue warning', status('warning'), null, 337, 2],
    ['AZ-S4 a warning in an old file', status('warning', after(5), 160), null, 5, 10],
    ['AZ-S4 an overdue warning of an agent with its own period', status('warning'), 60, 97, 2],
    ['AZ-S4 a success', status('success'), null, 9_999, null],
    ['AZ-S4 an error', status('error', after(5), 900), null, 9_999, null],
  ])('%s is stale for so long', (_, facts, statusSeconds, seconds, staleFor) => {
    expect(derive({ ...base, ...enabled, ...facts }, { ...agent, statusSeconds }, after(seconds)).staleFor).toBe(
      staleFor,
    );
  });

  test.each<[string, Facts, number | null, number, string]>([
    ['none before it is enabled', { optedIn: true, ...running }, null, 9_999, 'none'],
    ['none while it may still come', { optedIn: true, ...enabled }, null, 152, 'none'],
    ['unknown once it should have come', { optedIn: true, ...enabled }, null, 153, 'unknown'],
    ['the same by the period of the agent', { optedIn: true, ...enabled }, 10, 43, 'unknown'],
    ['ready', beat('ready'), null, 10, 'ready'],
    ['unresponsive', beat('ready', after(5), 601), null, 10, 'unresponsive'],
  ])('AZ-H3 the verdict on its heartbeat: %s', (_, facts, heartbeatSeconds, seconds, verdict) => {
    expect(derive({ ...base, ...facts }, { ...agent, heartbeatSeconds }, after(seconds)).verdict).toBe(verdict);
  });
});

describe('the rows to write', () => {
  const presence = { lastSeenAt: start, nextExpectedAt: after(60), heartbeatSeconds: null, statusSeconds: null };
  const healthy: Facts = { ...enabled, ...status('success') };
  const broken: Facts = {
    handlerState: report({ state: 'failed', command: 'install', exitCode: 3 }),
    handlerAt: after(2),
  };
  const vmOf = (extensions: Facts[], known?: HealthUpdate): VmHealthFacts => ({
    id: 'vm',
    name: 'web',
    tags: { env: 'prod' },
    deleted: false,
    presence,
    extensions: extensions.map((facts) => ({ ...base, ...facts })),
    known: {
      vm: known?.vm ?? null,
      extensions: new Map(known?.extensions.map((row) => [row.name, row])),
      concern: null,
    },
  });
  const changed = (update: HealthUpdate) =>
    update.transitions.map(({ extension, kind, from, to, cause }) =>
      [extension ?? 'vm', kind, from ?? '-', to ?? '-', ...(cause === null ? [] : [cause])].join(' '),
    );
  const now = after(10);

  test('of a VM without extensions is its agent alone', () => {
    const update = evaluateVm(vmOf([]), now);
    expect(update.vm).toEqual({
      vmId: 'vm',
      name: 'web',
      tags: { env: 'prod' },
      health: 'healthy',
      rank: 5,
      agent: 'ready',
      since: now,
      deadlineAt: null,
    } satisfies VmHealthRow);
    expect(changed(update)).toEqual(['vm health - healthy']);
    expect([...update.added]).toEqual([
      ['extensions', 0],
      ['healthy', 1],
    ]);
    expect(update.nextAt).toBeNull();
  });

  test('are none if nothing changed', () => {
    const first = evaluateVm(vmOf([healthy]), now);
    expect(evaluateVm(vmOf([healthy], first), after(11))).toEqual({
      vmId: 'vm',
      vm: null,
      extensions: [],
      removed: [],
      concern: null,
      transitions: [],
      added: new Map([['extensions', 0]]),
      nextAt: after(305.001),
    });
  });

  test.each<[string, Facts[], Facts[], string[], [string, number][]]>([
    [
      'a failure, which is the cause of its VM',
      [healthy],
      [broken],
      ['vm health healthy failed exit', 'probe health healthy failed exit'],
      [
        ['extensions', 0],
        ['healthy', -1],
        ['failed', 1],
      ],
    ],
    [
      'a failure beside a failure',
      [broken, { ...healthy, name: 'disk' }],
      [broken, { ...broken, name: 'disk' }],
      ['disk health healthy failed exit'],
      [['extensions', 0]],
    ],
    [
      'an extension more',
      [healthy],
      [healthy, { ...healthy, name: 'disk' }],
      ['disk health - healthy'],
      [['extensions', 1]],
    ],
    [
      'an extension less',
      [healthy, { ...healthy, name: 'disk' }],
      [healthy],
      ['disk health healthy -'],
      [['extensions', -1]],
    ],
    [
      'the last failed extension less',
      [broken],
      [],
      ['vm health failed healthy', 'probe health failed -'],
      [
        ['extensions', -1],
        ['failed', -1],
        ['healthy', 1],
      ],
    ],
    [
      'a heartbeat that fails',
      [{ ...healthy, ...beat('ready') }],
      [{ ...healthy, ...beat('notready') }],
      [
        'vm health healthy degraded heartbeat',
        'probe health healthy degraded heartbeat',
        'probe heartbeat ready notready',
      ],
      [
        ['extensions', 0],
        ['healthy', -1],
        ['degraded', 1],
      ],
    ],
    [
      'another cause of the same health',
      [broken],
      [{ ...broken, handlerState: report({ state: 'failed', timedOut: true }) }],
      ['probe health failed failed timeout'],
      [['extensions', 0]],
    ],
    ['another version', [healthy], [{ ...healthy, goalVersion: '1.1' }], [], [['extensions', 0]]],
  ])('name %s', (_, before, next, transitions, added) => {
    const first = evaluateVm(vmOf(before), now);
    const update = evaluateVm(vmOf(next, first), after(20));
    expect(changed(update)).toEqual(transitions);
    expect([...update.added]).toEqual(added);
    for (const { at, vmId } of update.transitions) expect([at, vmId]).toEqual([after(20), 'vm']);
  });

  test('keep since when a health holds', () => {
    const first = evaluateVm(vmOf([broken]), now);
    const same = evaluateVm(
      vmOf([{ ...broken, handlerState: report({ state: 'failed', timedOut: true }) }], first),
      after(20),
    );
    expect(same.extensions).toMatchObject([{ since: now, cause: 'timeout' }]);
    expect(same.vm).toBeNull();
    const next = evaluateVm(vmOf([healthy], first), after(30));
    expect([next.vm?.since, next.extensions[0]?.since]).toEqual([after(30), after(30)]);
  });

  test.each<[string, Facts, Partial<ExtensionHealthRow>]>([
    ['a failed command', broken, { cause: 'exit', command: 'install', exitCode: 3 }],
    [
      'another trouble after a command',
      { ...running, ...status('error') },
      { cause: 'status', command: null, exitCode: null },
    ],
    ['a status', { ...healthy, ...status('error'), messageId: '7' }, { messageId: '7', cause: 'status' }],
    [
      'a failed part',
      { ...healthy, partFailed: true, messageId: '7', partMessageId: '8' },
      { messageId: '8', cause: 'substatus' },
    ],
    ['a failed part without an id', { ...healthy, partFailed: true, messageId: '7' }, { messageId: null }],
    ['what the agent runs', healthy, { goalVersion: '1.0', version: '1.0', handler: 'Acme.Lab.Probe' }],
    ['nothing that the agent runs', {}, { version: null, heartbeat: 'none', health: 'progressing' }],
  ])('show %s', (_, facts, row) => {
    expect(evaluateVm(vmOf([facts]), now).extensions).toMatchObject([row]);
  });

  test('have the nearest deadline of all extensions', () => {
    const slow: Facts = { name: 'slow', timeouts: { ...timeouts, enable: 100 } };
    const update = evaluateVm(vmOf([slow, {}, { ...healthy, name: 'done' }]), now);
    expect(update.vm).toMatchObject({ deadlineAt: after(305) });
    expect(update.extensions.map(({ name, deadlineAt }) => [name, deadlineAt])).toEqual([
      ['slow', after(401)],
      ['probe', after(305)],
      ['done', null],
    ]);
    expect(update.nextAt).toEqual(after(305.001));
  });

  test('of a silent VM have its silence as cause', () => {
    const first = evaluateVm(vmOf([healthy]), now);
    expect(changed(evaluateVm(vmOf([healthy], first), after(601)))).toEqual([
      'vm health healthy unresponsive silent',
      'probe health healthy unresponsive silent',
    ]);
  });
});
