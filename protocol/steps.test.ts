import { expect, test } from 'vitest';
import { type HandlerChange, removalSteps, usualCommands, versionSteps } from './steps.ts';

const steps = (version: string, installed: string[], more: Partial<HandlerChange> = {}) =>
  versionSteps({ version, installed, isUpdated: false, installsInUpdate: false, ...more }).map(
    (step) => `${step.command} ${step.version}`,
  );

test.each<[string, string[], string[]]>([
  ['AZ-G1 nothing installed', steps('1.0', []), ['install 1.0']],
  ['AZ-G3 the same version installed', steps('1.0', ['1.0']), []],
  ['AZ-G7 an older version installed', steps('1.10', ['1.9']), ['disable 1.9', 'update 1.10', 'uninstall 1.9']],
  ['AZ-G7 a newer version installed', steps('1.9', ['1.10']), ['disable 1.10', 'uninstall 1.10', 'install 1.9']],
  ['AZ-G7 stopped after update', steps('1.1', ['1.0', '1.1']), ['uninstall 1.0']],
  [
    'UpdateWithInstall',
    steps('1.1', ['1.0'], { installsInUpdate: true }),
    ['disable 1.0', 'update 1.1', 'uninstall 1.0', 'install 1.1'],
  ],
  [
    'UpdateWithInstall, stopped after update',
    steps('1.1', ['1.0'], { installsInUpdate: true, isUpdated: true }),
    ['uninstall 1.0', 'install 1.1'],
  ],
  [
    'an update that was followed by a newer goal',
    steps('1.2', ['1.0', '1.1']),
    ['uninstall 1.0', 'disable 1.1', 'update 1.2', 'uninstall 1.1'],
  ],
])('the commands that replace a version: %s', (_, found, expected) => {
  expect(found).toEqual(expected);
});

test('AZ-G5 a removal disables a running handler, and uninstalls a handler that is not shared', () => {
  const removal = (runs: boolean, isShared: boolean) =>
    removalSteps(['1.0'], { runs, isShared }).map(({ command }) => command);
  expect(removal(true, false)).toEqual(['disable', 'uninstall']);
  expect(removal(true, true)).toEqual(['disable']);
  expect(removal(false, false)).toEqual(['uninstall']);
});

test('an enabled or disabled goal usually runs install first; a removal runs disable and uninstall', () => {
  expect(usualCommands('enabled')).toEqual(['install', 'enable']);
  expect(usualCommands('disabled')).toEqual(['install', 'disable']);
  expect(usualCommands('uninstall')).toEqual(['disable', 'uninstall']);
});
