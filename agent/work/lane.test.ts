import { expect, test } from 'vitest';
import { Lane } from './lane.ts';

test('a lane runs one command at a time, sleeps while there is none, and rests at the end', async () => {
  const log: string[] = [];
  const commands: (() => Promise<void>)[] = [];
  let state: 'wait' | 'rest' = 'wait';
  const lane = new Lane({ next: async () => commands.shift() ?? state });
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
  const lane: Lane = new Lane({
    next: async () => {
      looks += 1;
      if (looks === 1) lane.wake();
      return 'rest';
    },
  });
  const running = lane.run();
  await lane.whenIdle();
  expect(looks).toBe(2);
  lane.stop();
  await running;
});
