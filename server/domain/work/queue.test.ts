import { describe, expect, test } from 'vitest';
import type { HandlerWork } from '#protocol/index.ts';
import { queueOf } from './queue.ts';
import type { QueuedTarget, QueueFacts, ReportedExtension } from './queue-facts.ts';
import type { QueueEntry } from './queue-words.ts';

const timeouts = { install: 10, update: 20, enable: 30, disable: 40, uninstall: 50 };
const goalAsked = { by: 'Ada', at: '2030-01-01T10:00:00.000Z' };
const ownAsked = { by: 'Bob', at: '2030-01-01T09:00:00.000Z' };
const deliveredAt = '2030-01-01T10:01:00.000Z';
const reportedAt = '2030-01-01T10:02:00.000Z';

/** Returns an extension with its own handler. */
const target = (name: string, more: Partial<QueuedTarget> = {}): QueuedTarget => ({
  ...{ name, handler: `Lab.${name}`, version: '2.0', state: 'enabled', dependsOn: [], package: { sha256: name } },
  ...{ sequenceNumber: 1, timeouts, asked: ownAsked, installsInUpdate: false },
  ...more,
});
const factsOf = (extensions: readonly QueuedTarget[], more: Partial<QueueFacts> = {}): QueueFacts => ({
  goal: { turn: 5, asked: goalAsked, deliveredAt, extensions },
  ...{ heldGoal: null, reports: [], executions: [], isHeld: false, stopped: null, restarting: [], withheld: [] },
  ...more,
});
/** Returns what an agent of the first release reports. */
const reported = (
  name: string,
  report: Partial<NonNullable<ReportedExtension['report']>>,
  more: Partial<ReportedExtension> = {},
): ReportedExtension => ({
  ...{ name, handler: `Lab.${name}`, hasOutput: false, reportedAt, status: null },
  report: {
    ...{ sequenceNumber: 1, version: '2.0', state: 'enabled', command: undefined, exitCode: undefined },
    ...{ timedOut: false, attempt: undefined, blockedBy: undefined, work: undefined },
    ...report,
  },
  ...more,
});
/** Returns the `work` of a report, which agents of the first release do not send. */
const work = (more: Partial<HandlerWork> = {}): HandlerWork => ({
  ...{ turn: 5, round: 1, commandVersion: '2.0', versions: { '2.0': 'installed' }, extensions: { a: '2.0' } },
  ...more,
});

const shown = ({ step, name, version, reason }: QueueEntry) => {
  const waits = reason && [reason.code, ...Object.values(reason.params)].join(' ');
  return `${step} ${name} ${version}${waits === null ? '' : ` (${waits})`}`;
};
const listOf = (facts: QueueFacts) => {
  const { now, next, waiting } = queueOf(facts);
  return { now: now && shown(now), next: next.map(shown), waiting: waiting.map(shown) };
};

const enabling = { state: 'enabling', command: 'enable' } as const;
const installing = { state: 'installing', command: 'install' } as const;
const installed = { state: 'installed', command: 'install', exitCode: 0 } as const;
const enabled = { state: 'enabled', command: 'enable', exitCode: 0 } as const;
const failed = { state: 'failed', command: 'install', exitCode: 7 } as const;
const early = { reportedAt: '2030-01-01T10:00:59.000Z' };
const word = (status: 'error' | 'success' | 'transitioning', sequenceNumber = 1) => ({
  status: { word: status, sequenceNumber },
});
const [a, b] = [target('a'), target('b', { dependsOn: ['a'] })];
const installB = 'install b 2.0';
const enableB = 'enable b 2.0';
const download = ['install a 2.0 (download Lab.a 2.0)', 'enable a 2.0 (download Lab.a 2.0)'];

describe('the queue of a machine', () => {
  test.each<[what: string, facts: QueueFacts, now: string | null, next: string[], waiting: string[]]>([
    ['without extensions', factsOf([]), null, [], []],
    ['that has nothing yet', factsOf([a]), null, [], download],
    [
      'that never had an agent',
      factsOf([a], { stopped: { code: 'never', since: null } }),
      null,
      [],
      ['install a 2.0 (never)', 'enable a 2.0 (never)'],
    ],
    [
      'that is silent',
      factsOf([a], { reports: [reported('a', installed)], stopped: { code: 'silent', since: null } }),
      null,
      [],
      ['enable a 2.0 (silent)'],
    ],
    ['that installs', factsOf([a], { reports: [reported('a', installing)] }), 'install a 2.0', ['enable a 2.0'], []],
    ['whose install ended', factsOf([a], { reports: [reported('a', installed)] }), null, ['enable a 2.0'], []],
    ['whose install failed', factsOf([a], { reports: [reported('a', failed)] }), null, [], []],
    ['that enables', factsOf([a], { reports: [reported('a', enabling)] }), 'enable a 2.0', [], []],
    [
      'whose enable timed out',
      factsOf([a], { reports: [reported('a', { ...enabling, timedOut: true })] }),
      null,
      [],
      [],
    ],
    [
      'whose enable has output',
      factsOf([a], { reports: [reported('a', enabling, { hasOutput: true })] }),
      null,
      [],
      [],
    ],
    ['at its goal', factsOf([a], { reports: [reported('a', enabled)] }), null, [], []],
    [
      'at its goal before a new delivery',
      factsOf([a], { reports: [reported('a', enabled, early)] }),
      null,
      ['enable a 2.0'],
      [],
    ],
    [
      'that disables',
      factsOf([target('a', { state: 'disabled' })], { reports: [reported('a', enabled, early)] }),
      null,
      ['disable a 2.0'],
      [],
    ],
    [
      'that removes',
      factsOf([target('a', { state: 'uninstall' })], { reports: [reported('a', enabled, early)] }),
      null,
      ['disable a 2.0', 'uninstall a 2.0'],
      [],
    ],
    [
      'that removed',
      factsOf([target('a', { state: 'uninstall' })], { reports: [reported('a', { state: 'removed' })] }),
      null,
      [],
      [],
    ],
    [
      'that updates',
      factsOf([a], { reports: [reported('a', { ...enabled, version: '1.0' }, early)] }),
      null,
      [],
      [
        ...['disable a 1.0', 'update a 2.0', 'uninstall a 1.0', 'enable a 2.0'].map(
          (step) => `${step} (download Lab.a 2.0)`,
        ),
      ],
    ],
  ])('%s', (_, facts, now, next, waiting) => {
    expect(listOf(facts)).toEqual({ now, next, waiting });
  });

  const unpackedB = reported('b', {
    ...{ state: 'waiting', command: undefined, version: undefined },
    work: work({ versions: { '2.0': 'unpacked' }, extensions: {} }),
  });
  const ofA = (report: Parameters<typeof reported>[1], more: Partial<ReportedExtension> = {}) =>
    reported('a', { ...report, work: work() }, more);
  test.each<[what: string, ofA: ReportedExtension, next: string[], waiting: string[]]>([
    ['is enabled', ofA(enabled), [installB, enableB], []],
    ['is enabled, and works', ofA(enabled, word('success')), [installB, enableB], []],
    ['is enabled, and in transition', ofA(enabled, word('transitioning')), [], [`${enableB} (dependency a)`]],
    ['is enabled, with an error', ofA(enabled, word('error')), [], [`${enableB} (dependency_failed a)`]],
    ['had an error before its last change', ofA(enabled, word('error', 0)), [installB, enableB], []],
    ['is being enabled', ofA(enabling), [], [`${installB} (dependency a)`, `${enableB} (dependency a)`]],
    ['failed', ofA({ ...failed, work: work() }), [], [`${enableB} (dependency_failed a)`]],
  ])('what depends on an extension that %s', (_, of, next, waiting) => {
    const { next: later, waiting: blocked } = listOf(factsOf([a, b], { reports: [of, unpackedB] }));
    expect({ next: later, waiting: blocked }).toEqual({ next, waiting });
  });

  test('enables after the restart that the handler requested, if the agent restarts the machine', () => {
    const reports = [reported('a', { ...installed, work: work() })];
    expect(listOf(factsOf([a], { reports })).next).toEqual(['enable a 2.0']);
    expect(listOf(factsOf([a], { reports, restarting: ['Lab.a'] })).waiting).toEqual(['enable a 2.0 (restart Lab.a)']);
  });

  test('on hold shows what runs after the release, based on the machine at that time', () => {
    const heldGoal = { turn: 6, asked: goalAsked, deliveredAt: null, extensions: [target('a', { state: 'disabled' })] };
    const facts = factsOf([a], { heldGoal, reports: [reported('a', installed)] });
    expect(listOf(facts)).toEqual({ now: null, next: ['enable a 2.0'], waiting: ['disable a 2.0 (hold)'] });
    expect(queueOf(facts).waiting).toMatchObject([{ turn: 6 }]);
  });

  test.each(['secrets', 'release'] as const)('names extensions that wait for %s', (code) => {
    const facts = factsOf([], { withheld: [{ name: 'c', code, asked: ownAsked }] });
    expect(queueOf(facts).waiting).toMatchObject([
      { name: 'c', step: null, turn: 5, askedBy: 'Bob', reason: { code, params: { extension: 'c' } } },
    ]);
  });
});

describe('an entry', () => {
  test('names who requested the change, or the goal state if the extension was finished', () => {
    const [first] = queueOf(factsOf([a])).waiting;
    expect(first).toMatchObject({ askedBy: 'Bob', askedAt: ownAsked.at, turn: 5, limitSeconds: 10 });
    const [again] = queueOf(factsOf([a], { reports: [reported('a', enabled, early)] })).next;
    expect(again).toMatchObject({ askedBy: 'Ada', askedAt: goalAsked.at, turn: 5, limitSeconds: 30, since: null });
  });

  test('of a command that runs for an earlier goal state has that turn and no requester', () => {
    const { now, next } = queueOf(factsOf([a], { reports: [reported('a', { ...enabling, work: work({ turn: 4 }) })] }));
    expect(now).toMatchObject({ step: 'enable', turn: 4, askedBy: null, askedAt: null, since: reportedAt });
    expect(next.map(shown), 'the current goal state enables again').toEqual(['enable a 2.0']);
  });

  test('is absent for a command of an earlier round, whose end was never reported', () => {
    const lost = reported('a', { ...enabling, work: work({ round: 1 }) });
    const newer = reported('c', { ...enabled, work: work({ round: 2, extensions: { c: '2.0' } }) });
    expect(queueOf(factsOf([a, target('c')], { reports: [lost, newer] })).now).toBeNull();
  });
});

describe('an invalid report does not break the queue', () => {
  const versions = { constructor: 'installed', banana: 'installed', '9999999999.1': 'installed' } as const;
  const used = JSON.parse('{ "__proto__": "banana", "constructor": "2.0", "a": "\\u202e0.2" }');
  const again = 'enable a 2.0';

  test.each<[what: string, report: Parameters<typeof reported>[1], next: string[], waiting: string[]]>([
    ['versions that are not versions', { work: work({ versions: { ...versions, '2.0': 'installed' } }) }, [], []],
    ['an installed version that is not a version', { version: 'banana', command: 'disable' }, [], download],
    ['extensions that are not declared', { work: work({ extensions: used }) }, [], []],
    ['a turn that does not exist yet', { work: work({ turn: Number.MAX_SAFE_INTEGER }) }, [again], []],
    ['a command of a version that is not a version', { work: work({ commandVersion: 'banana' }) }, [again], []],
  ])('%s', (_, report, next, waiting) => {
    const facts = factsOf([a], { reports: [reported('a', { ...enabled, ...report })] });
    expect(listOf(facts)).toEqual({ now: null, next, waiting });
  });

  test('extensions that depend on each other or on themselves wait', () => {
    const extensions = [target('a', { dependsOn: ['b'] }), target('b', { dependsOn: ['a'] })];
    const own = target('c', { dependsOn: ['c'] });
    expect(listOf(factsOf([...extensions, own])).waiting).toEqual([
      'enable b 2.0 (dependency a)',
      'enable a 2.0 (dependency b)',
      'enable c 2.0 (dependency c)',
    ]);
  });
});

test('the queue of 200 extensions of one handler does not block the portal', () => {
  const name = (index: number) => `task-${index}`;
  const extensions = Array.from({ length: 200 }, (_, index) =>
    target(name(index), {
      handler: 'Lab.Task',
      dependsOn: index === 0 ? [] : [name(0)],
      package: { sha256: 'task' },
    }),
  );
  const running = reported(name(0), { ...enabling, work: work({ extensions: { [name(0)]: '2.0' } }) });
  const facts = factsOf(extensions, { reports: [{ ...running, handler: 'Lab.Task' }] });
  const begin = performance.now();
  const { now, waiting } = queueOf(facts);
  // Without an index of the extensions, this takes half a minute on a busy machine.
  expect(performance.now() - begin).toBeLessThan(5_000);
  expect([now?.name, waiting.length]).toEqual([name(0), 199]);
});

test.each([
  ['500 extensions, each with its own handler', 500, 1],
  ['150 extensions whose agent reports 100 other versions of each handler', 150, 100],
])('the queue of %s does not block the portal', (_, count, installed) => {
  const versions: HandlerWork['versions'] = {};
  for (let index = 0; index < installed; index += 1) versions[`1.${index}`] = 'installed';
  const extensions = Array.from({ length: count }, (_, index) => target(`task-${index}`));
  const reports = extensions.map(({ name }) =>
    reported(name, { ...installing, exitCode: 0, work: work({ versions, extensions: { [name]: '1.0' } }) }),
  );
  const begin = performance.now();
  const { next, waiting } = queueOf(factsOf(extensions, { reports }));
  // Planning all extensions for each report would take more than ten seconds.
  expect(performance.now() - begin).toBeLessThan(5_000);
  expect(next.length + waiting.length).toBeGreaterThan(count * installed);
});
