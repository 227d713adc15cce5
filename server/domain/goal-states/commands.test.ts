import { beforeAll, describe, expect, test } from 'vitest';
import { extensionPulse } from '#db/schema/index.ts';
import type { CommandName } from '#protocol/index.ts';
import type { Services } from '#server/domain/context.ts';
import { testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { withPending } from './commands-for.ts';
import type { Declared } from './declare.ts';
import { defaultTimeouts } from './goal-state.ts';
import type { ExtensionMove } from './move.ts';
import { otherExtensions, stepsByExtension, stepsOfAll } from './plan-steps.ts';
import { type ExtensionRow, loadExtensions } from './publish.ts';

const timeouts = { install: 1, update: 2, enable: 3, disable: 4, uninstall: 5 };

/** Returns an extension that the agent has: by default, `x` of `Lab.X` 1.0, enabled. */
const row = (name: string, more: Partial<ExtensionRow> = {}): ExtensionRow =>
  ({
    name,
    handler: 'Lab.X',
    version: '1.0',
    state: 'enabled',
    dependsOn: [],
    timeouts,
    everDelivered: true,
    ...more,
  }) as ExtensionRow;

interface Given {
  current?: ExtensionRow;
  after?: Partial<Declared> | null;
  others?: ExtensionRow[];
  updateMode?: string;
  stock?: boolean;
}

const moveOf = (name: string, { current, after = {}, updateMode }: Given): ExtensionMove =>
  ({
    name,
    current,
    after: after === null ? null : { ...row(name), ...current, ...after },
    effect: 'sequence',
    version: { manifest: { handlerManifest: updateMode === undefined ? {} : { updateMode } } },
  }) as unknown as ExtensionMove;

const sentences = (steps: ReturnType<typeof stepsOfAll>) =>
  steps.map(({ extension, command, version }) => `${command} ${version}${extension === 'x' ? '' : ` of ${extension}`}`);

describe('the commands of one extension', () => {
  const installed = row('x');
  const sibling = row('y');
  test.each<[string, Given, string[]]>([
    ['new', {}, ['install 1.0', 'enable 1.0']],
    ['new and disabled', { after: { state: 'disabled' } }, ['install 1.0', 'disable 1.0']],
    [
      'declared before, never delivered',
      { current: row('x', { everDelivered: false }) },
      ['install 1.0', 'enable 1.0'],
    ],
    ['other settings', { current: installed }, ['enable 1.0']],
    ['disabled', { current: installed, after: { state: 'disabled' } }, ['disable 1.0']],
    ['enabled again', { current: row('x', { state: 'disabled' }), after: { state: 'enabled' } }, ['enable 1.0']],
    ['another spelling of its version', { current: installed, after: { version: '1.0.0.0' } }, ['enable 1.0.0.0']],
    [
      'AZ-G7 a higher version',
      { current: installed, after: { version: '1.1' } },
      ['disable 1.0', 'update 1.1', 'uninstall 1.0', 'enable 1.1'],
    ],
    [
      'AZ-G7 a higher version that installs after its update',
      { current: installed, after: { version: '1.1' }, updateMode: 'UpdateWithInstall' },
      ['disable 1.0', 'update 1.1', 'uninstall 1.0', 'install 1.1', 'enable 1.1'],
    ],
    [
      'AZ-G7 a lower version',
      { current: row('x', { version: '1.10' }), after: { version: '1.9' } },
      ['disable 1.10', 'uninstall 1.10', 'install 1.9', 'enable 1.9'],
    ],
    [
      'a higher version, to be disabled',
      { current: installed, after: { version: '1.1', state: 'disabled' } },
      ['disable 1.0', 'update 1.1', 'uninstall 1.0', 'disable 1.1'],
    ],
    [
      'a higher version on the stock agent, whose default installs',
      { current: installed, after: { version: '1.1' }, stock: true },
      ['disable 1.0', 'update 1.1', 'uninstall 1.0', 'install 1.1', 'enable 1.1'],
    ],
    ['beside another one of its handler', { others: [sibling] }, ['enable 1.0']],
    [
      'beside one that was never delivered',
      { others: [row('y', { everDelivered: false })] },
      ['install 1.0', 'enable 1.0'],
    ],
    ['beside another handler', { others: [row('y', { handler: 'Lab.Y' })] }, ['install 1.0', 'enable 1.0']],
    [
      'new in a higher version beside another one of its handler',
      { after: { version: '1.1' }, others: [sibling] },
      ['update 1.1', 'uninstall 1.0', 'enable 1.1'],
    ],
    ['AZ-G5 removed', { current: installed, after: { state: 'uninstall' } }, ['disable 1.0', 'uninstall 1.0']],
    [
      'AZ-G5 removed beside another one',
      { current: installed, after: { state: 'uninstall' }, others: [sibling] },
      ['disable 1.0'],
    ],
    [
      'AZ-G5 removed beside one that leaves too',
      { current: installed, after: { state: 'uninstall' }, others: [row('y', { state: 'uninstall' })] },
      ['disable 1.0', 'uninstall 1.0'],
    ],
    ['dropped without the agent', { current: installed, after: null }, []],
  ])('%s', (_, given, commands) => {
    const present = [...(given.current ? [given.current] : []), ...(given.others ?? [])];
    expect(sentences(stepsOfAll([moveOf('x', given)], present, given.stock ?? false))).toEqual(commands);
  });

  test('AZ-G3 each command has its own limit, five minutes if none is declared', () => {
    const limits = (after: Partial<Declared>) =>
      stepsOfAll([moveOf('x', { current: installed, after: { version: '0.9', ...after } })], [installed], false).map(
        ({ command, seconds }) => [command, seconds],
      );
    expect(limits({})).toEqual([
      ['disable', 4],
      ['uninstall', 5],
      ['install', 1],
      ['enable', 3],
    ]);
    expect(new Set(limits({ timeouts: defaultTimeouts }).map(([, seconds]) => seconds))).toEqual(new Set([300]));
  });
});

describe('the commands of a whole change', () => {
  const all = (moves: ExtensionMove[], present: ExtensionRow[]) => sentences(stepsOfAll(moves, present, false));
  const leaving = (name: string, current: ExtensionRow) =>
    moveOf(name, { current, after: { state: 'uninstall', dependsOn: [] } });

  test('dependencies run before their dependents, whatever their names', () => {
    const [a, z] = [row('a', { handler: 'Lab.A', dependsOn: ['z'] }), row('z', { handler: 'Lab.Z' })];
    const moves = [moveOf('a', { current: a, after: {} }), moveOf('z', { current: z, after: {} })];
    expect(all(moves, [a, z])).toEqual(['enable 1.0 of z', 'enable 1.0 of a']);
  });

  test('removals run first', () => {
    const [a, z] = [row('a', { handler: 'Lab.A' }), row('z', { handler: 'Lab.Z' })];
    expect(all([moveOf('a', { current: a, after: {} }), leaving('z', z)], [a, z])).toEqual([
      'disable 1.0 of z',
      'uninstall 1.0 of z',
      'enable 1.0 of a',
    ]);
  });

  test('of two removed extensions of a handler, the last uninstalls the handler', () => {
    const [a, b] = [row('a'), row('b')];
    expect(all([leaving('a', a), leaving('b', b)], [a, b])).toEqual([
      'disable 1.0 of b',
      'disable 1.0 of a',
      'uninstall 1.0 of a',
    ]);
  });

  test('a handler is replaced once for all of its extensions', () => {
    const [a, b] = [row('a'), row('b')];
    const after = { version: '1.1' };
    expect(all([moveOf('a', { current: a, after }), moveOf('b', { current: b, after })], [a, b])).toEqual([
      'disable 1.0 of a',
      'disable 1.0 of b',
      'update 1.1 of a',
      'uninstall 1.0 of a',
      'enable 1.1 of a',
      'enable 1.1 of b',
    ]);
  });

  test('commands that two extensions share are listed for each extension', () => {
    const [a, b] = [row('a'), row('b')];
    const after = { version: '1.1' };
    const moves = [moveOf('a', { current: a, after }), moveOf('b', { current: b, after })];
    const replaced = ['disable', 'update', 'uninstall', 'enable'];
    expect([...stepsByExtension(moves, [a, b], false)]).toEqual([
      ['a', replaced],
      ['b', replaced],
    ]);
  });

  test('a change to 200 extensions is planned within two seconds', () => {
    const present = Array.from({ length: 200 }, (_, n) => row(`e${n}`, { handler: `Lab.H${n % 100}` }));
    const moves = present.map((current) => moveOf(current.name, { current, after: { version: '1.1' } }));
    const began = performance.now();
    expect(stepsOfAll(moves, present, false)).toHaveLength(200 * 2 + 100 * 2);
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  test('extensions that do not change have no commands', () => {
    const same = { ...moveOf('a', { current: row('a'), after: {} }), effect: 'none' as const };
    expect(all([same], [row('a')])).toEqual([]);
  });
});

test.each<[string, Partial<ExtensionRow>[], string[]]>([
  ['run again', [{ name: 'a' }, { name: 'b' }], ['a enable', 'b enable']],
  ['disabled ones too', [{ name: 'a', state: 'disabled' }], ['a disable']],
  ['dependants wait', [{ name: 'a', dependsOn: ['x'] }], ['a enable waits']],
  [
    'and theirs',
    [
      { name: 'b', dependsOn: ['x'] },
      { name: 'a', dependsOn: ['b'] },
    ],
    ['b enable waits', 'a enable waits'],
  ],
  ['a disabled dependant does not wait', [{ name: 'a', dependsOn: ['x'], state: 'disabled' }], ['a disable']],
  ['those being uninstalled are left out', [{ name: 'a', state: 'uninstall' }], []],
])('the other extensions: %s', (_, others, expected) => {
  const x = row('x', { handler: 'Lab.Moving' });
  const present = [x, ...others.map(({ name = '', ...more }) => row(name, more))];
  const found = otherExtensions(present, [moveOf('x', { current: x, after: {} })]);
  expect(found.map(({ name, command, waits }) => `${name} ${command}${waits ? ' waits' : ''}`)).toEqual(expected);
});

describe('commands that may still run', () => {
  let services: Services;
  beforeAll(async () => {
    services = await testServices();
    await givenVersion(services.db);
  });

  interface Case {
    commands: CommandName[] | null;
    reported?: { sequence: number; concluded: boolean };
    planned: CommandName[];
    expected: CommandName[];
  }
  test.each<[string, Case]>([
    [
      'without a report',
      { commands: ['install', 'enable'], planned: ['disable'], expected: ['install', 'enable', 'disable'] },
    ],
    ['none twice', { commands: ['install', 'enable'], planned: ['enable'], expected: ['install', 'enable'] }],
    ['of a row of an earlier release', { commands: null, planned: ['enable'], expected: ['enable'] }],
    [
      'after its conclusion',
      {
        commands: ['install'],
        reported: { sequence: 1, concluded: true },
        planned: ['disable'],
        expected: ['disable'],
      },
    ],
    [
      'while it runs',
      {
        commands: ['install'],
        reported: { sequence: 1, concluded: false },
        planned: ['disable'],
        expected: ['install', 'disable'],
      },
    ],
    [
      'after the conclusion of an earlier one',
      {
        commands: ['install'],
        reported: { sequence: 0, concluded: true },
        planned: ['disable'],
        expected: ['install', 'disable'],
      },
    ],
  ])('%s', async (_, { commands, reported, planned, expected }) => {
    const { vmId, declare } = await givenVm(services);
    await declare('probe');
    if (reported) {
      await services.db
        .insert(extensionPulse)
        .values({
          vmId,
          name: 'probe',
          statusSequence: reported.sequence,
          concludedAt: reported.concluded ? new Date() : null,
        })
        .onConflictDoUpdate({
          target: [extensionPulse.vmId, extensionPulse.name],
          set: { statusSequence: reported.sequence, concludedAt: reported.concluded ? new Date() : null },
        });
    }
    const found = await services.db.transaction(async (tx) => {
      const [current] = await loadExtensions(tx, vmId);
      if (!current) throw new Error('no extension');
      return withPending(tx, { ...current, commands }, planned);
    });
    expect(found).toEqual(expected);
  });

  test('a declaration stores its commands after the commands of an unfinished goal', async () => {
    const { vmId, declare, deliver } = await givenVm(services);
    const stored = () =>
      services.db.transaction(async (tx) => (await loadExtensions(tx, vmId)).map(({ commands }) => commands));
    await declare('probe');
    expect(await stored()).toEqual([['install', 'enable']]);
    await deliver();
    await declare('probe', { state: 'disabled' });
    expect(await stored()).toEqual([['install', 'enable', 'disable']]);
    await declare('probe', { state: 'disabled', timeouts: { disable: 9 } });
    expect(await stored()).toEqual([['install', 'enable', 'disable']]);
  });
});
