import { text } from 'node:stream/consumers';
import { eq } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { outputPieces } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { writeCursor } from '#server/domain/cursor.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { downloadOutput, getOutput, listOutputs, output, type Row, readOutput, searchOutput } from './index.ts';
import { givenMachine, logServices, type Machine, type Range } from './testing/machine.ts';

let services: Services;
let machine: Machine;
beforeAll(async () => {
  services = await logServices();
});
beforeEach(async () => {
  machine = await givenMachine(services);
});

const line = (value: string): Row => ({ kind: 'line', text: value });
const gap = (bytes: number): Row => ({ kind: 'gap', bytes });
const its = async () => ({ vmId: machine.vmId, outputId: await machine.newest() });
const sendAll = async (parts: readonly [string, Range?][]) => {
  for (const [sent, range] of parts) await machine.send(sent, range);
};

describe('what a reader sees of an output', () => {
  type Case = [
    what: string,
    parts: [string, Range?][],
    rows: Row[],
    firstError: { row: number; text: string } | null,
    file: string,
  ];
  test.each<Case>([
    ['nothing', [['']], [], null, ''],
    ['a line without an end', [['one']], [line('one')], null, 'one'],
    ['empty lines', [['\n\n']], [line(''), line('')], null, '\n\n'],
    ['Windows line ends', [['a\r\nb\r\n']], [line('a'), line('b')], null, 'a\r\nb\r\n'],
    [
      'the first of several errors',
      [['ok\n  error: one\nerror: two\n']],
      [line('ok'), line('  error: one'), line('error: two')],
      { row: 1, text: 'error: one' },
      'ok\n  error: one\nerror: two\n',
    ],
    [
      'an error in the middle of a line that goes on in the next part',
      [
        ['fine\nfatal: no', [0, 14]],
        [' space\n', [14, 21, 21]],
      ],
      [line('fine'), line('fatal: no space')],
      { row: 1, text: 'fatal: no space' },
      'fine\nfatal: no space\n',
    ],
    [
      'a missing beginning and end',
      [['two\nerror\n', [4, 14, 20]]],
      [gap(4), line('two'), line('error'), gap(6)],
      { row: 2, text: 'error' },
      '\n[4 bytes of the output did not arrive.]\ntwo\nerror\n\n[6 bytes of the output did not arrive.]\n',
    ],
    [
      'a missing middle',
      [
        ['one\n', [0, 4]],
        ['three\n', [8, 14, 14]],
      ],
      [line('one'), gap(4), line('three')],
      null,
      'one\n\n[4 bytes of the output did not arrive.]\nthree\n',
    ],
    ['only its announced length', [['', [0, 0, 9]]], [gap(9)], null, '\n[9 bytes of the output did not arrive.]\n'],
    ['colours, which the file keeps', [['\u001b[31mred\u001b[0m\n']], [line('red')], null, '\u001b[31mred\u001b[0m\n'],
  ])('%s', async (_, parts, rows, firstError, file) => {
    await sendAll(parts);
    const at = await its();
    const details = await getOutput(machine.operator, at);
    expect(details).toMatchObject({ rows: rows.length, firstError });
    expect((await readOutput(machine.operator, { ...at, row: 0 })).rows).toEqual(rows);
    expect(await text((await downloadOutput(machine.operator, at)).bytes)).toBe(file);
  });

  test('an output as the API promises it, listed and downloaded', async () => {
    await machine.send('one\n');
    const [listed] = await machine.outputs();
    const { output: downloaded } = await downloadOutput(machine.operator, await its());
    expect(output.parse(listed)).toEqual(downloaded);
  });
});

describe('reading rows', () => {
  const lines = Array.from({ length: 1_200 }, (_, index) => `line ${index}`);
  beforeEach(() => machine.send(`${lines.join('\n')}\n`));

  test.each<[row: number, count: number | undefined, from: number, to: number]>([
    [0, 1, 0, 1],
    [0, undefined, 0, 500],
    [499, 2, 499, 501],
    [1_199, 500, 1_199, 1_200],
    [1_200, 500, 1_200, 1_200],
    [999_999, 1, 0, 0],
  ])('from %i, %s of them', async (row, count, from, to) => {
    const read = await readOutput(machine.operator, { ...(await its()), row, ...(count && { count }) });
    expect(read).toEqual({ row, rows: lines.slice(from, to).map(line) });
  });

  test('long lines end a response early, and reading continues after them', async () => {
    const long = Array.from({ length: 200 }, (_, index) => `${index}`.padEnd(4_000, '.'));
    await machine.send(long.join('\n'), undefined, { attempt: 2 });
    const at = await its();
    const first = await readOutput(machine.operator, { ...at, row: 0 });
    expect(first.rows.length).toBe(Math.ceil((256 * 1024 + 1) / 4_000));
    const next = await readOutput(machine.operator, { ...at, row: first.rows.length, count: 1 });
    expect(next.rows).toEqual([line(long[first.rows.length] ?? '')]);
  });
});

describe('searching', () => {
  beforeEach(() =>
    sendAll([
      ['Disk full\nall well\n', [0, 19]],
      ['disk again\nÄrger\n', [30, 48, 48]],
    ]),
  );

  test.each<[q: string, row: number | undefined, rows: number[]]>([
    ['disk', undefined, [0, 3]],
    ['DISK', 1, [3]],
    ['disk', 4, []],
    ['ärger', 0, [4]],
    ['full all', 0, []],
    ['.', 0, []],
    ['bytes', 0, []],
  ])('%s from row %s', async (q, row, rows) => {
    const given = { ...(await its()), q, ...(row !== undefined && { row }) };
    const { found, next } = await searchOutput(machine.operator, given);
    expect([found.map((each) => each.row), next]).toEqual([rows, null]);
  });

  test('a hundred lines at a time, and `next` continues with the next line', async () => {
    await machine.send('hit\n'.repeat(150), undefined, { attempt: 2 });
    const at = await its();
    const first = await searchOutput(machine.operator, { ...at, q: 'hit' });
    expect([first.found.length, first.found.at(-1)?.row, first.next]).toEqual([100, 99, 100]);
    const rest = await searchOutput(machine.operator, { ...at, q: 'hit', row: first.next ?? 0 });
    expect([rest.found.length, rest.found[0]?.row, rest.next]).toEqual([50, 100, null]);
  });

  test('exactly a hundred lines leave nothing to continue with', async () => {
    await machine.send('hit\n'.repeat(100), undefined, { attempt: 2 });
    expect(await searchOutput(machine.operator, { ...(await its()), q: 'hit' })).toMatchObject({ next: null });
  });
});

describe('the list of outputs', () => {
  const sendRuns = async (count: number) => {
    for (let attempt = 1; attempt <= count; attempt += 1) await machine.send(`${attempt}`, undefined, { attempt });
  };

  test('is in pages, newest first, without repeating or omitting an output', async () => {
    await sendRuns(5);
    const attempts: number[][] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const input = { vmId: machine.vmId, limit: 2, ...(cursor !== undefined && { cursor }) };
      const page = await listOutputs(machine.operator, input);
      attempts.push(page.items.map(({ attempt }) => attempt));
      cursor = page.nextCursor;
      // Outputs that arrive while the list is read come before the first page.
      await machine.send('later', undefined, { attempt: 10 + attempts.length });
    }
    expect(attempts).toEqual([[5, 4], [3, 2], [1]]);
  });

  test('a full last page has no next page', async () => {
    await sendRuns(2);
    expect(await listOutputs(machine.operator, { vmId: machine.vmId, limit: 2 })).toMatchObject({ nextCursor: null });
  });

  test('can be limited to an extension, and has only outputs of this VM', async () => {
    await givenVersion(services.db, { handler: 'Acme.Lab.Other' });
    await machine.declare('other', { handler: 'Acme.Lab.Other' });
    await machine.send('of the other one', undefined, { extension: 'other' });
    const stranger = await givenMachine(services);
    await stranger.send('not here');
    await sendRuns(1);
    const of = async (extension?: string) =>
      (await listOutputs(machine.operator, { vmId: machine.vmId, ...(extension && { extension }) })).items.length;
    expect([await of(), await of('probe'), await of('other')]).toEqual([2, 1, 1]);
  });

  test.each([
    ['no cursor at all', 'x'],
    ['no id', writeCursor(['1'])],
    ['two keys', writeCursor(['0197a3f0-0000-7000-8000-000000000000', 'x'])],
  ])('%s is rejected', async (_, cursor) => {
    const listed = listOutputs(machine.operator, { vmId: machine.vmId, cursor });
    await expect(listed).rejects.toMatchObject({ kind: 'bad_request', code: 'cursor_invalid' });
  });
});

describe('missing bytes', () => {
  const removeBytes = async () => {
    for (const { sha256 } of await services.db.select().from(outputPieces).where(eq(outputPieces.vmId, machine.vmId))) {
      await services.blobs.remove(sha256);
    }
  };
  const damaged = { kind: 'unavailable', code: 'stored_bytes_damaged' };

  test('rows, search and details that need them are rejected as damaged', async () => {
    await machine.send(`error ${machine.name}\n`);
    await removeBytes();
    const at = await its();
    await expect(readOutput(machine.operator, { ...at, row: 0 })).rejects.toMatchObject(damaged);
    await expect(searchOutput(machine.operator, { ...at, q: 'x' })).rejects.toMatchObject(damaged);
    await expect(getOutput(machine.operator, at)).rejects.toMatchObject(damaged);
  });

  test('an output without an error is still described and listed', async () => {
    await machine.send(`fine ${machine.name}\n`);
    await removeBytes();
    expect(await getOutput(machine.operator, await its())).toMatchObject({ rows: 1, firstError: null });
    expect(await machine.outputs()).toHaveLength(1);
  });

  test('a download ends with a failure instead of a shorter file', async () => {
    await machine.send(`gone ${machine.name}\n`);
    await removeBytes();
    const { bytes } = await downloadOutput(machine.operator, await its());
    await expect(text(bytes)).rejects.toThrow('are missing');
  });
});
