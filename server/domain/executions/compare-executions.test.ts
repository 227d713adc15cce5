import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { longTest } from '#server/testing/long.ts';
import { pairsOf } from './compare-executions.ts';
import { compareCall, compareExecutions } from './index.ts';
import { givenMachine, plan } from './testing/machine.ts';

let door: AgentDoor;
let admin: Context;

beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
});
afterAll(() => door.close());

type Call = NonNullable<ReturnType<typeof pairsOf>[number]['before']>;
const call = (n: number, script: string): Call => ({
  ...{ n, script, run: 1, function: null, state: 'succeeded' as const, row: 0, untilRow: null },
  ...{ atMs: 0, tookMs: null, exitCode: null, fromJournal: false },
});

test('calls of the same script are pairs, in their order', () => {
  const pairs = pairsOf([call(1, 'a'), call(2, 'b'), call(3, 'c')], [call(1, 'a'), call(2, 'x'), call(3, 'c')]);
  expect(pairs.map(({ before, after }) => [before?.script ?? null, after?.script ?? null])).toEqual([
    ['a', 'a'],
    ['b', null],
    [null, 'x'],
    ['c', 'c'],
  ]);
});

test('calls are listed one after the other if almost all of them differ', () => {
  const calls = (name: string) => Array.from({ length: 1_200 }, (_, index) => call(index + 1, `${name}${index}`));
  const pairs = pairsOf(calls('a'), calls('b'));
  expect(pairs).toHaveLength(2_400);
  expect(pairs.filter(({ before, after }) => before !== null && after !== null)).toEqual([]);
  expect([pairs[0]?.before?.script, pairs[1_200]?.after?.script]).toEqual(['a0', 'b0']);
});

/** Runs a plan whose call writes these lines. */
async function given(
  machine: Awaited<ReturnType<typeof givenMachine>>,
  lines: readonly string[],
  given: object = plan,
) {
  const { id } = await machine.queue({ ...given });
  await machine.next();
  const rows = [
    [0, 'begin', { run: 1, why: 'first' }],
    [1, 'call', 1, 'hello', null],
  ];
  const written = lines.map((line, index) => [2 + index, index % 2 === 0 ? 'out' : 'err', 1, line]);
  const text = [...rows, ...written, [9, 'end', 1, { ms: 8 }]].map((row) => `${JSON.stringify(row)}\n`).join('');
  await machine.transcript(id, text);
  const untilRow = rows.length + lines.length;
  const about = { n: 1, script: 'hello', function: null, state: 'succeeded', row: 1, untilRow, atMs: 1, tookMs: 8 };
  await machine.progress(id, 'running', { calls: [about] });
  await machine.result(id, id, { Body: lines.length });
  return { vmId: machine.vmId, executionId: id };
}

test('two executions of two VMs are compared: plans, results, calls and what the calls wrote', async () => {
  const [one, other] = [await givenMachine(admin, door), await givenMachine(admin, door)];
  const before = await given(one, ['same', '\u001b[31mold\u001b[0m', 'end']);
  const after = await given(other, ['same', 'new', 'end'], { ...plan, Version: '1.0.1' });
  const compared = await compareExecutions(admin, { before, after });
  expect(compared.plans?.after).toContain('1.0.1');
  expect(JSON.parse(compared.results.before ?? '')).toMatchObject({ Body: 3 });
  expect(compared.calls.map((pair) => [pair.before?.n, pair.after?.n])).toEqual([[1, 1]]);
  expect(await compareCall(admin, { before: { ...before, n: 1 }, after: { ...after, n: 1 } })).toEqual({
    firstLine: 2,
    texts: { before: 'same\nold\nend', after: 'same\nnew\nend' },
  });
  const same = await compareExecutions(admin, { before, after: before });
  expect(same.plans).toBeNull();
  expect(await compareCall(admin, { before: { ...before, n: 1 }, after: { ...before, n: 1 } })).toEqual({
    firstLine: null,
    texts: null,
  });
});

longTest('of long outputs, the first line that differs is found', async () => {
  const machine = await givenMachine(admin, door);
  const lines = Array.from({ length: 6_000 }, (_, index) => `line ${index}`);
  const before = await given(machine, lines);
  const after = await given(machine, lines.with(5_500, 'other'));
  const shorter = await given(machine, lines.slice(0, 5_999));
  const compare = (other: typeof before) =>
    compareCall(admin, { before: { ...before, n: 1 }, after: { ...other, n: 1 } });
  expect(await compare(after)).toEqual({ firstLine: 5_501, texts: null });
  expect(await compare(shorter)).toEqual({ firstLine: 6_000, texts: null });
  const wide = lines.slice(0, 40).map((line) => line.padEnd(20_000, '.'));
  const other = await given(machine, wide.with(1, 'other'));
  expect(
    await compareCall(admin, { before: { ...(await given(machine, wide)), n: 1 }, after: { ...other, n: 1 } }),
  ).toEqual({ firstLine: 2, texts: null });
});
