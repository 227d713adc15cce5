import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Services } from '#server/domain/context.ts';
import { removeExtension } from '#server/domain/goal-states/index.ts';
import { receiveNextOutput, receiveOutput } from './index.ts';
import { pieceBytes } from './piece.ts';
import { actsOf, body, givenMachine, logServices, outputChanges, type Range, storedBlobs } from './testing/machine.ts';

const outputBytes = 2 * pieceBytes;

let services: Services;
beforeAll(async () => {
  services = await logServices({ outputBytes, vmBytes: 8 * pieceBytes });
});

/** Lists the temporary files of unfinished uploads. */
const leftovers = () => readdir(join(services.config.dataDir, 'blobs', 'incoming')).catch(() => []);

describe('the response says how far an output is complete', () => {
  test.each<[string, [string, Range?][], number[]]>([
    ['all of it', [['abcdef']], [6]],
    ['nothing', [['']], [0]],
    ['an empty part before anything else', [['', [0, 0]]], [0]],
    [
      'in order',
      [
        ['ab', [0, 2]],
        ['cd', [2, 4]],
        ['ef', [4, 6, 6]],
      ],
      [2, 4, 6],
    ],
    [
      'backwards',
      [
        ['ef', [4, 6, 6]],
        ['cd', [2, 4]],
        ['ab', [0, 2]],
      ],
      [0, 0, 6],
    ],
    [
      'with a gap that closes',
      [
        ['ab', [0, 2]],
        ['ef', [4, 6]],
        ['cd', [2, 4]],
      ],
      [2, 2, 6],
    ],
    [
      'the same part again',
      [
        ['ab', [0, 2]],
        ['ab', [0, 2]],
      ],
      [2, 2],
    ],
    [
      'a shorter total than what arrived',
      [
        ['abcdef', [0, 6]],
        ['ab', [0, 2, 4]],
      ],
      [6, 4],
    ],
    [
      'other bytes at the same place: the command ran again',
      [
        ['abcdef', [0, 6]],
        ['xy', [0, 2]],
      ],
      [6, 2],
    ],
  ])('%s', async (_, parts, expected) => {
    const machine = await givenMachine(services);
    const answers: number[] = [];
    for (const [text, range] of parts) answers.push(await machine.send(text, range));
    expect(answers).toEqual(expected);
  });
});

describe('what is stored', () => {
  test('a row per run with its bytes and times, and the length once the command ended', async () => {
    const machine = await givenMachine(services);
    const [first, second] = [new Date('2030-01-01T10:00:00Z'), new Date('2030-01-01T10:05:00Z')];
    await machine.send('ab', [0, 2], {}, first);
    const [open] = await machine.outputs();
    expect(open).toMatchObject({ totalBytes: null, storedBytes: 2, updatedAt: first.toISOString() });
    await machine.send('cd', [4, 6, 6], {}, second);
    expect(await machine.outputs()).toEqual([
      {
        ...{ id: open?.id, extension: 'probe', sequenceNumber: 1, command: 'enable', attempt: 1 },
        ...{ totalBytes: 6, storedBytes: 4, startedAt: first.toISOString(), updatedAt: second.toISOString() },
      },
    ]);
  });

  test('a later part without the length keeps the length that an earlier part stated', async () => {
    const machine = await givenMachine(services);
    await machine.send('ef', [4, 6, 6]);
    await machine.send('ab', [0, 2]);
    expect(await machine.outputs()).toMatchObject([{ totalBytes: 6, storedBytes: 4 }]);
  });

  test('every output has a row: a command may write nothing', async () => {
    const machine = await givenMachine(services);
    await machine.send('');
    expect(await machine.outputs()).toMatchObject([{ totalBytes: 0, storedBytes: 0 }]);
    expect(await machine.pieces()).toEqual([]);
  });

  test('an output longer than a piece is split at each MiB, and equal bytes of two runs share a blob', async () => {
    const machine = await givenMachine(services);
    const before = new Set(await storedBlobs(services));
    const whole = randomBytes(pieceBytes + 10);
    expect(await machine.send(whole)).toBe(whole.length);
    expect(await machine.pieces()).toEqual([
      [0, pieceBytes],
      [pieceBytes, pieceBytes + 10],
    ]);
    await machine.send(whole, undefined, { attempt: 2 });
    expect(await machine.pieces()).toHaveLength(4);
    expect((await storedBlobs(services)).filter((sha256) => !before.has(sha256))).toHaveLength(2);
  });

  test('merged parts leave no unused bytes behind', async () => {
    const machine = await givenMachine(services);
    const before = (await storedBlobs(services)).length;
    for (const [at, text] of ['first ', 'second ', 'third '].entries()) {
      await machine.send(text.padEnd(7), [7 * at, 7 * at + 7]);
    }
    expect((await storedBlobs(services)).length - before).toBe((await machine.pieces()).length);
    expect(await leftovers()).toEqual([]);
  });

  test('each part is announced to open pages, and none is recorded in the activity log', async () => {
    const machine = await givenMachine(services);
    const { vmId } = machine;
    expect(await outputChanges(services, vmId, () => machine.send('ab', [0, 2]))).toBe(1);
    expect(await outputChanges(services, vmId, () => machine.send('ab', [0, 2]))).toBe(1);
    expect(await actsOf(services, vmId)).toEqual([]);
  });

  test('the output of an uninstalled extension still arrives', async () => {
    const machine = await givenMachine(services);
    await machine.deliver();
    await removeExtension(machine.operator, { vmId: machine.vmId, name: 'probe' });
    expect(await machine.send('bye\n', undefined, { command: 'uninstall' })).toBe(4);
    expect(await machine.outputs()).toMatchObject([{ command: 'uninstall', storedBytes: 4 }]);
  });
});

describe('at the same time', () => {
  test('parts of one output from several connections all arrive', async () => {
    const machine = await givenMachine(services);
    const text = 'each part is two bytes long, in any order';
    const starts = Array.from({ length: Math.ceil(text.length / 2) }, (_, index) => 2 * index);
    await Promise.all(
      starts.map((start) => {
        const part = text.slice(start, start + 2);
        return machine.send(part, [start, start + part.length]);
      }),
    );
    expect(await machine.outputs()).toMatchObject([{ storedBytes: text.length }]);
    expect(await machine.send('', [0, 0, text.length])).toBe(text.length);
  });

  test('the same output sent twice is one row', async () => {
    const machine = await givenMachine(services);
    expect(await Promise.all([machine.send('same\n'), machine.send('same\n')])).toEqual([5, 5]);
    expect(await machine.outputs()).toMatchObject([{ storedBytes: 5 }]);
  });
});

describe('rejected, and nothing is stored', () => {
  const part = { extension: 'probe', command: 'enable', attempt: 1, sequence: 1, range: null };
  const range = (start: number, until: number, total: number | null = null) => ({ range: { start, until, total } });

  test.each<[string, object, string, object]>([
    ['no VM', { vmId: 'one' }, '', { kind: 'bad_request', code: 'invalid', faults: [{ path: '/vmId' }] }],
    [
      'a name that no extension has',
      { extension: '../probe' },
      '',
      { kind: 'bad_request', faults: [{ path: '/extension', code: 'extension_name_form' }] },
    ],
    ['no command of a handler', { command: 'run' }, '', { faults: [{ path: '/command', code: 'field_choice' }] }],
    [
      'an attempt below zero',
      { attempt: -1 },
      '',
      { faults: [{ path: '/attempt', code: 'field_too_small', params: { minimum: 0 } }] },
    ],
    ['half a sequence number', { sequence: 0.5 }, '', { faults: [{ path: '/sequence', code: 'field_not_integer' }] }],
    [
      'a range that begins before the output',
      range(-1, 1),
      'ab',
      { faults: [{ path: '/range/start', code: 'field_too_small' }] },
    ],
    [
      'several at once, each with its path',
      { command: 'run', attempt: 'first', sequence: -1 },
      '',
      { faults: [{ path: '/command' }, { path: '/attempt' }, { path: '/sequence' }] },
    ],
    ['an unknown extension', { extension: 'other' }, 'x', { kind: 'unprocessable', code: 'extension_unknown' }],
    [
      'a sequence number that the goal state never had',
      { sequence: 2 },
      'x',
      { kind: 'unprocessable', code: 'sequence_unknown', params: { extension: 'probe', goal: 1 } },
    ],
    ['fewer bytes than the range', range(0, 3), 'ab', { kind: 'bad_request', code: 'output_range_differs' }],
    ['more bytes than the range', range(0, 1), 'ab', { kind: 'bad_request', code: 'output_range_differs' }],
    [
      'a range that ends beyond the limit, before its body is read',
      range(0, outputBytes + 1),
      '',
      { kind: 'too_large', code: 'output_too_large', params: { limit: outputBytes } },
    ],
    ['a byte more than the limit', {}, 'x'.repeat(outputBytes + 1), { kind: 'too_large', code: 'output_too_large' }],
  ])('%s', async (_, changed, sent, expected) => {
    const machine = await givenMachine(services);
    const input = { ...part, vmId: machine.vmId, ...changed } as Parameters<typeof receiveOutput>[1];
    await expect(receiveOutput(await machine.agent(), input, body(sent))).rejects.toMatchObject(expected);
    expect(await machine.outputs()).toEqual([]);
    expect(await leftovers()).toEqual([]);
  });

  test('an output of exactly the limit is accepted, in one body and by range', async () => {
    const machine = await givenMachine(services);
    expect(await machine.send(Buffer.alloc(outputBytes, 'x'))).toBe(outputBytes);
    const last = Buffer.from('y');
    expect(await machine.send(last, [outputBytes - 1, outputBytes, outputBytes], { attempt: 2 })).toBe(0);
    expect(await machine.outputs()).toMatchObject([{ storedBytes: 1 }, { storedBytes: outputBytes }]);
  });

  test('a body that breaks off leaves neither a row nor a file', async () => {
    const machine = await givenMachine(services);
    async function* broken() {
      yield Buffer.alloc(pieceBytes + 1);
      throw new Error('the connection ended');
    }
    const run = { ...part, vmId: machine.vmId } as Parameters<typeof receiveOutput>[1];
    await expect(receiveOutput(await machine.agent(), run, broken())).rejects.toThrow('the connection ended');
    expect(await machine.outputs()).toEqual([]);
    expect(await leftovers()).toEqual([]);
  });
});

describe('outputs of an agent that does not count attempts', () => {
  test('each is the next attempt of its run', async () => {
    const machine = await givenMachine(services);
    const ctx = await machine.agent();
    const run = { vmId: machine.vmId, extension: 'probe', sequence: 1 } as const;
    await receiveNextOutput(ctx, { ...run, command: 'enable' }, Buffer.from('first'));
    await receiveNextOutput(ctx, { ...run, command: 'enable' }, Buffer.from('second'));
    await receiveNextOutput(ctx, { ...run, command: 'disable' }, Buffer.from('other'));
    await receiveNextOutput(ctx, { ...run, command: 'enable', sequence: 0 }, Buffer.from('earlier'));
    const found = (await machine.outputs()).map((each) => [each.command, each.sequenceNumber, each.attempt]);
    expect(found).toEqual([
      ['enable', 0, 1],
      ['disable', 1, 1],
      ['enable', 1, 2],
      ['enable', 1, 1],
    ]);
  });

  test('it continues after an attempt that was counted', async () => {
    const machine = await givenMachine(services);
    await machine.send('counted', undefined, { attempt: 7 });
    const run = { vmId: machine.vmId, extension: 'probe', sequence: 1, command: 'enable' } as const;
    await receiveNextOutput(await machine.agent(), run, Buffer.from('next'));
    expect((await machine.outputs()).map(({ attempt }) => attempt)).toEqual([8, 7]);
  });

  test('an unknown extension is rejected', async () => {
    const machine = await givenMachine(services);
    const run = { vmId: machine.vmId, extension: 'other', sequence: 1, command: 'enable' } as const;
    const sent = receiveNextOutput(await machine.agent(), run, Buffer.from('x'));
    await expect(sent).rejects.toMatchObject({ code: 'extension_unknown' });
  });
});
