import { expect, test } from 'vitest';
import type { ExtensionFacts } from '#server/domain/health/index.ts';
import { openProblems } from './open-problems.ts';

type Problem = Parameters<typeof openProblems>[0][number];
type VmState = Parameters<typeof openProblems>[2];
type Read = Partial<
  Pick<
    ExtensionFacts,
    'optedIn' | 'heartbeatReadAt' | 'statusReadAt' | 'statusSequence' | 'goalSequenceNumber' | 'concludedAt'
  >
>;

const now = new Date('2026-03-01T12:00:00Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
const day = 86_400;
const problem = (about: string, more: Partial<Problem> = {}): Problem => ({
  ...{ vmId: 'vm', about, message: about, file: null, at: ago(100) },
  ...more,
});
const extension = (read: Read): ExtensionFacts =>
  ({
    ...{ name: 'probe', optedIn: true, heartbeatReadAt: null, statusReadAt: null },
    ...{ statusSequence: null, goalSequenceNumber: 2, concludedAt: null },
    ...read,
  }) as ExtensionFacts;
const fresh: VmState = { deliveredAt: null, restartPending: false };

const [before, same, after] = [ago(101), ago(100), ago(99)];

test.each<[string, Partial<Problem>, Read, boolean]>([
  ['of a status file that was not read since', { file: 'status' }, {}, true],
  ['of a status file that was read before', { file: 'status' }, { statusReadAt: before }, true],
  ['of a status file that was read at that moment', { file: 'status' }, { statusReadAt: same }, true],
  ['of a status file that was read after', { file: 'status' }, { statusReadAt: after }, false],
  ['of a status file while only the heartbeat was read', { file: 'status' }, { heartbeatReadAt: after }, true],
  ['of a heartbeat file that was read after', { file: 'heartbeat' }, { heartbeatReadAt: after }, false],
  ['of a heartbeat file while only the status was read', { file: 'heartbeat' }, { statusReadAt: after }, true],
  ['of an unnamed file while one of two was read', {}, { heartbeatReadAt: after }, true],
  ['of an unnamed file while the other of two was read', {}, { statusReadAt: after }, true],
  ['of an unnamed file after both were read', {}, { statusReadAt: after, heartbeatReadAt: after }, false],
  ['of an unnamed file of a handler without heartbeats', {}, { optedIn: false, statusReadAt: after }, false],
  [
    'of an unnamed file after the conclusion, when the status is not read again',
    {},
    { heartbeatReadAt: after, concludedAt: before, statusSequence: 2 },
    false,
  ],
  [
    'of an unnamed file after the conclusion of an earlier sequence',
    {},
    { heartbeatReadAt: after, concludedAt: before, statusSequence: 1 },
    true,
  ],
  ['of a day ago', { file: 'status', at: ago(day) }, {}, true],
  ['of more than a day ago', { file: 'status', at: ago(day + 0.001) }, {}, false],
  ['of an extension that is gone', { about: 'gone', file: 'status' }, {}, false],
])('a problem %s', (_, more, read, lasts) => {
  const found = openProblems([problem('probe', more)], [extension(read)], fresh, now);
  expect(found).toHaveLength(lasts ? 1 : 0);
});

test.each<[string, Partial<VmState>, boolean]>([
  ['goal-state', {}, true],
  ['goal-state', { deliveredAt: before }, true],
  ['goal-state', { deliveredAt: same }, true],
  ['goal-state', { deliveredAt: after }, false],
  ['restart', { restartPending: true }, true],
  ['restart', { restartPending: true, deliveredAt: before }, true],
  ['restart', { restartPending: true, deliveredAt: after }, false],
  ['restart', { restartPending: false }, false],
])('AZ-G8 a problem of the %s with %j', (about, state, lasts) => {
  expect(openProblems([problem(about)], [], { ...fresh, ...state }, now)).toHaveLength(lasts ? 1 : 0);
});

test('an extension may be called restart', () => {
  const named = { ...extension({}), name: 'restart' };
  const problems = [problem('restart', { file: 'status' })];
  expect(openProblems(problems, [named], fresh, now)).toHaveLength(1);
  expect(openProblems(problems, [{ ...named, statusReadAt: after }], fresh, now)).toEqual([]);
});

test('the newest comes first', () => {
  const times = [300, 100, 200];
  const problems = times.map((seconds) => problem('goal-state', { at: ago(seconds) }));
  expect(openProblems(problems, [], fresh, now).map(({ at }) => at)).toEqual([ago(100), ago(200), ago(300)]);
});
