import { describe, expect, test } from 'vitest';
import {
  byName,
  type ExtensionTarget,
  type MachineContents,
  newRound,
  type Round,
  reconcile,
  type VersionOnMachine,
} from './reconcile.ts';

/** Parses `probe=Lab.Probe 1.0 enabled <mount`: name, handler, version, state, dependencies. */
function goalOf(...lines: string[]): ExtensionTarget[] {
  return lines.map((line): ExtensionTarget => {
    const [, name = '', handler = '', version = '', state = '', after = ''] =
      /^(\w+)=(\S+) (\S+) (\w+)(?: <(\S+))?$/.exec(line) ?? [];
    return {
      name,
      handler,
      version,
      state: state as ExtensionTarget['state'],
      dependsOn: after === '' ? [] : after.split(','),
      package: { sha256: `${handler}-${version}` },
    };
  });
}

/**
 * Parses versions such as `Lab.Probe 1.0 installed`. The last word is `installed`, `unpacked`, `reinstalls` (unpacked,
 * and its update runs install) or `updated` (the install after the update has not run yet). `known` lists the names of
 * the extensions on the machine.
 */
function machineOf(versions: string[], ...known: string[]): MachineContents {
  const state: MachineContents = { handlers: {}, extensions: {} };
  for (const line of versions) {
    const [handler = '', version = '', how = ''] = line.split(' ');
    const facts: VersionOnMachine = {
      sha256: `${handler}-${version}`,
      installed: how === 'installed',
      updated: how === 'updated',
      updatesWithInstall: how === 'updated' || how === 'reinstalls',
    };
    state.handlers[handler] ??= { versions: {} };
    state.handlers[handler].versions[version] = facts;
  }
  for (const name of known) {
    state.extensions[name] = { version: '' };
  }
  return state;
}

/** Parses `probe: enable@1.0`, `probe failed`, `probe says success`. */
function roundOf(...lines: string[]): Round {
  const round = newRound();
  for (const line of lines) {
    const [, name = '', what = '', word = ''] = /^(\w+):? (says|failed|\S+)(?: (\w+))?$/.exec(line) ?? [];
    if (what === 'failed') round.failed.add(name);
    else if (what === 'says') round.statuses[name] = word as Round['statuses'][string];
    else {
      round.done[name] ??= new Set();
      round.done[name].add(what);
    }
  }
  return round;
}

function planned(targets: ExtensionTarget[], machine: MachineContents, round: Round = newRound()): string[] {
  const plan = reconcile(targets, machine, round);
  const steps = plan.steps.map((step) => {
    const from = step.from === undefined ? '' : ` from ${step.from}`;
    return `${step.extensions.join('+')}: ${step.kind} ${step.version}${from}`;
  });
  return [...steps, ...plan.waiting.map(({ extension, blockedBy }) => `${extension} waits for ${blockedBy}`)];
}

const nothing: MachineContents = { handlers: {}, extensions: byName() };
const probe = 'probe=Lab.Probe 1.0 enabled';

describe('one extension', () => {
  test.each<[string, ExtensionTarget[], MachineContents, Round, string[]]>([
    [
      'AZ-G1 new: fetch, configure, install, enable',
      goalOf(probe),
      machineOf([]),
      newRound(),
      ['probe: fetch 1.0', 'probe: configure 1.0', 'probe: install 1.0', 'probe: enable 1.0'],
    ],
    [
      'AZ-G3 installed earlier: no install again',
      goalOf(probe),
      machineOf(['Lab.Probe 1.0 installed'], 'probe'),
      newRound(),
      ['probe: configure 1.0', 'probe: enable 1.0'],
    ],
    [
      'its folder was lost: fetched again, but not installed again',
      goalOf(probe),
      (() => {
        const local = machineOf(['Lab.Probe 1.0 installed'], 'probe');
        local.handlers['Lab.Probe']!.versions['1.0']!.sha256 = null;
        return local;
      })(),
      newRound(),
      ['probe: fetch 1.0', 'probe: configure 1.0', 'probe: enable 1.0'],
    ],
    [
      'everything done in this round: nothing',
      goalOf(probe),
      machineOf(['Lab.Probe 1.0 installed'], 'probe'),
      roundOf('probe: configure@1.0', 'probe: enable@1.0'),
      [],
    ],
    [
      'AZ-G4 install failed in this round: nothing until the next round',
      goalOf(probe),
      machineOf(['Lab.Probe 1.0 unpacked'], 'probe'),
      roundOf('probe: configure@1.0', 'probe failed'),
      [],
    ],
    [
      'AZ-G4 in the next round, install runs again',
      goalOf(probe),
      machineOf(['Lab.Probe 1.0 unpacked'], 'probe'),
      newRound(),
      ['probe: configure 1.0', 'probe: install 1.0', 'probe: enable 1.0'],
    ],
    [
      'AZ-G6 disabled: disable, and it stays installed',
      goalOf('probe=Lab.Probe 1.0 disabled'),
      machineOf(['Lab.Probe 1.0 installed'], 'probe'),
      newRound(),
      ['probe: configure 1.0', 'probe: disable 1.0'],
    ],
    [
      'AZ-G5 uninstall: disable, uninstall, delete',
      goalOf('probe=Lab.Probe 1.0 uninstall'),
      machineOf(['Lab.Probe 1.0 installed'], 'probe'),
      newRound(),
      ['probe: disable 1.0', 'probe: uninstall 1.0', 'probe: delete 1.0', 'probe: forget 1.0'],
    ],
    [
      'AZ-G5 uninstall of a version that was only unpacked: no commands',
      goalOf('probe=Lab.Probe 1.0 uninstall'),
      machineOf(['Lab.Probe 1.0 unpacked'], 'probe'),
      newRound(),
      ['probe: delete 1.0', 'probe: forget 1.0'],
    ],
    [
      'uninstall of an extension that is not on the machine: reported as removed',
      goalOf('probe=Lab.Probe 1.0 uninstall'),
      machineOf([]),
      newRound(),
      ['probe: forget 1.0'],
    ],
    [
      'AZ-G7 a newer version: disable the old version, update, uninstall the old version, enable the new version',
      goalOf('probe=Lab.Probe 1.1 enabled'),
      machineOf(['Lab.Probe 1.0 installed'], 'probe'),
      newRound(),
      [
        'probe: fetch 1.1',
        'probe: configure 1.1',
        'probe: disable 1.0',
        'probe: update 1.1 from 1.0',
        'probe: uninstall 1.0',
        'probe: delete 1.0',
        'probe: enable 1.1',
      ],
    ],
    [
      'UpdateWithInstall: install of the new version runs after uninstall of the old version',
      goalOf('probe=Lab.Probe 1.1 enabled'),
      machineOf(['Lab.Probe 1.0 installed', 'Lab.Probe 1.1 reinstalls'], 'probe'),
      newRound(),
      [
        'probe: configure 1.1',
        'probe: disable 1.0',
        'probe: update 1.1 from 1.0',
        'probe: uninstall 1.0',
        'probe: delete 1.0',
        'probe: install 1.1',
        'probe: enable 1.1',
      ],
    ],
    [
      'UpdateWithInstall, stopped after update: update does not run again',
      goalOf('probe=Lab.Probe 1.1 enabled'),
      machineOf(['Lab.Probe 1.0 installed', 'Lab.Probe 1.1 updated'], 'probe'),
      newRound(),
      ['probe: configure 1.1', 'probe: uninstall 1.0', 'probe: delete 1.0', 'probe: install 1.1', 'probe: enable 1.1'],
    ],
    [
      'UpdateWithInstall, stopped before install: continues with install',
      goalOf('probe=Lab.Probe 1.1 enabled'),
      machineOf(['Lab.Probe 1.1 updated'], 'probe'),
      newRound(),
      ['probe: configure 1.1', 'probe: install 1.1', 'probe: enable 1.1'],
    ],
    [
      'UpdateWithInstall, removed before install: the updated version is uninstalled',
      goalOf('probe=Lab.Probe 1.1 uninstall'),
      machineOf(['Lab.Probe 1.1 updated'], 'probe'),
      newRound(),
      ['probe: disable 1.1', 'probe: uninstall 1.1', 'probe: delete 1.1', 'probe: forget 1.1'],
    ],
    [
      'AZ-G7 stopped after update: continues with the uninstall of the old version',
      goalOf('probe=Lab.Probe 1.1 enabled'),
      machineOf(['Lab.Probe 1.0 installed', 'Lab.Probe 1.1 installed'], 'probe'),
      newRound(),
      ['probe: configure 1.1', 'probe: uninstall 1.0', 'probe: delete 1.0', 'probe: enable 1.1'],
    ],
    [
      'AZ-G7 a newer goal after update: the oldest version is uninstalled before the next update',
      goalOf('probe=Lab.Probe 1.2 enabled'),
      machineOf(['Lab.Probe 1.0 installed', 'Lab.Probe 1.1 installed'], 'probe'),
      newRound(),
      [
        'probe: fetch 1.2',
        'probe: configure 1.2',
        'probe: uninstall 1.0',
        'probe: delete 1.0',
        'probe: disable 1.1',
        'probe: update 1.2 from 1.1',
        'probe: uninstall 1.1',
        'probe: delete 1.1',
        'probe: enable 1.2',
      ],
    ],
    [
      'AZ-G7 update failed: the old version stays',
      goalOf('probe=Lab.Probe 1.1 enabled'),
      machineOf(['Lab.Probe 1.0 installed', 'Lab.Probe 1.1 unpacked'], 'probe'),
      roundOf('probe: configure@1.1', 'probe: disable@1.0', 'probe failed'),
      [],
    ],
    [
      'AZ-G7 back to the old version after a failed update: the new version is deleted',
      goalOf(probe),
      machineOf(['Lab.Probe 1.0 installed', 'Lab.Probe 1.1 unpacked'], 'probe'),
      newRound(),
      ['probe: configure 1.0', 'probe: delete 1.1', 'probe: enable 1.0'],
    ],
    [
      'AZ-G7 a lower version: disable and uninstall the higher version, install and enable the lower version',
      goalOf('probe=Lab.Probe 1.9 enabled'),
      machineOf(['Lab.Probe 1.10 installed'], 'probe'),
      newRound(),
      [
        'probe: fetch 1.9',
        'probe: configure 1.9',
        'probe: disable 1.10',
        'probe: uninstall 1.10',
        'probe: delete 1.10',
        'probe: install 1.9',
        'probe: enable 1.9',
      ],
    ],
  ])('%s', (_, goal, local, round, steps) => {
    expect(planned(goal, local, round)).toEqual(steps);
  });
});

describe('dependencies', () => {
  const goal = goalOf('snapshot=Lab.Snapshot 1 enabled <mount', 'mount=Lab.Mount 1 enabled', probe);
  const local = machineOf(
    ['Lab.Snapshot 1 installed', 'Lab.Mount 1 installed', 'Lab.Probe 1.0 installed'],
    'snapshot',
    'mount',
    'probe',
  );
  const others = ['mount: configure@1', 'probe: configure@1.0', 'probe: enable@1.0'];

  test.each<[string, Round, string[]]>([
    [
      'dependencies run first; each waiting extension names its dependency',
      newRound(),
      [
        'mount: configure 1',
        'mount: enable 1',
        'probe: configure 1.0',
        'probe: enable 1.0',
        'snapshot waits for mount',
      ],
    ],
    [
      'enabled: the dependent continues',
      roundOf(...others, 'mount: enable@1'),
      ['snapshot: configure 1', 'snapshot: enable 1'],
    ],
    [
      'enabled, but transitioning: the dependent waits',
      roundOf(...others, 'mount: enable@1', 'mount says transitioning'),
      ['snapshot waits for mount'],
    ],
    [
      'enabled, but with an error status: the dependent waits',
      roundOf(...others, 'mount: enable@1', 'mount says error'),
      ['snapshot waits for mount'],
    ],
    [
      'enabled with a warning: the dependent continues',
      roundOf(...others, 'mount: enable@1', 'mount says warning'),
      ['snapshot: configure 1', 'snapshot: enable 1'],
    ],
    [
      'failed: only its dependent waits',
      roundOf('mount failed'),
      ['probe: configure 1.0', 'probe: enable 1.0', 'snapshot waits for mount'],
    ],
  ])('%s', (_, round, steps) => {
    expect(planned(goal, local, round)).toEqual(steps);
  });

  test('packages are fetched while their extensions wait', () => {
    expect(planned(goal, machineOf([]), newRound()).slice(0, 3)).toEqual([
      'mount: fetch 1',
      'snapshot: fetch 1',
      'probe: fetch 1.0',
    ]);
  });

  test('a disabled extension does not wait for its dependencies', () => {
    const disabled = goalOf('snapshot=Lab.Snapshot 1 disabled <mount', 'mount=Lab.Mount 1 enabled');
    expect(planned(disabled, local, roundOf('mount failed'))).toEqual(['snapshot: configure 1', 'snapshot: disable 1']);
  });

  test('dependents are uninstalled before their dependencies', () => {
    const leaving = goalOf('mount=Lab.Mount 1 uninstall', 'snapshot=Lab.Snapshot 1 uninstall <mount');
    expect(planned(leaving, local)[0]).toBe('snapshot: disable 1');
    expect(planned(leaving, local)[4]).toBe('mount: disable 1');
  });

  test('extensions in a dependency cycle, which the portal rejects, wait for each other', () => {
    const cycle = goalOf('a=Lab.A 1 enabled <b', 'b=Lab.B 1 enabled <a');
    const both = machineOf(['Lab.A 1 installed', 'Lab.B 1 installed'], 'a', 'b');
    expect(planned(cycle, both)).toEqual(['b waits for a', 'a waits for b']);
  });
});

describe('several extensions of one handler', () => {
  const goal = goalOf('red=Lab.Many 1 enabled', 'blue=Lab.Many 1 enabled');

  test('install runs once for a handler, enable once per extension', () => {
    expect(planned(goal, machineOf([]))).toEqual([
      'red+blue: fetch 1',
      'red: configure 1',
      'blue: configure 1',
      'red+blue: install 1',
      'red: enable 1',
      'blue: enable 1',
    ]);
  });

  test('removing one of several extensions disables that extension and keeps the handler', () => {
    const one = goalOf('red=Lab.Many 1 uninstall', 'blue=Lab.Many 1 enabled');
    expect(planned(one, machineOf(['Lab.Many 1 installed'], 'red', 'blue'))).toEqual([
      'red: disable 1',
      'red: forget 1',
      'blue: configure 1',
      'blue: enable 1',
    ]);
  });

  test('removing the last extension uninstalls the handler', () => {
    const all = goalOf('red=Lab.Many 1 uninstall', 'blue=Lab.Many 1 uninstall');
    expect(planned(all, machineOf(['Lab.Many 1 installed'], 'red', 'blue'))).toEqual([
      'blue: disable 1',
      'blue: forget 1',
      'red: disable 1',
      'red: uninstall 1',
      'red: delete 1',
      'red: forget 1',
    ]);
  });

  test('update runs once for all extensions of a handler', () => {
    const next = goalOf('red=Lab.Many 2 enabled', 'blue=Lab.Many 2 enabled');
    expect(planned(next, machineOf(['Lab.Many 1 installed', 'Lab.Many 2 unpacked'], 'red', 'blue'))).toEqual([
      'red: configure 2',
      'blue: configure 2',
      'red: disable 1',
      'blue: disable 1',
      'red+blue: update 2 from 1',
      'red+blue: uninstall 1',
      'red+blue: delete 1',
      'red: enable 2',
      'blue: enable 2',
    ]);
  });
});

test('an extension may have the name of a property that every object inherits', () => {
  const goal = goalOf('constructor=Lab.Probe 1 enabled');
  expect(planned(goal, nothing)).toEqual([
    'constructor: fetch 1',
    'constructor: configure 1',
    'constructor: install 1',
    'constructor: enable 1',
  ]);
  const gone = goalOf('constructor=Lab.Probe 1 uninstall');
  expect(planned(gone, nothing)).toEqual(['constructor: forget 1']);
  const round = roundOf('constructor: configure@1', 'constructor: install@1', 'constructor: enable@1');
  expect(planned(goal, machineOf(['Lab.Probe 1 installed'], 'constructor'), round)).toEqual([]);
});
