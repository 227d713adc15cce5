import { expect, test } from 'vitest';
import reports from '#locales/en/reports.json' with { type: 'json' };
import type { ExplainedExtension } from './explanation.ts';
import { noticeCodes, noticeOf } from './notice.ts';

const at = '2026-11-20T12:00:00.000Z';
const handler = (more: Partial<NonNullable<ExplainedExtension['handlerState']>> = {}) => ({
  state: 'enabled' as const,
  command: 'enable' as const,
  sequenceNumber: 2,
  exitCode: 0,
  timedOut: false,
  attempt: 1,
  blockedBy: null,
  at,
  ...more,
});
const status = (sequenceNumber: number) => ({ status: 'success' as const, sequenceNumber, code: 0, readAt: at });
const extension = (more: Partial<ExplainedExtension>): ExplainedExtension => ({
  name: 'probe',
  goal: 'enabled',
  goalSequenceNumber: 2,
  deliveredAt: at,
  deadlineAt: null,
  concludedWith: null,
  needsSecrets: false,
  needsRelease: false,
  handlerState: handler(),
  heartbeat: { verdict: 'none', readAt: null },
  status: null,
  refusedStatus: null,
  health: 'progressing',
  cause: null,
  failedPart: null,
  ...more,
});

test.each<[string, Partial<ExplainedExtension>, string | null]>([
  ['it waits for another', { handlerState: handler({ state: 'waiting', blockedBy: 'mount' }) }, 'waits mount'],
  ['its handler reported a status of the goal', { status: status(2) }, null],
  ['its command failed', { handlerState: handler({ exitCode: 1 }) }, 'failed enable'],
  [
    'its command failed after a status of an earlier goal',
    { handlerState: handler({ exitCode: 1 }), status: status(1) },
    'failed enable',
  ],
  ['it is removed', { goal: 'uninstall', status: status(2) }, 'leaving'],
  ['it is not delivered', { deliveredAt: null, handlerState: null }, 'notDelivered'],
  [
    'it is not delivered, and an earlier goal has a status',
    { deliveredAt: null, handlerState: null, status: status(1) },
    null,
  ],
  ['the agent has not begun', { handlerState: null }, 'notBegun'],
  [
    'the agent has not begun, and an earlier goal has a status',
    { handlerState: handler({ sequenceNumber: 1 }), status: status(1) },
    null,
  ],
  [
    'a command runs',
    { handlerState: handler({ state: 'installing', exitCode: null }), status: status(1) },
    'installing',
  ],
  ['it is enabled without a status', {}, 'enabled'],
  ['it is enabled, and an earlier goal has a status', { status: status(1) }, null],
])('the notice where %s', (_, more, expected) => {
  const notice = noticeOf(extension(more));
  expect(notice && [notice.code, ...Object.values(notice.values)].join(' ')).toBe(expected);
});

test('every notice has a translation', () => {
  expect(noticeCodes.filter((code) => !(`said.${code}` in reports))).toEqual([]);
});
