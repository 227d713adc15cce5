import { describe, expect, test } from 'vitest';
import type { StepExtension, StoredHealth } from './step-facts.ts';
import { facts, health, later, start, step } from './testing/facts.ts';
import { isOvertaken, watchHealth } from './watch-health.ts';

type Declared = NonNullable<StepExtension['declared']>;
const extension = (name: string, of: StoredHealth | null, declared: Partial<Declared> = {}): StepExtension => ({
  name,
  declared: { sequenceNumber: 2, state: 'enabled', version: '1.1.0.0', ...declared },
  health: of,
});
const touched = (...names: string[]) =>
  names.map((name) => ({ name, sequenceNumber: 2, before: null, version: '1.1.0.0' }));
const watch = (extensions: StepExtension[], changes: Parameters<typeof facts>[1] = {}) =>
  watchHealth(step({ touched: touched(...extensions.map(({ name }) => name)) }), {
    ...facts(null, changes),
    extensions,
  });

describe('RO-17 and RO-18 the health of one extension', () => {
  test.each([
    ['healthy', 'enabled', 'healthy'],
    ['disabled', 'disabled', 'healthy'],
    ['failed', 'enabled', 'failed'],
    ['failed', 'uninstalled', 'failed'],
    ['disabled', 'enabled', 'concluded'],
    ['degraded', 'enabled', 'concluded'],
    ['progressing', 'enabled', 'running'],
    ['progressing', 'disabled', 'running'],
    ['unknown', 'enabled', 'running'],
  ] as const)('%s, where it is declared %s, is %s', (word, state, result) => {
    const watched = watch([extension('probe', health(word), { state })]);
    const open = watched.result === 'unsettled' && (watched.isConcluded ? 'concluded' : 'running');
    expect(open || watched.result).toBe(result);
  });

  test('does not end a removal before the extension is gone', () => {
    const uninstalled = { state: 'uninstalled' } as const;
    expect(watch([extension('probe', health('healthy'), uninstalled)]).result).toBe('unsettled');
    expect(watch([{ name: 'probe', declared: null, health: null }])).toEqual({ result: 'healthy', since: null });
  });

  test('is unknown without a report, and if the report is about another sequence number', () => {
    const open = { result: 'unsettled', isConcluded: false, deadlineAt: null };
    expect(watch([extension('probe', null)])).toEqual(open);
    for (const sequenceNumber of [1, 3, null])
      expect(watch([extension('probe', health('failed', { sequenceNumber }))])).toEqual(open);
  });

  test('without a cause, a failure is called not healthy', () => {
    expect(watch([extension('probe', health('failed'))])).toEqual({ result: 'failed', cause: 'not-healthy' });
    expect(watch([extension('probe', health('failed', { cause: 'timeout' }))])).toMatchObject({ cause: 'timeout' });
  });
});

describe('RO-3 extensions that move together', () => {
  const good = extension('one', health('healthy', { since: later(20) }));
  const running = extension('two', health('progressing', { deadlineAt: later(700) }));

  test('are healthy since the last one is', () => {
    const last = extension('two', health('healthy', { since: later(80) }));
    expect(watch([good, last])).toEqual({ result: 'healthy', since: later(80) });
    expect(watch([last, good])).toEqual({ result: 'healthy', since: later(80) });
  });

  test('are not healthy while one of them is not', () => {
    expect(watch([good, running])).toMatchObject({ result: 'unsettled', isConcluded: false, deadlineAt: later(700) });
  });

  test('have concluded when all have, and have until the latest deadline', () => {
    const degraded = extension('three', health('degraded'));
    expect(watch([degraded, running])).toMatchObject({ isConcluded: false });
    expect(watch([degraded, good])).toMatchObject({ result: 'unsettled', isConcluded: true });
    const longer = extension('three', health('progressing', { deadlineAt: later(900) }));
    expect(watch([longer, running])).toMatchObject({ deadlineAt: later(900) });
  });

  test('fail with the first failure, whatever the others do, and before silence', () => {
    const failed = extension('three', health('failed', { cause: 'exit' }));
    expect(watch([good, running, failed], { agent: 'unresponsive' })).toEqual({ result: 'failed', cause: 'exit' });
  });
});

test('RO-18 a silent VM fails, except on hold', () => {
  const good = [extension('probe', health('healthy'))];
  expect(watch(good, { agent: 'unresponsive' })).toEqual({ result: 'failed', cause: 'silent' });
  expect(watch(good, { agent: 'unresponsive', hold: { since: start } }).result).toBe('healthy');
  expect(watch(good, { agent: 'unknown' }).result).toBe('healthy');
});

describe('someone else changed a touched extension', () => {
  const own = extension('probe', null);
  const absent: StepExtension = { name: 'probe', declared: null, health: null };

  test.each([
    ['the step’s own sequence number', {}, own, false],
    ['a later one', {}, extension('probe', null, { sequenceNumber: 3 }), true],
    ['an earlier one, after a restored backup', {}, extension('probe', null, { sequenceNumber: 1 }), true],
    ['none, after an update', {}, absent, true],
    ['none, after a removal', { kind: 'remove' }, absent, false],
    ['none, after a revert to its absence', { kind: 'revert' }, absent, false],
    ['none, while its absence is put back', { state: 'reverting' }, absent, false],
  ] as const)('it has %s', (_, of, given, isChanged) => {
    expect(isOvertaken(step(of), { extensions: [given] })).toBe(isChanged);
  });

  test('one of several is enough, and extensions that the step did not touch do not count', () => {
    const changed = extension('two', null, { sequenceNumber: 9 });
    const of = step({ touched: touched('probe', 'two') });
    expect(isOvertaken(of, { extensions: [own, changed] })).toBe(true);
    expect(isOvertaken(step(), { extensions: [own, changed] })).toBe(false);
  });
});
