import { expect, test } from 'vitest';
import type { QueueDetails, QueueLine } from '../vm-data.ts';
import { hookOf, nextHookOf, worstFirst } from './hook-entries.ts';

const line = (name: string, hook: string | null, more: Partial<QueueLine> = {}) =>
  ({
    ...{ kind: hook === null ? 'extension' : 'hook', name, id: null, since: null, limitSeconds: null, turn: 4 },
    hook: hook === null ? null : { model: 'prod', hook, remoteUnit: null, nextAttemptBefore: 'soon' },
    ...{ reason: null, ...more },
  }) as QueueLine;
const failed = { code: 'hook_failed', params: {}, text: 'Failed' } as QueueLine['reason'];

test('a hook has the sentence of its reason, and the time of its next attempt', () => {
  expect(hookOf(line('blog/0', 'install', { reason: failed }))).toMatchObject({
    ...{ model: 'prod', unit: 'blog/0', hook: 'install', turn: 4 },
    waits: { text: 'Failed', until: 'soon' },
  });
  expect(hookOf(line('blog/0', 'install'))?.waits).toBeNull();
  expect(hookOf(line('probe', null))).toBeNull();
});

test('the next hook of a unit runs, comes next, or waits', () => {
  const queue: QueueDetails = {
    now: line('store/0', 'start'),
    next: [line('blog/0', null), line('store/0', 'config-changed')],
    waiting: [line('blog/0', 'install', { reason: failed }), line('blog/0', 'start')],
  };
  expect(nextHookOf('store/0', queue)?.hook).toBe('start');
  expect(nextHookOf('blog/0', queue)?.hook).toBe('install');
  expect(nextHookOf('shop/0', queue)).toBeNull();
});

test('units are sorted by health, the worst first', () => {
  const units = (['healthy', 'progressing', 'failed', 'healthy'] as const).map((health, number) => ({
    health,
    number,
  }));
  expect(worstFirst(units).map(({ number }) => number)).toEqual([2, 1, 0, 3]);
});
