import { describe, expect, test } from 'vitest';
import type { QueueEntry, VmQueue } from '#server/domain/work/index.ts';
import { type QueuedUnit, withHooks } from './queued-hooks.ts';

type Due = QueuedUnit['due'][number];
const due = (hook: string, relation: number | null = null, more: Partial<Due> = {}): Due => ({
  ...{ hook, relation, remoteUnit: relation === null ? null : 'x/0', hasFile: true, waitsFor: null, ...more },
});
const unit = (name: string, turn: number, hooks: Due[], more: Partial<QueuedUnit> = {}): QueuedUnit => ({
  ...{ model: 'prod', unit: name, version: '1.0.0.0', turn, running: null, due: hooks, failing: [], ...more },
});
const running = { run: 'r', hook: 'start', remoteUnit: null, begunAt: '2026-01-01T12:00:00Z', timeoutSeconds: 300 };
const failure = { hook: 'db-relation-changed', remoteUnit: 'x/0', relation: { id: 3 }, nextAttemptBefore: 'soon' };

const line = (name: string, turn: number | null, more: Partial<QueueEntry> = {}) =>
  ({ kind: 'extension', name, turn, hook: null, since: null, reason: null, ...more }) as QueueEntry;
const none: VmQueue = { now: null, next: [], waiting: [] };

/** The entries as `name hook`, with what they wait for. */
const words = ({ name, hook, reason }: QueueEntry) =>
  [name, hook?.hook, reason?.code, reason?.params.hook].filter(Boolean).join(' ');
const shown = (queue: VmQueue, units: QueuedUnit[], stopped: Parameters<typeof withHooks>[2] = null) => {
  const { now, next, waiting } = withHooks(queue, units, stopped);
  return { now: now && words(now), next: next.map(words), waiting: waiting.map(words) };
};

describe('the hooks in the queue of a VM', () => {
  test('have one order by turn with the other work, and hooks of relations come last', () => {
    const work = { ...none, next: [line('probe', 2), line('mount', 8)] };
    const units = [unit('b/0', 9, [due('install')]), unit('a/0', 4, [due('config-changed'), due('start')])];
    expect(shown(work, [unit('c/0', 1, [due('db-relation-joined', 3)]), ...units])).toEqual({
      now: null,
      next: ['probe', 'a/0 config-changed', 'mount', 'b/0 install', 'c/0 db-relation-joined'],
      waiting: ['a/0 start hook_after config-changed'],
    });
  });

  test('do not change the order of the other work', () => {
    const work = { ...none, next: [line('one', 8), line('two', 2), line('three', null)] };
    expect(shown(work, [unit('a/0', 4, [due('install')])]).next).toEqual(['a/0 install', 'one', 'two', 'three']);
  });

  test('leave out hooks without a file, which count as done', () => {
    expect(shown(none, [unit('a/0', 1, [due('install', null, { hasFile: false })])])).toEqual(none);
  });

  test.each<[string, QueuedUnit, Parameters<typeof withHooks>[2], string]>([
    ['the next attempt', unit('a/0', 1, [due('db-relation-changed', 3)], { failing: [failure] }), null, 'hook_failed'],
    ['an admin', unit('a/0', 1, [due('install', null, { waitsFor: 'release' })]), null, 'release'],
    ['the agent', unit('a/0', 1, [due('install')]), { code: 'silent', since: null }, 'silent'],
    ['the first agent', unit('a/0', 1, [due('install')]), { code: 'never', since: null }, 'never'],
  ])('wait for %s', (_, one, stopped, code) => {
    expect(withHooks(none, [one], stopped)).toMatchObject({ next: [], waiting: [{ reason: { code } }] });
  });

  test('say until when one that failed waits', () => {
    const { waiting } = withHooks(
      none,
      [unit('a/0', 1, [due('db-relation-changed', 3)], { failing: [failure] })],
      null,
    );
    expect(waiting).toMatchObject([{ hook: { nextAttemptBefore: 'soon', remoteUnit: 'x/0' }, turn: null }]);
  });
});

describe('what a machine does now', () => {
  test('is the hook that runs, which is listed once, also if it is no longer due', () => {
    const { now, next } = withHooks(none, [unit('a/0', 4, [due('start')], { running })], null);
    expect(now).toMatchObject({ id: 'r', name: 'a/0', since: running.begunAt, limitSeconds: 300, turn: 4 });
    expect(next).toEqual([]);
    expect(shown(none, [unit('a/0', 4, [due('config-changed')], { running })])).toEqual({
      ...{ now: 'a/0 start', next: ['a/0 config-changed'], waiting: [] },
    });
  });

  test.each([
    ['a command that began before the hook has ended', '2026-01-01T11:59:00Z', 'a/0 start', []],
    ['a hook that began before the command has ended', '2026-01-01T12:01:00Z', 'probe', []],
    ['an execution that has not begun comes next', null, 'a/0 start', ['probe']],
  ] as const)('is one thing: %s', (_, since, now, next) => {
    const queue = { ...none, now: line('probe', 2, { since }) };
    expect(shown(queue, [unit('a/0', 4, [], { running })])).toEqual({ now, next, waiting: [] });
  });
});
