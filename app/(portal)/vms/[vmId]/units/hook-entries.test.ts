import { describe, expect, it } from 'vitest';
import type { QueueLine } from '../vm-data.ts';
import { type HookEntry, hookQueue, isIdle, mixed, type ShownVmUnit } from './hook-entries.ts';

type Due = ShownVmUnit['due'][number];
const due = (hook: string, relation: number | null = null, remoteUnit: string | null = null, hasFile = true): Due => ({
  ...{ hook, relation, remoteUnit, hasFile, because: 'changed', version: null, waitsFor: null },
});
const unit = (name: string, turn: number, hooks: Due[], more: Partial<ShownVmUnit> = {}) =>
  ({ model: 'prod', unit: name, turn, running: null, due: hooks, failing: [], ...more }) as unknown as ShownVmUnit;
const running = { run: 'r', hook: 'start', remoteUnit: null, begunAt: '2026-11-29T12:00:00Z', timeoutSeconds: 300 };
const failing = [{ hook: 'db-relation-changed', remoteUnit: 'a/0', relation: { id: 3 }, nextAttemptBefore: 'soon' }];
const names = (entries: readonly { unit: string; hook: string }[]) => entries.map((one) => `${one.unit} ${one.hook}`);

describe('the hooks in the queue of a machine', () => {
  it('are sorted by the turn of their units, and hooks of relations come last', () => {
    const queue = hookQueue([
      unit('b/0', 9, [due('config-changed')]),
      unit('a/0', 4, [due('install'), due('start')]),
      unit('c/0', 1, [due('db-relation-joined', 3, 'x/0')]),
    ]);
    expect(queue.now).toBeNull();
    expect(names(queue.next)).toEqual(['a/0 install', 'b/0 config-changed', 'c/0 db-relation-joined']);
    expect(queue.waiting).toMatchObject([{ hook: 'start', waits: { kind: 'after', hook: 'install' } }]);
  });

  it('have the one that runs, although it is no longer due', () => {
    expect(hookQueue([unit('a/0', 4, [due('start')], { running })]).now).toMatchObject({ since: running.begunAt });
    const queue = hookQueue([unit('a/0', 4, [due('config-changed')], { running })]);
    expect(queue.now).toMatchObject({ hook: 'start', limitSeconds: 300 });
    expect(names(queue.next)).toEqual(['a/0 config-changed']);
  });

  it('say until when one that fails waits', () => {
    const hooks = [due('db-relation-changed', 3, 'a/0')];
    const queue = hookQueue([unit('b/0', 1, hooks, { failing: failing as never })]);
    expect(queue.waiting).toMatchObject([{ waits: { kind: 'retry', until: 'soon' } }]);
  });

  it('leave out hooks without a file, which count as done', () => {
    expect(hookQueue([unit('a/0', 1, [due('install', null, null, false)])]).next).toEqual([]);
  });
});

describe('a queue with hooks', () => {
  const line = (name: string, turn: number | null) => ({ name, turn }) as QueueLine;
  const hook = (name: string, turn: number) => hookQueue([unit(name, turn, [due('install')])]).next[0]!;
  const shown = (lines: QueueLine[], hooks: HookEntry[]) =>
    mixed(lines, hooks).map((entry) => (entry.kind === 'line' ? entry.line.name : entry.hook.unit));

  it('has one order by turn', () => {
    expect(shown([line('probe', 2), line('metrics', 8)], [hook('a/0', 4), hook('b/0', 9)])).toEqual([
      ...['probe', 'a/0', 'metrics', 'b/0'],
    ]);
  });

  it('keeps the order of the other work', () => {
    expect(shown([line('one', 8), line('two', 2), line('three', null)], [hook('a/0', 4)])).toEqual([
      ...['a/0', 'one', 'two', 'three'],
    ]);
  });

  it('is empty only without both', () => {
    const none = { now: null, next: [], waiting: [] };
    expect(isIdle(none, none)).toBe(true);
    expect(isIdle(none, hookQueue([unit('a/0', 1, [due('install')])]))).toBe(false);
    expect(isIdle({ ...none, next: [line('probe', 1)] }, none)).toBe(false);
  });
});
