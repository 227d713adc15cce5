import { expect, test } from 'vitest';
import type { QueuedExecution, QueueFacts } from './queue-facts.ts';
import type { QueueEntry, VmQueue } from './queue-words.ts';
import { withExecutions } from './queued-executions.ts';

const asked = { by: 'Ada', at: '2030-01-01T10:00:00.000Z' };
const execution = (turn: number, more: Partial<QueuedExecution> = {}): QueuedExecution => ({
  ...{
    id: `e${turn}`,
    name: `plan ${turn}`,
    version: '1.0.0',
    state: 'queued',
    turn,
    asked,
    begunAt: null,
    call: null,
  },
  ...{ validUntil: '2030-01-02T10:00:00.000Z', timeoutSeconds: 60 },
  ...more,
});
const command = (name: string): QueueEntry => ({
  ...{ kind: 'extension', id: null, name, handler: 'Lab.A', step: 'enable', version: '1.0', turn: 5 },
  ...{
    hook: null,
    call: null,
    askedBy: 'Bob',
    askedAt: null,
    since: null,
    validUntil: null,
    limitSeconds: 30,
    reason: null,
  },
});
const factsOf = (executions: QueuedExecution[], more: Partial<QueueFacts> = {}): QueueFacts => ({
  goal: { turn: 5, asked, deliveredAt: null, extensions: [] },
  ...{ heldGoal: null, reports: [], executions, isHeld: false, stopped: null, restarting: [], withheld: [] },
  ...more,
});
const begun = { report: { work: { turn: 5 } } } as QueueFacts['reports'][number];

/** The queue of a machine on which the commands `a` and `b` run next and `c` waits. */
const commands: VmQueue = {
  ...{ now: null, next: [command('a'), command('b')] },
  waiting: [{ ...command('c'), reason: { code: 'dependency', params: { extension: 'b' } } }],
};
const listOf = (facts: QueueFacts, queue = commands) => {
  const { now, next, waiting } = withExecutions(queue, facts);
  const wordsOf = ({ name, reason }: (typeof next)[number]) => (reason === null ? name : `${name} ${reason.code}`);
  return { now: now && wordsOf(now), next: next.map(wordsOf), waiting: waiting.map(wordsOf) };
};

const waiting = ['c dependency'];
const [stopped, never] = [
  { code: 'silent' as const, since: null },
  { code: 'never' as const, since: null },
];
test.each<[what: string, QueueFacts, object]>([
  [
    'runs after the preceding goal state, in the order of turns',
    factsOf([execution(8), execution(7)]),
    {
      next: ['a', 'b', 'plan 7', 'plan 8'],
    },
  ],
  [
    'runs before a goal state that was declared later',
    factsOf([execution(4), execution(6)]),
    {
      next: ['plan 4', 'a', 'b', 'plan 6'],
    },
  ],
  [
    'runs after a goal state that has begun',
    factsOf([execution(4)], { reports: [begun] }),
    {
      next: ['a', 'b', 'plan 4'],
    },
  ],
  [
    'waits while the agent is silent',
    factsOf([execution(7)], { stopped }),
    {
      waiting: [...waiting, 'plan 7 silent'],
    },
  ],
  ['waits for a machine', factsOf([execution(7)], { stopped: never }), { waiting: [...waiting, 'plan 7 never'] }],
  ['waits for the end of a hold', factsOf([execution(7)], { isHeld: true }), { waiting: [...waiting, 'plan 7 hold'] }],
  [
    'waits for its approval',
    factsOf([execution(7, { state: 'waiting-approval' })], { stopped, isHeld: true }),
    {
      waiting: [...waiting, 'plan 7 approval'],
    },
  ],
  [
    'that the machine has is the current entry',
    factsOf([execution(7, { state: 'delivered' }), execution(8)]),
    {
      now: 'plan 7',
      next: ['a', 'b', 'plan 8'],
    },
  ],
  [
    'that the machine has does not wait for a hold',
    factsOf([execution(7, { state: 'running' })], { isHeld: true }),
    {
      now: 'plan 7',
    },
  ],
])('an execution %s', (_, facts, expected) => {
  expect(listOf(facts)).toEqual({ now: null, next: ['a', 'b'], waiting, ...expected });
});

test.each([
  ['delivered', 'b', ['plan 7', 'a']],
  // After a restart of the machine, the goal state comes first.
  ['restarting', 'b', ['plan 7', 'a']],
  // The end of the command has not been reported.
  ['running', 'plan 7', ['a']],
] as const)('with a command that runs, an execution that is %s', (state, now, next) => {
  const queue = { now: command('b'), next: [command('a')], waiting: [] };
  expect(listOf(factsOf([execution(7, { state })]), queue)).toEqual({ now, next, waiting: [] });
});

test('an entry shows its requester, its start and its expiry', () => {
  const call = { n: 3, script: 'install', function: 'apply' };
  const begunAt = '2030-01-01T10:05:00.000Z';
  const running = execution(7, { state: 'running', begunAt, call });
  const { now, next } = withExecutions({ now: null, next: [], waiting: [] }, factsOf([running, execution(8)]));
  expect(now).toEqual({
    ...{
      kind: 'execution',
      id: 'e7',
      name: 'plan 7',
      handler: null,
      hook: null,
      step: null,
      version: '1.0.0',
      call,
      turn: 7,
    },
    ...{ askedBy: 'Ada', askedAt: asked.at, since: begunAt, validUntil: null, limitSeconds: 60, reason: null },
  });
  expect(next).toMatchObject([{ id: 'e8', since: null, validUntil: '2030-01-02T10:00:00.000Z', call: null }]);
});
