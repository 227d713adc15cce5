import { expect, test } from 'vitest';
import { lastingProblem } from './lasting-problem.ts';
import type { ExtensionHealthRow } from './load.ts';

type Facts = Partial<ExtensionHealthRow>;
const exit51: Facts = { health: 'failed', cause: 'exit', command: 'enable', exitCode: 51 };
const running: Facts = { health: 'progressing' };
const at = (minute: number): Date => new Date(Date.UTC(2026, 2, 4, 12, minute));

/**
 * Applies one state per minute. Returns, after each state, the minute in which the extension's problem began; null
 * without a problem.
 */
function began(states: readonly Facts[]): (number | null)[] {
  const rows: ExtensionHealthRow[] = [];
  return states.map((facts, minute) => {
    const known = rows.at(-1);
    const row: Omit<ExtensionHealthRow, 'problem' | 'problemSince'> = {
      ...{
        vmId: 'vm',
        name: 'mount',
        handler: 'Acme.Lab.Mount',
        goalVersion: '1.0.0.0',
        version: '1.0.0.0',
        sequenceNumber: 1,
      },
      ...({ health: 'healthy', heartbeat: 'none', cause: null, command: null, exitCode: null } as const),
      ...{ messageId: null, waitsFor: null, deadlineAt: null },
      ...facts,
      since: known !== undefined && known.health === facts.health ? known.since : at(minute),
    };
    const problem = lastingProblem(row, known, at(minute));
    rows.push({ ...row, ...problem });
    return problem.problemSince?.getUTCMinutes() ?? null;
  });
}

test.each<[string, Facts[], (number | null)[]]>([
  ['a retry that fails in the same way', [{ health: 'healthy' }, exit51, running, exit51], [null, 1, 1, 1]],
  ['several retries', [exit51, running, exit51, running, exit51], [0, 0, 0, 0, 0]],
  ['an agent that stops responding', [exit51, { health: 'unresponsive', cause: 'silent' }, exit51], [0, 0, 0]],
  ['another exit code', [exit51, running, { ...exit51, exitCode: 1 }], [0, 0, 2]],
  [
    'another message of the status',
    [
      { health: 'degraded', cause: 'status', messageId: 'a' },
      { health: 'degraded', cause: 'status', messageId: 'b' },
    ],
    [0, 1],
  ],
  ['another message after a command failed', [exit51, { ...exit51, messageId: 'b' }], [0, 0]],
  ['a failure after the extension was healthy', [exit51, { health: 'healthy' }, exit51], [0, null, 2]],
  ['a failure after the extension was disabled', [exit51, { health: 'disabled' }, exit51], [0, null, 2]],
  ['work without a failure', [running, { health: 'unknown' }], [null, null]],
])('%s', (_, states, expected) => {
  expect(began(states)).toEqual(expected);
});
