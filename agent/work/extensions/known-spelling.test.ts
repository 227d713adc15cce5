import { expect, test } from 'vitest';
import type { GoalState } from '#protocol/index.ts';
import { emptyLocalState } from '../../goal/local-state.ts';
import { inKnownSpelling } from './known-spelling.ts';

const goal: GoalState = {
  protocol: 1,
  vmId: 'vm',
  incarnation: 1,
  extensions: [
    {
      name: 'probe',
      handler: 'Lab.Probe',
      version: '1.0.16',
      state: 'enabled',
      sequenceNumber: 1,
      dependsOn: [],
      timeouts: { install: 300, update: 300, enable: 300, disable: 300, uninstall: 300 },
      package: { sha256: 'a', size: 1, url: '/' },
      settings: {},
    },
  ],
};

const versions = (...names: string[]) => ({
  ...emptyLocalState(),
  handlers: {
    'Lab.Probe': {
      versions: Object.fromEntries(
        names.map((name) => [
          name,
          {
            sha256: 'a',
            installed: true,
            reportHeartbeat: false,
            supportsMultipleExtensions: false,
            rebootAfterInstall: false,
          },
        ]),
      ),
    },
  },
});

test.each([
  ['the machine has another spelling of the version', ['1.0.16.0'], '1.0.16.0'],
  ['the machine has both spellings', ['1.0.16.0', '1.0.16'], '1.0.16'],
  ['the machine has another version', ['1.0.15'], '1.0.16'],
  ['the machine has nothing', [], '1.0.16'],
])('the goal keeps a folder that exists: %s', (_, names, expected) => {
  expect(inKnownSpelling(goal, versions(...names)).extensions[0]?.version).toBe(expected);
});
