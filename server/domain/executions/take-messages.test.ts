import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { longTest } from '#server/testing/long.ts';
import { readLog } from './index.ts';
import { logOf } from './testing/bound-vm.ts';
import { givenMachine } from './testing/machine.ts';

let door: AgentDoor;
let admin: Context;
beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
});
afterAll(() => door.close());

type Machine = Awaited<ReturnType<typeof givenMachine>>;

const send = ({ agent }: Machine, id: string, messages: unknown) =>
  agent.call(`/executions/${id}/messages`, { method: 'POST', body: JSON.stringify(messages) });

async function textsOf({ vmId }: Machine, executionId: string): Promise<string[]> {
  const texts: string[] = [];
  for (;;) {
    const { total, rows } = await readLog(admin, { vmId, executionId, row: texts.length, count: 500 });
    texts.push(...rows.map(({ text }) => text));
    if (texts.length >= total) return texts;
  }
}

async function givenOpen(): Promise<{ machine: Machine; id: string }> {
  const machine = await givenMachine(admin, door);
  const { id } = await machine.queue();
  await machine.next();
  return { machine, id };
}

describe('log messages of an agent that sends no transcript', () => {
  longTest('MU-59 1,000 messages, each sent twice and in any order, become 1,000 rows', async () => {
    const { machine, id } = await givenOpen();
    const single = Array.from({ length: 50 }, (_, index) => logOf(`single-${index}`));
    const several = Array.from({ length: 950 }, (_, index) => logOf(`several-${index}`));
    const calls = [
      ...[...single, ...single].map((message) => () => send(machine, id, message)),
      ...[0, 1].flatMap((round) =>
        Array.from({ length: 19 }, (_, part) => () => {
          const from = part * 50;
          const messages = several.slice(from, from + 50);
          return send(machine, id, round === 0 ? messages : messages.toReversed());
        }),
      ),
    ];
    const shuffled = calls.map((call, index) => ({ call, key: (index * 7_919) % calls.length }));
    shuffled.sort((a, b) => a.key - b.key);
    for (let from = 0; from < shuffled.length; from += 10) {
      const answers = await Promise.all(shuffled.slice(from, from + 10).map(({ call }) => call()));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
    }
    const texts = await textsOf(machine, id);
    expect(texts).toHaveLength(1_000);
    expect(texts.toSorted()).toEqual([...single, ...several].map(({ Body }) => Body).toSorted());
  });

  test('begin the execution, and tell the agent when to send more', async () => {
    const { machine, id } = await givenOpen();
    const answer = await send(machine, id, logOf('a', { SourceID: id }));
    expect([answer.status, answer.headers.get('annex-next-after')]).toEqual([204, '1']);
    expect(await machine.get(id)).toMatchObject({ state: 'running', run: 1 });
  });

  test('are also stored after the execution has ended', async () => {
    const { machine, id } = await givenOpen();
    await machine.result(id);
    expect((await send(machine, id, logOf('late'))).status).toBe(204);
    expect(await textsOf(machine, id)).toEqual(['message late']);
    expect(await machine.get(id)).toMatchObject({ state: 'succeeded' });
  });

  test('and a transcript exclude each other', async () => {
    const other = { status: 409, code: 'transcript_other_writer' };
    const codeOf = async (answer: Response) => ({
      ...{ status: answer.status, code: ((await answer.json()) as { code: string }).code },
    });
    const first = await givenOpen();
    await send(first.machine, first.id, logOf('a'));
    expect(await codeOf(await first.machine.transcript(first.id, '[0,"note","x"]\n'))).toEqual(other);
    const second = await givenOpen();
    await second.machine.transcript(second.id, '[0,"note","x"]\n');
    expect(await codeOf(await send(second.machine, second.id, logOf('a')))).toEqual(other);
  });

  test.each<[what: string, body: unknown, status: number]>([
    ['no message', [], 400],
    ['too many messages', Array.from({ length: 101 }, (_, index) => logOf(String(index))), 400],
    ['a message without an ID', { ...logOf('a'), ID: '' }, 400],
    ['an unknown level', logOf('a', { Level: 'loud' }), 400],
    ['a message of 65 KiB', logOf('a', { Body: 'x'.repeat(65 * 1024) }), 400],
    ['a message of another plan', logOf('a', { SourceID: 'other' }), 422],
    ['a text', 'hello', 400],
  ])('with %s are rejected', async (_, body, status) => {
    const { machine, id } = await givenOpen();
    expect((await send(machine, id, body)).status).toBe(status);
    expect(await textsOf(machine, id)).toEqual([]);
  });

  test('of an execution that the machine does not have are rejected', async () => {
    const machine = await givenMachine(admin, door);
    const { id } = await machine.queue();
    expect((await send(machine, id, logOf('a'))).status, 'it was never delivered').toBe(404);
    const other = await givenOpen();
    expect((await send(machine, other.id, logOf('a'))).status).toBe(404);
  });
});
