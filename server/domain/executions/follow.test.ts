import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { followExecution, noteProgress, streamLog, takeResult, takeTranscript } from './index.ts';
import { givenMachine, resultOf } from './testing/machine.ts';

let door: AgentDoor;
let admin: Context;
beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
});
afterAll(() => door.close());

/**
 * Starts an execution on a machine. Returns its ids, and functions that act as the agent a number of seconds later.
 */
async function givenRunning() {
  const machine = await givenMachine(admin, door);
  const { vmId } = machine;
  const { id: executionId } = await machine.queue();
  await machine.next();
  const begun = Date.now();
  const at = (seconds: number): Context => ({ ...admin, now: new Date(begun + seconds * 1_000) });
  let sent = 0;
  return {
    vmId,
    executionId,
    at,
    progress: (seconds: number) =>
      noteProgress(at(seconds), vmId, executionId, { run: 1, state: 'running', sentMsAgo: 0 }),
    write: async (seconds: number, text: string) => {
      const line = `${JSON.stringify([seconds * 1_000, 'out', 0, text])}\n`;
      const range = { start: sent, until: sent + line.length, total: null };
      sent += line.length;
      const body = (async function* () {
        yield Buffer.from(line);
      })();
      return (await takeTranscript(at(seconds), { vmId, executionId, range }, body)).nextAfter;
    },
    end: (seconds: number) => takeResult(at(seconds), vmId, executionId, JSON.stringify(resultOf(executionId))),
  };
}

describe('an agent sends progress and log', () => {
  test('each second at first, then every 5 seconds, and each second again while someone follows', async () => {
    const { vmId, executionId, at, progress, write } = await givenRunning();
    expect([await progress(0), await progress(9), await progress(11)]).toEqual([1, 1, 5]);
    expect(await write(12, 'a')).toBe(5);
    await followExecution(at(13), { vmId, executionId });
    expect([await progress(14), await write(27, 'b')]).toEqual([1, 1]);
    expect([await progress(29), await write(30, 'c')]).toEqual([5, 5]);
  });
});

describe('a log that is followed', () => {
  test('yields each row once, and ends with the execution', async () => {
    const { vmId, executionId, at, progress, write, end } = await givenRunning();
    await progress(0);
    await write(1, 'one');
    let second = 1;
    const untilNext = async () => {
      second += 1;
      if (second < 5) await write(second, `row ${second}`);
      else if (second === 5) await end(5);
      return at(second).now;
    };
    const texts: string[] = [];
    for await (const rows of streamLog(admin, { vmId, executionId, row: 0 }, untilNext)) {
      texts.push(...rows.map(({ text }) => text));
    }
    expect(texts).toEqual(['one', 'row 2', 'row 3', 'row 4']);
    expect(second).toBe(5);
  });

  test('starts at the given row; a log that is not followed ends at the last row', async () => {
    const { vmId, executionId, write } = await givenRunning();
    for (const [index, text] of ['one', 'two', 'three'].entries()) await write(index, text);
    const texts: string[] = [];
    for await (const rows of streamLog(admin, { vmId, executionId, row: 1 })) {
      texts.push(...rows.map(({ text }) => text));
    }
    expect(texts).toEqual(['two', 'three']);
  });

  test('of 1,200 rows is complete', async () => {
    const { vmId, executionId } = await givenRunning();
    const lines = Array.from({ length: 1_200 }, (_, row) => `${JSON.stringify([row, 'out', 1, `row ${row}`])}\n`);
    const body = (async function* () {
      yield Buffer.from(lines.join(''));
    })();
    await takeTranscript(admin, { vmId, executionId, range: null }, body);
    const rows: number[] = [];
    for await (const some of streamLog(admin, { vmId, executionId, row: 0 })) rows.push(...some.map(({ row }) => row));
    expect(rows).toEqual(lines.map((_, row) => row));
  });
});
