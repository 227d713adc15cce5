import { describe, expect, test } from 'vitest';
import { type FleetProblem, filterOfProblem, nameOfProblem, type ProblemCause } from './problem.ts';

const cause = (given: Partial<ProblemCause>): ProblemCause => ({
  isUnit: false,
  handler: 'Acme.Lab.Mount',
  name: 'mount',
  cause: 'exit',
  command: null,
  exitCode: null,
  messageId: null,
  ...given,
});
const problem = (given: Partial<FleetProblem>): FleetProblem => ({
  key: '0'.repeat(32),
  health: 'failed',
  vms: 2,
  since: '2026-03-04T11:59:30.250Z',
  lastSince: '2026-03-04T12:00:10.999Z',
  extension: null,
  silence: null,
  messageId: null,
  versions: [],
  sample: { vmIds: [], extension: '', version: '' },
  ...given,
});
const of = { handler: 'Acme.Lab.Mount' };

describe('the filter of a problem', () => {
  test.each<[string, Partial<FleetProblem>, object]>([
    [
      'a failed command with its exit code',
      { extension: cause({ command: 'enable', exitCode: 51 }) },
      { ...of, state: ['failed'], cause: ['exit'], command: 'enable', exitCode: 51 },
    ],
    [
      'an exit code of 0, which is not missing',
      { extension: cause({ command: 'enable', exitCode: 0 }) },
      { ...of, state: ['failed'], cause: ['exit'], command: 'enable', exitCode: 0 },
    ],
    [
      'a timeout',
      { extension: cause({ cause: 'timeout', command: 'install' }) },
      { ...of, state: ['failed'], cause: ['timeout'], command: 'install' },
    ],
    [
      'a timeout of an unknown command',
      { extension: cause({ cause: 'timeout' }) },
      { ...of, state: ['failed'], cause: ['timeout'], hasCommand: ['no'] },
    ],
    [
      'a message',
      { health: 'degraded', extension: cause({ cause: 'status', messageId: 'disk' }) },
      { ...of, state: ['degraded'], cause: ['status'], messageId: 'disk' },
    ],
    [
      'a status without a message',
      { extension: cause({ cause: 'substatus' }) },
      { ...of, state: ['failed'], cause: ['substatus'], hasMessage: ['no'] },
    ],
    [
      'a hook of units',
      { extension: cause({ isUnit: true, command: 'install', exitCode: 3 }) },
      {
        ...{ formula: 'Acme.Lab.Mount', unitState: ['failed'], unitCause: ['exit'] },
        ...{ hook: 'install', hookExitCode: 3 },
      },
    ],
    [
      'units that wait for a release',
      { health: 'degraded', extension: cause({ isUnit: true, cause: 'release' }) },
      { formula: 'Acme.Lab.Mount', unitState: ['degraded'], unitCause: ['release'] },
    ],
    ['a heartbeat', { extension: cause({ cause: 'heartbeat' }) }, { ...of, state: ['failed'], cause: ['heartbeat'] }],
    [
      'agents that became unresponsive together, up to and including the last one',
      { silence: 'together' },
      {
        health: ['unresponsive'],
        sinceAfter: '2026-03-04T11:59:30.250Z',
        sinceBefore: '2026-03-04T12:00:11.000Z',
      },
    ],
    ['agents that became unresponsive alone', { silence: 'alone' }, { health: ['unresponsive'], silence: ['alone'] }],
  ])('matches %s', (_, given, filter) => {
    expect(filterOfProblem(problem(given))).toEqual(filter);
  });
});

describe('the name of a problem in the activity log', () => {
  test.each<[Partial<FleetProblem>, string]>([
    [{ extension: cause({ command: 'enable', exitCode: 51 }) }, 'Acme.Lab.Mount enable 51'],
    [{ extension: cause({ cause: 'timeout', command: 'install' }) }, 'Acme.Lab.Mount install timeout'],
    [{ extension: cause({ cause: 'command', command: null }) }, 'Acme.Lab.Mount command'],
    [{ extension: cause({ cause: 'status', messageId: '1215' }) }, 'Acme.Lab.Mount 1215'],
    [{ extension: cause({ cause: 'deadline' }) }, 'Acme.Lab.Mount deadline'],
    [{ silence: 'together' }, 'agent silent 2026-03-04T11:59Z'],
    [{ silence: 'alone' }, 'agent silent'],
  ])('%j is %s', (given, name) => {
    expect(nameOfProblem(problem(given))).toBe(name);
  });
});
