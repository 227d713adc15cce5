import { expect, test } from 'vitest';
import { Lane, type LaneCandidate } from './lane.ts';
import type { WorkKind } from './next.ts';

const work = (kind: WorkKind, turn: number, run: () => Promise<void>): LaneCandidate => ({
  kind,
  turn,
  isBegun: false,
  run,
});

test('a lane runs one command at a time, sleeps while there is no command, and rests at the end', async () => {
  const log: string[] = [];
  const commands: (() => Promise<void>)[] = [];
  let state: 'wait' | 'rest' = 'wait';
  const lane = new Lane([
    {
      candidate: async () => {
        const command = commands.shift();
        return command === undefined ? state : work('extension', 1, command);
      },
    },
  ]);
  const command = (name: string) => async () => {
    log.push(`${name} begins`);
    await Promise.resolve();
    log.push(`${name} ends`);
  };
  const running = lane.run();
  commands.push(command('a'), command('b'));
  lane.wake();
  const idle = lane.whenIdle();
  state = 'rest';
  await idle;
  expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  commands.push(command('c'));
  lane.wake();
  await lane.whenIdle();
  expect(log.at(-1)).toBe('c ends');
  lane.stop();
  await running;
});

test('a lane that is woken while it looks for work looks again before it rests', async () => {
  let looks = 0;
  const lane: Lane = new Lane([
    {
      candidate: async () => {
        looks += 1;
        if (looks === 1) lane.wake();
        return 'rest';
      },
    },
  ]);
  const running = lane.run();
  await lane.whenIdle();
  expect(looks).toBe(2);
  lane.stop();
  await running;
});

test('two kinds of work share the lane by turn, and it rests when both rest', async () => {
  const log: string[] = [];
  const queueOf = (kind: WorkKind, turns: number[]) => ({
    candidate: async () => {
      const [turn] = turns;
      if (turn === undefined) return 'rest' as const;
      return work(kind, turn, async () => {
        turns.shift();
        log.push(`${kind} ${turn}`);
      });
    },
  });
  const lane = new Lane([queueOf('extension', [1, 4]), queueOf('execution', [2, 3])]);
  const running = lane.run();
  await lane.whenIdle();
  expect(log).toEqual(['extension 1', 'execution 2', 'execution 3', 'extension 4']);
  lane.stop();
  await running;
});
