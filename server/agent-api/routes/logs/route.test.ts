import { randomBytes } from 'node:crypto';
import { readdir, utimes } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { outputPieces } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import {
  clearLogs,
  downloadOutput,
  getOutput,
  listOutputs,
  readOutput,
  receiveOutput,
  searchOutput,
} from '#server/domain/logs/index.ts';
import { defaultLimits } from '#server/platform/limits.ts';
import { type AgentDoor, givenAgent, givenProbe, openAgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { longTest } from '#server/testing/long.ts';

const KiB = 1024;
const logs = { outputBytes: 2_048 * KiB, vmBytes: 2_048 * KiB, archiveBytes: 64 * KiB, arrivingBytes: 16_384 * KiB };

let ctx: Context;
let door: AgentDoor;
let count = 0;

beforeAll(async () => {
  ({ ctx, door } = await openTestDoor({ limits: { ...defaultLimits, logs } }));
  incoming = join(ctx.config.dataDir, 'blobs', 'incoming');
});
afterAll(() => door.close());

interface Sent {
  of?: string;
  range?: string;
  headers?: Record<string, string>;
  extension?: string;
}

/** Creates a machine with the extension `probe`, and returns functions that call the API for command output. */
async function givenMachine() {
  count += 1;
  const agent = await givenAgent(ctx, door, `logs-${count}`);
  const { vmId } = agent;
  await givenProbe(ctx, vmId);
  return {
    vmId,
    authorization: agent.authorization,
    send: (body: string | Buffer<ArrayBuffer>, sent: Sent = {}) =>
      agent.call(`/logs/${sent.extension ?? 'probe'}?${sent.of ?? 'command=enable&attempt=1&sequence=1'}`, {
        method: 'POST',
        body,
        headers: {
          'content-type': 'text/plain; charset=utf-8',
          ...(sent.range && { 'content-range': `bytes ${sent.range}` }),
          ...sent.headers,
        },
      }),
    outputs: async () => (await listOutputs(ctx, { vmId })).items,
    whole: async () => {
      const [output] = (await listOutputs(ctx, { vmId })).items;
      return text((await downloadOutput(ctx, { vmId, outputId: output?.id ?? '' })).bytes);
    },
  };
}

let incoming: string;
const blobs = () => ctx.blobs.list(new Date(Date.now() + 60_000));

test('a complete output, sent twice, is stored once', async () => {
  const machine = await givenMachine();
  for (const _ of [1, 2]) {
    const answer = await machine.send('one\ntwo\n');
    expect(answer.status).toBe(204);
    expect(answer.headers.get('annex-output-bytes')).toBe('8');
  }
  expect(await machine.outputs()).toEqual([
    expect.objectContaining({
      ...{ extension: 'probe', command: 'enable', attempt: 1, sequenceNumber: 1 },
      ...{ totalBytes: 8, storedBytes: 8 },
    }),
  ]);
  expect(await machine.whole()).toBe('one\ntwo\n');
});

test('chunks may arrive out of order, gzipped or not; the response says how much is complete from the start', async () => {
  const machine = await givenMachine();
  const received = async (answer: Promise<Response>) => (await answer).headers.get('annex-output-bytes');
  expect(await received(machine.send('ab', { range: '0-1/*' }))).toBe('2');
  expect(await received(machine.send('ef', { range: '4-5/*' }))).toBe('2');
  const packed = { 'content-encoding': 'gzip' };
  expect(await received(machine.send(gzipSync('bcde'), { range: '1-4/6', headers: packed }))).toBe('6');
  expect(await machine.whole()).toBe('abcdef');
  expect(await machine.outputs()).toMatchObject([{ totalBytes: 6, storedBytes: 6 }]);
});

test('runs are distinguished by sequence number, command and attempt', async () => {
  const machine = await givenMachine();
  const runs = ['command=install&attempt=1&sequence=0', 'command=enable&attempt=1&sequence=1'];
  for (const of of [...runs, 'command=enable&attempt=2&sequence=1']) await machine.send(of, { of });
  const outputs = await machine.outputs();
  expect(outputs.map(({ command, attempt, sequenceNumber }) => [command, attempt, sequenceNumber])).toEqual([
    ['enable', 2, 1],
    ['enable', 1, 1],
    ['install', 1, 0],
  ]);
  const page = await listOutputs(ctx, { vmId: machine.vmId, limit: 2 });
  const rest = await listOutputs(ctx, { vmId: machine.vmId, limit: 2, cursor: page.nextCursor ?? '' });
  expect([page.items.length, rest.items.length, rest.nextCursor]).toEqual([2, 1, null]);
});

test('an output longer than a piece is read by lines, and searched, with its first error', async () => {
  const machine = await givenMachine();
  const lines = Array.from({ length: 30_000 }, (_, index) => `${index} ${'x'.repeat(40)}`);
  lines[21_000] = 'Fatal: disk /dev/sdb is gone';
  const whole = `${lines.join('\n')}\n`;
  expect((await machine.send(whole)).status).toBe(204);
  const [output] = await machine.outputs();
  const at = { vmId: machine.vmId, outputId: output?.id ?? '' };
  expect(await getOutput(ctx, at)).toMatchObject({
    rows: 30_000,
    totalBytes: whole.length,
    firstError: { row: 21_000, text: 'Fatal: disk /dev/sdb is gone' },
  });
  for (const row of [0, 23_301, 29_999]) {
    const { rows } = await readOutput(ctx, { ...at, row, count: 3 });
    expect(rows).toEqual(lines.slice(row, row + 3).map((each) => ({ kind: 'line', text: each })));
  }
  expect(await searchOutput(ctx, { ...at, q: 'DISK' })).toEqual({
    found: [{ row: 21_000, text: 'Fatal: disk /dev/sdb is gone' }],
    next: null,
  });
  const many = await searchOutput(ctx, { ...at, q: 'xx', row: 21_000 });
  expect(many.found).toHaveLength(100);
  expect(many.found[0]?.row).toBe(21_001);
  expect(many.next).toBe(21_101);
  expect(await machine.whole()).toBe(whole);
});

test('a command that ran again under the same number replaces its output', async () => {
  const machine = await givenMachine();
  await machine.send('first run, long\n');
  await machine.send('second\n');
  expect(await machine.whole()).toBe('second\n');
  expect(await machine.outputs()).toMatchObject([{ totalBytes: 7, storedBytes: 7 }]);
});

test('the stored outputs of a VM are limited: the oldest are removed, with their bytes', async () => {
  const machine = await givenMachine();
  const before = (await blobs()).length;
  for (const attempt of [1, 2, 3, 4]) {
    const body = Buffer.from(randomBytes(500 * KiB).toString('base64'));
    expect((await machine.send(body, { of: `command=enable&attempt=${attempt}&sequence=1` })).status).toBe(204);
  }
  expect((await machine.outputs()).map(({ attempt }) => attempt)).toEqual([4, 3, 2]);
  expect((await blobs()).length - before).toBe(3);
});

longTest('concurrent outputs of one machine do not deadlock', async () => {
  const machine = await givenMachine();
  const body = Buffer.from(randomBytes(600 * KiB).toString('base64'));
  const turns = [1, 2, 3, 4].flatMap((turn) => [1, 2, 3, 4, 5].map((attempt) => ({ turn, attempt })));
  const answers = await Promise.all(
    turns.map(({ turn, attempt }) =>
      machine.send(body.subarray(turn), { of: `command=enable&attempt=${attempt}&sequence=1` }),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
});

longTest('an output that arrives byte by byte is stored in few pieces', async () => {
  const machine = await givenMachine();
  const whole = 'one byte after the other, as some programs write\n';
  for (const [at, byte] of [...whole].entries()) await machine.send(byte, { range: `${at}-${at}/*` });
  expect(await machine.whole()).toBe(whole);
  const parts = await ctx.db.select().from(outputPieces).where(eq(outputPieces.vmId, machine.vmId));
  expect(parts.length).toBeLessThanOrEqual(Math.log2(whole.length) + 1);
});

test('a download continues while pieces are merged', async () => {
  const machine = await givenMachine();
  await machine.send('x'.repeat(400), { range: '0-399/*' });
  await machine.send('q!', { range: '400-401/*' });
  const [output] = await machine.outputs();
  const { bytes } = await downloadOutput(ctx, { vmId: machine.vmId, outputId: output?.id ?? '' });
  let read = '';
  for await (const piece of bytes) {
    if (read === '') expect((await machine.send('c'.repeat(400), { range: '402-801/802' })).status).toBe(204);
    read += Buffer.from(piece).toString();
  }
  expect(read).toBe(`${'x'.repeat(400)}q!${'c'.repeat(400)}`);
});

test('an output with very many gaps is rejected', async () => {
  const machine = await givenMachine();
  await machine.send('x', { range: '0-0/*' });
  const [part] = await ctx.db.select().from(outputPieces).where(eq(outputPieces.vmId, machine.vmId));
  if (part === undefined) throw new Error('nothing is kept');
  const others = Array.from({ length: 1_007 }, (_, index) => 2 * index + 2);
  await ctx.db.insert(outputPieces).values(others.map((start) => ({ ...part, start, until: start + 1 })));
  expect((await machine.send('x', { range: '2015-2015/*' })).status).toBe(204);
  const refused = await machine.send('x', { range: '9000-9000/*' });
  expect([refused.status, await refused.json()]).toEqual([422, expect.objectContaining({ code: 'output_scattered' })]);
});

test('an agent that disconnects while its output is stored causes no error', async () => {
  const reached = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const packed = Promise.withResolvers<void>();
  const blobs = {
    ...ctx.blobs,
    temporaryPath: async () => {
      reached.resolve();
      await go.promise;
      packed.resolve();
      return ctx.blobs.temporaryPath();
    },
  };
  const own = await openAgentDoor({ ...ctx, blobs });
  const defects: unknown[] = [];
  const note = (error: unknown) => defects.push(error);
  process.on('unhandledRejection', note);
  try {
    const { authorization } = await givenMachine();
    const call = request(`${own.url}/logs/probe?command=enable&attempt=1&sequence=1`, {
      method: 'POST',
      headers: { ...authorization, 'content-encoding': 'gzip', 'content-length': 10_000 },
    });
    call.on('error', () => {});
    call.write(gzipSync(Buffer.alloc(logs.outputBytes, 'x')));
    await reached.promise;
    const closed = new Promise((resolve) => call.once('close', resolve));
    call.destroy();
    await closed;
    // Once the server has handled this later request, it has also noticed the disconnect.
    expect((await fetch(`${own.url}/goal-state`, { headers: authorization })).status).toBe(200);
    go.resolve();
    await packed.promise;
  } finally {
    await own.close();
    process.off('unhandledRejection', note);
  }
  expect(defects).toEqual([]);
});

test('a machine that starts uploads without finishing them must wait; other machines continue', async () => {
  const [machine, other] = [await givenMachine(), await givenMachine()];
  const refused = Promise.withResolvers<IncomingMessage>();
  const begun = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((attempt) => {
    const call = request(`${door.url}/logs/probe?command=enable&attempt=${attempt}&sequence=1`, {
      method: 'POST',
      headers: { ...machine.authorization, 'content-length': logs.outputBytes },
    });
    call.on('error', () => {}).on('response', refused.resolve);
    call.write(Buffer.alloc(2_000 * KiB, 'x'));
    return call;
  });
  const answer = await refused.promise;
  expect(answer.statusCode).toBe(429);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect(JSON.parse(await text(answer))).toMatchObject({ code: 'uploads_waiting' });
  const body = Buffer.alloc(600 * KiB, 'y');
  expect((await other.send(body)).status).toBe(204);
  for (const call of begun) call.destroy();
  await expect.poll(async () => (await machine.send(body)).status, { timeout: 10_000 }).toBe(204);
  await expect.poll(() => readdir(incoming)).toEqual([]);
});

test('the first pieces of a slow output are not removed as leftovers of a crash', async () => {
  const machine = await givenMachine();
  const whole = randomBytes(logs.outputBytes);
  const anHourAgo = () => new Date(Date.now() - 3_600_000);
  let cleared = -1;
  async function* slowly() {
    yield whole.subarray(0, 1_024 * KiB);
    const parts = await readdir(incoming);
    expect(parts).toHaveLength(1);
    for (const part of parts) await utimes(join(incoming, part), new Date(0), new Date(0));
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 120_000 });
    yield whole.subarray(1_024 * KiB);
    cleared = await ctx.blobs.clearTemporary(anHourAgo());
  }
  const run = { extension: 'probe', command: 'enable', attempt: 1, sequence: 1, range: null } as const;
  try {
    const { received } = await receiveOutput(ctx, { vmId: machine.vmId, ...run }, slowly());
    expect([cleared, received]).toEqual([0, whole.length]);
  } finally {
    vi.useRealTimers();
  }
});

test('expired outputs are removed, with their bytes', async () => {
  const machine = await givenMachine();
  await machine.send(`kept for a while ${count}\n`);
  const inTime = new Date(Date.now() + ctx.config.keptDays.logs * 86_400_000 - 60_000);
  expect(await clearLogs(ctx, inTime)).toBe(0);
  expect(await clearLogs(ctx, new Date(inTime.getTime() + 120_000))).toBeGreaterThan(0);
  expect(await machine.outputs()).toEqual([]);
  expect(await blobs()).toEqual([]);
});

describe('rejected, without storing anything', () => {
  let machine: Awaited<ReturnType<typeof givenMachine>>;
  beforeAll(async () => {
    machine = await givenMachine();
  });
  const big = Buffer.alloc(logs.outputBytes + 1, 'x');
  const gzip = { 'content-encoding': 'gzip' };

  test.each<[string, () => [string | Buffer<ArrayBuffer>, Sent?], number, object]>([
    ['a malformed range', () => ['x', { range: '0-0' }], 400, { code: 'output_range' }],
    ['a reversed range', () => ['x', { range: '5-4/9' }], 400, { code: 'output_range' }],
    ['a range beyond its length', () => ['x', { range: '0-9/9' }], 400, { code: 'output_range' }],
    ['fewer bytes than the range', () => ['x', { range: '0-9/10' }], 400, { code: 'output_range_differs' }],
    ['more bytes than the range', () => ['xxx', { range: '0-1/10' }], 400, { code: 'output_range_differs' }],
    ['too much', () => [big], 413, { code: 'output_too_large' }],
    ['too far', () => ['x', { range: '2097152-2097152/*' }], 413, { code: 'output_too_large' }],
    ['too many bytes, compressed', () => [gzipSync(big), { headers: gzip }], 413, { code: 'output_too_large' }],
    ['invalid gzip', () => ['plain', { headers: gzip }], 400, { errors: [{ code: 'gzip_broken' }] }],
    [
      'gzip followed by other bytes',
      () => [Buffer.concat([gzipSync('abc'), Buffer.alloc(256 * KiB, 'x')]), { headers: gzip }],
      400,
      { errors: [{ code: 'gzip_broken' }] },
    ],
    ['truncated gzip', () => [gzipSync('abcdef').subarray(0, 12), { headers: gzip }], 400, { errors: [{}] }],
    ['another encoding', () => ['x', { headers: { 'content-encoding': 'br' } }], 415, { code: 'encoding_unknown' }],
    ['another type', () => ['{}', { headers: { 'content-type': 'application/json' } }], 415, {}],
    ['an unknown command', () => ['x', { of: 'command=run&attempt=1&sequence=1' }], 400, { code: 'invalid' }],
    [
      'no run',
      () => ['x', { of: '' }],
      400,
      { errors: [{ path: '/command' }, { path: '/attempt' }, { path: '/sequence' }] },
    ],
    ['an unknown extension', () => ['x', { extension: 'other' }], 422, { code: 'extension_unknown' }],
    [
      'a future sequence number',
      () => ['x', { of: 'command=enable&attempt=1&sequence=2' }],
      422,
      { code: 'sequence_unknown' },
    ],
  ])('%s', async (_, sent, status, problem) => {
    const refused = await machine.send(...sent());
    expect(refused.status).toBe(status);
    expect(await refused.json()).toMatchObject(problem);
    expect(await machine.outputs()).toEqual([]);
    expect(await ctx.blobs.clearTemporary(new Date(Date.now() + 60_000))).toBe(0);
  });

  test('a call without a credential', async () => {
    const answer = await fetch(`${door.url}/logs/probe?command=enable&attempt=1&sequence=1`, { method: 'POST' });
    expect(answer.status).toBe(401);
  });

  test('a reader who is not an operator', async () => {
    const viewer = await testContext({ role: 'viewer', services: ctx });
    await expect(listOutputs(viewer, { vmId: machine.vmId })).rejects.toMatchObject({ kind: 'forbidden' });
  });
});
