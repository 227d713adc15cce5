import { describe, expect, test } from 'vitest';
import type { GoalStateExtension } from '#protocol/index.ts';
import type { StockExtension, StockGoalState } from '#server/domain/stock-agents/index.ts';
import { defaultLimits } from '#server/platform/limits.ts';
import { readStatus } from './read-status.ts';
import { partsOf, translateStatus } from './translate-status.ts';

const timeouts = { install: 300, update: 300, enable: 300, disable: 300, uninstall: 300 };
const handler = 'Acme.Lab.Probe';

function extension(goal: Partial<GoalStateExtension> = {}, stock: Partial<StockExtension> = {}): StockExtension {
  const bytes = { sha256: 'ab'.repeat(32), size: 1, url: '/' };
  return {
    goal: {
      ...{ name: 'probe', handler, version: '1.0', state: 'enabled', sequenceNumber: 3, dependsOn: [], timeouts },
      ...{ package: bytes, settings: {} },
      ...goal,
    },
    ...{ version: '1.0.0.0', wireName: null, level: 0, reportsHeartbeat: false },
    ...stock,
  };
}

const goalStateOf = (...extensions: StockExtension[]): StockGoalState => ({
  ...{ etag: '"test.7"', incarnation: 7, movedAt: new Date(0), containerId: 'c', onHold: false, extensions },
  sightings: [],
  heard: { version: '', os: {}, settled: null },
});

/** An entry as the agent writes it; null for an absent handler. */
type Entry = Record<string, unknown> | null;
const formatted = (message: string) => ({ lang: 'en-US', message });
const entry = (over: Record<string, unknown> = {}): Entry => ({
  ...{ handlerName: handler, handlerVersion: '1.0.0.0', status: 'Ready', code: 0, useExactVersion: true },
  formattedMessage: formatted('Plugin enabled'),
  ...over,
});
const withStatus = (status: object, over: Record<string, unknown> = {}): Entry => {
  const settingsStatus = { version: 1, timestampUTC: '2026-01-01T00:00:00Z', status: { name: handler, ...status } };
  return entry({ runtimeSettingsStatus: { sequenceNumber: 3, settingsStatus, ...over } });
};

function report(goalState: StockGoalState, entries: Entry[], done: Record<string, unknown> | null = {}) {
  const goalStateAggregateStatus = { inSvdSeqNo: '7', status: 'Success', code: 0, ...done };
  const blob = readStatus({
    ...{ version: '1.1', timestampUTC: '2026-01-01T00:00:00Z' },
    aggregateStatus: {
      guestAgentStatus: { version: '2.7.3.0', status: 'Ready' },
      handlerAggregateStatus: entries.filter((each) => each !== null),
      ...(done !== null && { vmArtifactsAggregateStatus: { goalStateAggregateStatus } }),
    },
  });
  if (blob === null) throw new Error('it cannot be read');
  return translateStatus(blob, goalState, defaultLimits.report, () => 'then');
}

describe("a handler's state in a finished goal state", () => {
  const failed = (code: number, message: string) =>
    entry({ status: 'NotReady', code, formattedMessage: formatted(message) });
  const [enabled, disabled, uninstall] = [{}, { state: 'disabled' as const }, { state: 'uninstall' as const }];

  test.each<[string, Partial<GoalStateExtension>, Entry, Record<string, unknown> | null]>([
    ['enabled', enabled, entry(), { state: 'enabled', command: 'enable', version: '1.0', sequenceNumber: 3 }],
    ['absent', enabled, null, null],
    ['of another version', enabled, entry({ handlerVersion: '1.1.0.0' }), { state: 'enabled', version: '1.1.0.0' }],
    [
      'installed',
      enabled,
      entry({ status: 'NotReady', formattedMessage: formatted('Plugin installed but not enabled') }),
      { state: 'installed' },
    ],
    [
      'failed to install',
      enabled,
      failed(1007, 'Non-zero exit code: 3, bin/install\n[stdout]\n'),
      { state: 'failed', command: 'install', exitCode: 3, timedOut: false },
    ],
    [
      'failed to update',
      enabled,
      failed(1008, '[ExtensionError] Non-zero exit code: 17, x'),
      { state: 'failed', command: 'update', exitCode: 17 },
    ],
    [
      'failed to enable',
      enabled,
      failed(1009, 'no word of it'),
      { state: 'failed', command: 'enable', output: 'no word of it' },
    ],
    ['timed out', enabled, failed(1011, 'Timeout(300): bin/enable'), { state: 'failed', timedOut: true }],
    [
      'timed out according to its text',
      enabled,
      failed(1009, 'Timeout(300): bin/enable'),
      { state: 'failed', command: 'enable', timedOut: true },
    ],
    ['failed by the agent', enabled, failed(-1, 'Unknown ext handler state:banana'), { state: 'failed' }],
    [
      'with a code from an earlier failure',
      enabled,
      entry({ code: -1, formattedMessage: formatted('Failed to get heart beat file') }),
      { state: 'enabled' },
    ],
    [
      'disabled',
      disabled,
      entry({ status: 'NotReady', formattedMessage: formatted('Plugin disabled') }),
      { state: 'disabled', command: 'disable' },
    ],
    [
      'disabled with a fresh heartbeat',
      disabled,
      entry({ status: 'ready', formattedMessage: formatted('Plugin disabled') }),
      { state: 'disabled' },
    ],
    ['never installed to be disabled', disabled, null, { state: 'disabled' }],
    ['failed to disable', disabled, failed(1010, 'x'), { state: 'failed', command: 'disable' }],
    ['gone', uninstall, null, { state: 'removed', sequenceNumber: 3 }],
    ['still reported', uninstall, entry(), { state: 'uninstalling' }],
    ['still reported, because disable failed', uninstall, failed(1010, 'x'), { state: 'failed', command: 'disable' }],
  ])('%s', (_, goal, formatted, expected) => {
    const { handlers } = report(goalStateOf(extension(goal)), [formatted]);
    expect(handlers).toMatchObject(expected === null ? [] : [expected]);
  });

  test.each<[string, Record<string, unknown> | null]>([
    ['an unfinished goal state', { inSvdSeqNo: '6' }],
    ['a failed goal state', { status: 'Failed', code: 2001 }],
    ['none yet', null],
    ['an invalid number', { inSvdSeqNo: 'seven' }],
  ])('with %s, no absent extension counts as removed or disabled', (_, done) => {
    const goalState = goalStateOf(extension({ state: 'uninstall' }), extension({ name: 'off', state: 'disabled' }));
    const { handlers, appliedEtag } = report(goalState, [], done);
    expect(handlers).toEqual([]);
    expect(appliedEtag).toBe(done?.status === 'Failed' ? '"test.7"' : undefined);
  });

  test('with an unreadable entry, or without the list, no extension counts as removed', () => {
    const goalState = goalStateOf(extension({ state: 'uninstall' }));
    expect(report(goalState, [{ handlerName: handler, status: 5 }]).handlers).toEqual([]);
    const done = { inSvdSeqNo: '7', status: 'Success' };
    const blob = readStatus({ aggregateStatus: { vmArtifactsAggregateStatus: { goalStateAggregateStatus: done } } });
    expect(blob && translateStatus(blob, goalState, defaultLimits.report, () => 'then').handlers).toEqual([]);
  });

  test('the incarnation may be a JSON number', () => {
    expect(report(goalStateOf(extension({ state: 'uninstall' })), [], { inSvdSeqNo: 7 }).handlers).toHaveLength(1);
  });

  test('an unfinished goal state keeps the previous state under its sequence number', () => {
    const status = withStatus({ status: 'success' }, { sequenceNumber: 2 });
    expect(report(goalStateOf(extension()), [status], { inSvdSeqNo: '6' }).handlers).toMatchObject([
      { state: 'enabled', sequenceNumber: 2 },
    ]);
  });

  test('a skipped extension waits for the failed extension', () => {
    const message = `Skipping processing of extensions since execution of dependent extension ${handler} failed`;
    const after = extension({ name: 'after', handler: 'Acme.Lab.After', dependsOn: ['probe'] }, { level: 1 });
    const skipped = entry({ ...failed(-1, message), handlerName: 'Acme.Lab.After' });
    expect(report(goalStateOf(after), [skipped]).handlers).toMatchObject([{ state: 'waiting', blockedBy: 'probe' }]);
  });

  test('a handler is found in any case, and an undeclared handler is ignored', () => {
    const entries = [entry({ handlerName: handler.toUpperCase() }), entry({ handlerName: 'Acme.Lab.Foreign' })];
    expect(report(goalStateOf(extension()), entries).handlers).toHaveLength(1);
  });
});

describe('a heartbeat', () => {
  const beating = goalStateOf(extension({}, { reportsHeartbeat: true }));
  const file = (heartbeat: object) => [{ version: 1, heartbeat }];

  test.each<[string, Record<string, unknown>, number, object]>([
    ['AZ-H1 Ready', {}, 0, { status: 'ready', code: 0 }],
    [
      'ready with a text',
      { status: 'ready', formattedMessage: formatted('all well') },
      0,
      { status: 'ready', code: 0, formattedMessage: formatted('all well') },
    ],
    ['notready', { status: 'notready', code: 5 }, 0, { status: 'notready', code: 5 }],
    ['Unresponsive', { status: 'Unresponsive' }, 601, { status: 'notready', code: 0 }],
    ['an unknown word', { status: 'banana' }, 61, { status: 'ready', code: 0 }],
    [
      'the code and message of an earlier heartbeat',
      { code: -1, formattedMessage: formatted('Failed to get heart beat file') },
      0,
      { status: 'ready' },
    ],
    [
      'a missing file',
      { status: 'NotReady', code: -1, formattedMessage: formatted('Failed to get heart beat file') },
      0,
      { status: 'notready', code: -1, formattedMessage: formatted('Failed to get heart beat file') },
    ],
  ])('%s', (_, over, ageSeconds, heartbeat) => {
    const { heartbeats, handlers } = report(beating, [entry(over)]);
    expect(heartbeats).toEqual([{ extension: 'probe', ageSeconds, readSecondsAgo: 0, file: file(heartbeat) }]);
    expect(handlers).toMatchObject([{ state: 'enabled' }]);
  });

  test('AZ-H4 is absent for a handler without a heartbeat, and for a failed or disabled handler', () => {
    expect(report(goalStateOf(extension()), [entry()]).heartbeats).toEqual([]);
    expect(report(beating, [entry({ status: 'NotReady', code: 1009 })]).heartbeats).toEqual([]);
    const off = goalStateOf(extension({ state: 'disabled' }, { reportsHeartbeat: true }));
    expect(report(off, [entry({ status: 'ready' })]).heartbeats).toEqual([]);
  });
});

describe('a status', () => {
  const statusOf = (status: object, over?: Record<string, unknown>) =>
    report(goalStateOf(extension()), [withStatus(status, over)]).statuses[0];

  test.each<[unknown, unknown]>([
    [0, 0],
    ['3', 3],
    [' -7 ', -7],
    ['many', undefined],
    [1.5, undefined],
    ['0x80070005', 2147942405],
    [null, undefined],
  ])('code %j is %j', (code, expected) => {
    const status = statusOf({
      status: 'Success',
      code,
      operation: null,
      configurationAppliedTime: null,
      formattedMessage: formatted('x'),
    });
    expect(status).toEqual({
      ...{ extension: 'probe', sequenceNumber: 3, ageSeconds: 0, readSecondsAgo: 0 },
      file: [
        {
          ...{ version: 1, timestampUTC: 'then' },
          status: {
            name: handler,
            status: 'success',
            ...(expected !== undefined && { code: expected }),
            formattedMessage: formatted('x'),
          },
        },
      ],
    });
  });

  test.each<[GoalStateExtension['state'], number]>([
    ['enabled', 1],
    ['disabled', 0],
    ['uninstall', 0],
  ])('filled in by the agent without a file counts only while the goal is enabled: %s', (state, count) => {
    const filler =
      'This status is being reported by the Guest Agent since no status file was reported by extension Acme.Lab.Probe: [Errno 2]';
    const status = { status: 'transitioning', code: 0, operation: null, formattedMessage: formatted(filler) };
    const goalState = goalStateOf(extension({ state }));
    expect(report(goalState, [withStatus(status)]).statuses).toHaveLength(count);
    const own = { ...status, formattedMessage: formatted('Stopped.') };
    expect(report(goalState, [withStatus(own)]).statuses).toHaveLength(1);
  });

  test('a null message is absent; unreadable substatuses and unknown words are dropped', () => {
    const substatus = [
      { name: 'a', status: 'Error', code: '4', formattedMessage: formatted('x') },
      { name: 'b', status: 'banana' },
      null,
      5,
    ];
    const whole = statusOf({ status: 'warning', formattedMessage: { lang: 'en-US', message: null }, substatus });
    expect(whole?.file).toMatchObject([
      {
        status: {
          status: 'warning',
          substatus: [{ name: 'a', status: 'error', code: 4, formattedMessage: formatted('x') }],
        },
      },
    ]);
    expect(JSON.stringify(whole)).not.toContain('banana');
    expect(statusOf({ status: 'success' }, { sequenceNumber: '3' })).toMatchObject({ sequenceNumber: 3 });
    expect(statusOf({ status: 'success' }, { sequenceNumber: null })).toBeUndefined();
  });

  test('AZ-S1 a status with an unknown word is passed on, so that the portal names the fault', () => {
    const odd = { status: 'banana', code: 'x' };
    expect(statusOf(odd)).toMatchObject({ extension: 'probe', sequenceNumber: 3, file: [{ status: odd }] });
  });

  test('AZ-S2 is read like a status of the reference agent, in any spelling', () => {
    const part = {
      Name: 'StdOut',
      Status: ' SUCCESS ',
      Code: '0',
      FormattedMessage: { Lang: 'en', Message: { a: 1 } },
    };
    const bare = { name: 'no message', status: 'error', formattedMessage: { lang: 'en' }, code: [] };
    const status = { status: 'Success', Code: '', formattedMessage: { message: 'x' }, SubStatus: [part, bare] };
    expect(statusOf(status)?.file).toEqual([
      {
        ...{ version: 1, timestampUTC: 'then' },
        status: {
          ...{ name: handler, status: 'success', formattedMessage: { lang: 'en-US', message: 'x' } },
          substatus: [
            { name: 'StdOut', status: 'success', code: 0, formattedMessage: { lang: 'en', message: '{"a":1}' } },
            { name: 'no message', status: 'error' },
          ],
        },
      },
    ]);
  });

  test('texts above the limits are truncated between characters, not dropped', () => {
    const [whole] = statusOf({ status: 'error', formattedMessage: formatted('ü'.repeat(9_000)) })?.file ?? [];
    expect(whole).toMatchObject({ status: { formattedMessage: { message: 'ü'.repeat(8_192) } } });
    const output = report(goalStateOf(extension()), [
      entry({ code: 1009, formattedMessage: formatted('€'.repeat(40_000)) }),
    ]);
    expect(Buffer.byteLength(output.handlers[0]?.output ?? '')).toBe(65_535);
  });
});

describe('several extensions of one handler', () => {
  const many = goalStateOf(
    extension({ name: 'first' }, { wireName: 'first' }),
    extension({ name: 'second' }, { wireName: 'second' }),
    extension({ name: 'third', state: 'uninstall' }, { wireName: 'third' }),
  );
  const of = (extensionName: string, over: Record<string, unknown> = {}) =>
    ({ ...withStatus({ status: 'success' }, { extensionName }), ...over }) as Entry;

  test('each has its own entry, and an extension without an entry counts as removed', () => {
    const { handlers, statuses } = report(many, [of('first'), of('second', { code: 1009, status: 'NotReady' })]);
    expect(handlers).toMatchObject([
      { extension: 'first', state: 'enabled' },
      { extension: 'second', state: 'failed', command: 'enable' },
      { extension: 'third', state: 'removed' },
    ]);
    expect(statuses).toMatchObject([{ extension: 'first' }, { extension: 'second' }]);
  });

  test('a failure of the handler is a failure of each extension', () => {
    const { handlers } = report(many, [entry({ status: 'NotReady', code: 1007 })]);
    expect(handlers).toMatchObject([{ state: 'failed' }, { state: 'failed' }, { state: 'removed' }]);
  });
});

test.each<[string, unknown]>([
  ['nothing', null],
  ['a list', []],
  ['without aggregateStatus', { version: '1.1' }],
  ['with text as aggregateStatus', { aggregateStatus: 'Ready' }],
])('a blob that is %s is rejected', (_, value) => {
  expect(readStatus(value)).toBeNull();
});

test('malformed parts of a blob do not affect other parts', () => {
  const odd = {
    guestAgentStatus: 5,
    handlerAggregateStatus: [null, {}, 'x', entry(), entry({ code: {}, formattedMessage: 7 })],
  };
  expect(readStatus({ aggregateStatus: odd, guestOSInfo: [] })).toMatchObject({
    ...{ agentVersion: null, os: {}, settled: null, isWhole: false },
    handlers: [{ handlerName: handler }, { handlerName: handler }],
  });
});

test('long texts are truncated between characters, and invalid numbers are omitted', () => {
  const guestOSInfo = { osName: `${'x'.repeat(63)}\u{1f600}`, osVersion: 'y'.repeat(100_000), version: 'z'.repeat(65) };
  const goalStateAggregateStatus = { inSvdSeqNo: '99999999999', status: 'Success' };
  const aggregateStatus = { handlerAggregateStatus: [], vmArtifactsAggregateStatus: { goalStateAggregateStatus } };
  const os = { name: 'x'.repeat(63), version: 'y'.repeat(64) };
  const read = readStatus({ guestOSInfo, aggregateStatus });
  expect(read).toMatchObject({ agentVersion: 'z'.repeat(64), os, settled: null, isWhole: true });
});

test('more extensions than a report may have are sent in several reports', () => {
  const frame = { periods: { heartbeatSeconds: 60, statusSeconds: 60 }, heartbeats: [] };
  const handlers = Array.from({ length: 150 }, (_, at) => ({
    ...{ extension: `probe-${at}`, version: '1.0', sequenceNumber: 1, state: 'enabled' as const },
  }));
  const statuses = handlers.map(({ extension, sequenceNumber }) => ({ extension, sequenceNumber, file: [] }));
  const parts = partsOf({ ...frame, handlers, statuses }, 200);
  expect(parts.map((part) => part.handlers.length + part.statuses.length)).toEqual([132, 132, 36]);
  expect(parts.flatMap((part) => part.handlers)).toEqual(handlers);
  expect(partsOf({ ...frame, handlers, statuses: [] }, 200)).toHaveLength(1);
});
