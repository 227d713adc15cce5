import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { filterLog, searchLog } from './index.ts';
import { givenMachine } from './testing/machine.ts';

let door: AgentDoor;
let admin: Context;
beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
});
afterAll(() => door.close());

/** Stores these lines as the transcript of an execution. `add` appends further lines. */
async function givenLog(lines: readonly string[]) {
  const machine = await givenMachine(admin, door);
  const { id } = await machine.queue();
  await machine.next();
  let sent = 0;
  const add = async (more: readonly string[]) => {
    const text = more.map((line) => `${line}\n`).join('');
    const end = sent + Buffer.byteLength(text);
    await machine.transcript(id, text, { 'content-range': `bytes ${sent}-${end - 1}/*` });
    sent = end;
  };
  await add(lines);
  const about = { vmId: machine.vmId, executionId: id };
  return {
    add,
    search: (q: string, row = 0) => searchLog(admin, { ...about, q, row }),
    filter: (level: 'messages' | 'warning' | 'error', row = 0) => filterLog(admin, { ...about, level, row }),
  };
}

const line = (...record: unknown[]): string => JSON.stringify([0, ...record]);

describe('a search', () => {
  test('finds the text that the page shows, and nothing else', async () => {
    const { search } = await givenLog([
      line('begin', { run: 1, why: 'first' }),
      line('call', 1, 'install', 'apply'),
      line('out', 1, 're\u001b[1mnew\u001b[0ming'),
      line('out', 1, 'a/b \\ "c" <d>'),
      '[0,"out",1,"\\u0072enewing \\/ again"]',
      line('end', 1, { exitCode: 3, ms: 938 }),
      line('note', 'The agent was started again.'),
      'not a record',
    ]);
    const rowsOf = async (q: string) => (await search(q)).found;
    expect(await rowsOf('renewing')).toEqual([2, 4]);
    expect(await rowsOf('[1m')).toEqual([]);
    expect(await rowsOf('/')).toEqual([3, 4]);
    expect(await rowsOf('\\ "c" <D>')).toEqual([3]);
    expect(await rowsOf('INSTALL')).toEqual([1]);
    expect(await rowsOf('started again')).toEqual([6]);
    expect(await rowsOf('a record')).toEqual([7]);
    for (const hidden of ['938', 'exitCode', 'first', 'note']) expect(await rowsOf(hidden), hidden).toEqual([]);
  });

  test('finds a text at the end of the longest line, and next to a character of several bytes', async () => {
    const { search } = await givenLog([
      line('out', 1, `${'ä'.repeat(32_000)} end`),
      line('out', 1, `${'\u0007'.repeat(64_000)}end`),
    ]);
    expect((await search('ä END')).found).toEqual([0]);
    expect((await search('end')).found).toEqual([0, 1]);
  });

  test('returns 1,000 matches, and continues after them', async () => {
    const { search } = await givenLog(
      Array.from({ length: 2_500 }, (_, row) => line('out', 1, row % 2 === 0 ? `match ${row}` : 'other')),
    );
    const first = await search('match');
    expect([first.found.length, first.found.at(-1)]).toEqual([1_000, 1_998]);
    expect(first.next).toBeGreaterThan(1_998);
    const second = await search('match', first.next ?? 0);
    expect(second.found).toEqual(Array.from({ length: 250 }, (_, index) => 2_000 + index * 2));
    expect(second.next).toBeNull();
  });
});

describe('a level', () => {
  test('shows a record, however JSON writes its kind', async () => {
    const { filter } = await givenLog(['[0,"\\u006cog",{"Level":"error","Body":"b"}]', '[0,"log","no level"]', 'log']);
    expect((await filter('messages')).rows.map(({ row }) => row)).toEqual([0, 1]);
    expect((await filter('error')).rows.map(({ row, text }) => [row, text])).toEqual([[0, 'b']]);
  });

  test('continues where it ended when the log grows', async () => {
    const { filter, add } = await givenLog([line('err', 1, 'error: a'), line('out', 1, 'error: b')]);
    const first = await filter('error');
    expect([first.rows.length, first.next, first.isLast]).toEqual([1, 2, true]);
    expect((await filter('error', first.next)).rows).toEqual([]);
    await add([line('out', 1, 'c'), line('err', 1, 'error: d')]);
    const second = await filter('error', first.next);
    expect(second.rows.map(({ row, text }) => [row, text])).toEqual([[3, 'error: d']]);
    expect([second.next, second.isLast]).toEqual([4, true]);
  });
});
