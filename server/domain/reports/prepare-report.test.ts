import { beforeAll, describe, expect, test } from 'vitest';
import { type Actor, anonymous, systemActor } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { testActor, testContext } from '#server/testing/context.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { isPlain, prepareReport, promisedSeconds } from './prepare-report.ts';

const vmId = '00000000-0000-4000-8000-000000000001';
const receivedAt = new Date('2026-01-01T12:00:00.000Z');
const agent: Actor = { kind: 'agent', id: vmId, name: 'web', role: null, namespaces: [] };
let ctx: Context;

beforeAll(async () => {
  ctx = await testContext({ actor: agent });
});

const prepare = (report: unknown, more: object = {}) => prepareReport(ctx, { vmId, report, receivedAt, ...more });
const handler = (state = 'enabled', extension = 'probe') => ({ extension, sequenceNumber: 1, state });
const heartbeat = (extension = 'probe') => ({
  extension,
  ageSeconds: 1,
  file: [{ version: 1, heartbeat: { status: 'ready' } }],
});

describe('a report', () => {
  test.each<[string, Actor, string]>([
    ['the agent of the VM', agent, 'done'],
    ['the agent of another VM', { ...agent, id: '00000000-0000-4000-8000-000000000002' }, 'forbidden forbidden'],
    ['an admin', testActor('admin'), 'forbidden forbidden'],
    ['a user with the id of the VM', { ...testActor('admin'), id: vmId }, 'forbidden forbidden'],
    ['the portal', systemActor, 'forbidden forbidden'],
    ['an anonymous caller', anonymous, 'forbidden forbidden'],
  ])('from %s: %s', async (_, actor, expected) => {
    const prepared = async () => prepareReport({ ...ctx, actor }, { vmId, report: {}, receivedAt });
    expect(await outcomeOf(prepared())).toBe(expected);
  });

  test.each<[string, object, string]>([
    ['an invalid VM id', { vmId: 'web' }, '/vmId field_format'],
    ['a negative counter', { counter: -1 }, '/counter field_too_small'],
    ['half a counter', { counter: 0.5 }, '/counter field_not_integer'],
  ])('is rejected with %s', async (_, change, fault) => {
    expect(await outcomeOf((async () => prepare({}, change))())).toBe(`bad_request invalid; ${fault}`);
  });
});

describe('what a report says about its agent', () => {
  test.each<[unknown, number | null]>([
    [undefined, null],
    [null, null],
    [-5, 1],
    [0.4, 1],
    [1, 1],
    [1.5, 2],
    [599.6, 600],
    [600, 600],
    [601, 600],
    [1e300, 600],
  ])('a period of %j counts as %j seconds', (stated, expected) => {
    const { frame } = prepare({ periods: { heartbeatSeconds: stated, statusSeconds: stated } });
    expect([frame.heartbeatSeconds, frame.statusSeconds]).toEqual([expected, expected]);
  });

  test.each<[string | undefined, number | null]>([
    [undefined, null],
    ['2026-01-01T12:00:00Z', 0],
    ['2026-01-01T12:00:00.499Z', 0],
    ['2026-01-01T12:00:01.500Z', 2],
    ['2026-01-01T11:59:00Z', -60],
    ['2026-01-01T14:00:05+02:00', 5],
    ['0001-01-01T00:00:00Z', -(2 ** 31)],
    ['9999-12-31T23:59:59Z', 2 ** 31 - 1],
  ])('a clock at %s is %j seconds ahead', (agentTime, expected) => {
    expect(prepare({ agentTime }).frame.clockSkewSeconds).toBe(expected);
  });

  test('what it omits is null', () => {
    expect(prepare({})).toEqual({
      vmId,
      receivedAt,
      counter: null,
      frame: {
        run: null,
        reportNumber: null,
        heartbeatSeconds: null,
        statusSeconds: null,
        clockSkewSeconds: null,
        appliedEtag: null,
      },
      entries: [],
      refused: [],
      problems: [],
      pendingRestart: undefined,
      faults: [],
    });
  });

  test.each<[number | null, number]>([
    [null, 30],
    [1, 30],
    [30, 30],
    [31, 31],
    [600, 600],
  ])(
    'with heartbeats every %j s, an agent that only reports calls again within %i s',
    (heartbeatSeconds, reporting) => {
      const { frame } = prepare({ periods: { heartbeatSeconds } });
      expect(promisedSeconds(frame)).toEqual({ polling: 30, reporting });
    },
  );
});

test.each<[string, object, boolean]>([
  ['nothing', {}, true],
  ['one entry', { heartbeats: [heartbeat()] }, true],
  ['one entry of each kind and extension', { heartbeats: [heartbeat(), heartbeat('x')], handlers: [handler()] }, true],
  ['two entries of one kind for an extension', { heartbeats: [heartbeat(), heartbeat()] }, false],
  ['a removal', { handlers: [handler('removed')] }, false],
  ['an uninstall that runs', { handlers: [handler('uninstalling')] }, true],
  ['a problem', { problems: [{ about: 'probe', message: 'm' }] }, false],
  ['no problem', { problems: [] }, true],
  ['a restart', { pendingRestart: [{ handler: 'A.B', version: '1', extensions: [], requestedSecondsAgo: 0 }] }, false],
  ['no longer a restart', { pendingRestart: [] }, false],
  ['a fault', { heartbeats: [heartbeat(), {}] }, false],
  ['a fault of the frame', { agentTime: 'noon' }, false],
  [
    'a frame with everything',
    { run: 'a', reportNumber: 4, agentTime: '2026-01-01T12:00:00Z', appliedEtag: '"x"' },
    true,
  ],
])('a batch can store a report with %s: %s', (_, report, expected) => {
  expect(isPlain(prepare(report))).toBe(expected);
});
