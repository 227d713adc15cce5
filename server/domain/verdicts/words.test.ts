import { expect, test } from 'vitest';
import { evaluateVmHealth } from './rules.ts';
import {
  agentStatuses,
  bySeverity,
  extensionHealths,
  healthLetters,
  mildestFirst,
  rankOf,
  vmHealths,
} from './words.ts';

const pairs = extensionHealths.flatMap((worse, at) =>
  extensionHealths.slice(at + 1).map((milder) => ({ worse, milder })),
);

test.each(pairs)('$worse comes before $milder, whatever their names', ({ worse, milder }) => {
  const [last, first] = [
    { health: worse, name: 'z' },
    { health: milder, name: 'a' },
  ];
  expect([first, last].sort(bySeverity)).toEqual([last, first]);
  expect([last, first].sort(bySeverity)).toEqual([last, first]);
  expect(rankOf(worse)).toBeLessThan(rankOf(milder));
});

test('extensions with the same health are sorted by name', () => {
  const named = ['b', 'a', 'c'].map((name) => ({ health: 'failed' as const, name }));
  expect(named.sort(bySeverity).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
});

test('stored ranks and the letters of the map are those that earlier releases wrote', () => {
  expect(vmHealths.map((health) => [health, rankOf(health)])).toEqual([
    ['failed', 0],
    ['unresponsive', 1],
    ['degraded', 2],
    ['progressing', 3],
    ['unknown', 4],
    ['healthy', 5],
  ]);
  expect(healthLetters).toBe('fudpkhx');
});

test('the health of VMs has the order of extensions, without disabled, and the reverse order for counts', () => {
  expect(vmHealths).toEqual(extensionHealths.slice(0, -1));
  expect(mildestFirst.toReversed()).toEqual(vmHealths);
});

/**
 * The health values that extensions can have with each agent status. If the agent is unresponsive or has never called,
 * only one value is possible.
 */
const besides = {
  unresponsive: ['unresponsive'],
  never: ['unknown'],
  unknown: ['failed', 'degraded', 'progressing', 'healthy', 'disabled'],
  ready: ['failed', 'degraded', 'progressing', 'healthy', 'disabled'],
} as const;

test.each(agentStatuses)('AZ-S6 a VM with a %s agent has the health that the statement names', (agent) => {
  const words = besides[agent];
  const statement = ['failed', 'degraded', 'unknown', 'progressing', 'healthy'] as const;
  for (const first of words) {
    for (const second of words) {
      const named = statement.find((health) => [first, second].some((word) => word === health));
      const expected = agent === 'unresponsive' ? agent : (named ?? (agent === 'ready' ? 'healthy' : 'unknown'));
      expect(evaluateVmHealth(agent, [first, second])).toBe(expected);
    }
  }
});
