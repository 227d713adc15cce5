import { existsSync, lstatSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AmpError } from './amp-error.ts';
import { type Box, boxOf, encodeBox } from './box.ts';
import { BoxParser } from './box-parser.ts';
import { AmpClient } from './client.ts';
import type { Responder, Timer } from './connection.ts';
import { AmpServer } from './server.ts';

let folder = '';
let server: AmpServer;
const sockets: Socket[] = [];
let faults: unknown[] = [];
/** Timers of the server: the tests decide when the time is over. */
let timers = new Set<() => void>();
const timer: Timer = (_, action) => {
  timers.add(action);
  return () => timers.delete(action);
};
/** Answers of `wait`, in the order of the questions. */
let held: (() => void)[] = [];

const respond: Responder = async (command, box) => {
  if (command === 'echo') return boxOf({ value: box.get('value') });
  if (command === 'wait') return await new Promise((resolve) => held.push(() => resolve(new Map())));
  if (command === 'large') return boxOf({ value: 'v'.repeat(65_536) });
  if (command === 'defect') throw new TypeError('a fault of the agent');
  throw new AmpError('UNHANDLED', `Unhandled Command: '${command}'`);
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'annex-amp-'));
  [faults, timers, held] = [[], new Set(), []];
  server = await AmpServer.listen(join(folder, 'ensemble.sock'), {
    respond,
    timer,
    onFault: (error) => faults.push(error),
  });
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const open = (): Promise<AmpClient> => AmpClient.open(server.path);

/** A connection that sends bytes and collects boxes. */
class Raw {
  readonly boxes: Record<string, string>[] = [];
  readonly socket: Socket;
  isClosed = false;
  private readonly parser = new BoxParser();

  constructor() {
    this.socket = connect(server.path);
    sockets.push(this.socket);
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.isClosed = true;
    });
    this.socket.on('data', (chunk: Buffer) => {
      this.parser.push(chunk);
      for (let box = this.parser.next(); box !== null; box = this.parser.next()) this.boxes.push(textsOf(box));
    });
  }

  send(...parts: (Buffer | Record<string, string>)[]): this {
    for (const part of parts) this.socket.write(Buffer.isBuffer(part) ? part : encodeBox(boxOf(part)));
    return this;
  }

  async closed(): Promise<this> {
    await expect.poll(() => this.isClosed).toBe(true);
    return this;
  }

  async received(count: number): Promise<Record<string, string>[]> {
    await expect.poll(() => this.boxes.length).toBe(count);
    return this.boxes;
  }
}

const textsOf = (box: Box): Record<string, string> =>
  Object.fromEntries([...box].map(([key, value]) => [key, value.toString()]));

describe('EN-26 a command', () => {
  test('is answered with the key _ask as it came, whatever its bytes', async () => {
    const ask = Buffer.from([0xff, 0, 0x41]);
    const raw = new Raw().send(encodeBox(boxOf({ _ask: ask, _command: 'echo', value: 'a' })));
    const [answer] = await raw.received(1);
    expect(answer).toEqual({ _answer: ask.toString(), value: 'a' });
  });

  test('without _ask is answered neither with a value nor with an error', async () => {
    const raw = new Raw().send(
      { _command: 'echo' },
      { _command: 'unknown' },
      { _ask: '1', _command: 'echo', value: '' },
    );
    expect(await raw.received(1)).toEqual([{ _answer: '1', value: '' }]);
  });

  test('that is unknown gives UNHANDLED and keeps the connection', async () => {
    const client = await open();
    await expect(client.call('unknown', {})).rejects.toMatchObject({ code: 'UNHANDLED' });
    expect((await client.call('echo', { value: 'still here' })).get('value')?.toString()).toBe('still here');
    client.close();
  });

  test('is answered when its answer is ready, in any order', async () => {
    const raw = new Raw().send({ _ask: '1', _command: 'wait' }, { _ask: '2', _command: 'echo', value: 'b' });
    await raw.received(1);
    held[0]?.();
    expect((await raw.received(2)).map(({ _answer }) => _answer)).toEqual(['2', '1']);
  });

  test('whose answer is too long, or that the agent fails to answer, is answered with an error', async () => {
    const client = await open();
    await expect(client.call('large', {})).rejects.toMatchObject({ code: 'TooLong' });
    await expect(client.call('defect', {})).rejects.toMatchObject({ code: 'UNKNOWN' });
    expect(faults).toEqual([new TypeError('a fault of the agent')]);
    client.close();
  });

  test('that is larger than a box can be is not sent', async () => {
    const client = await open();
    await expect(client.call('echo', { value: 'v'.repeat(65_536) })).rejects.toThrow('65536 bytes');
    expect((await client.call('echo', { value: 'v' })).size).toBe(1);
    client.close();
  });

  test('is read although its bytes arrive one at a time', async () => {
    const raw = new Raw();
    for (const byte of encodeBox(boxOf({ _ask: '1', _command: 'echo', value: 'slow' }))) raw.send(Buffer.from([byte]));
    expect(await raw.received(1)).toEqual([{ _answer: '1', value: 'slow' }]);
  });
});

describe('EN-69 only the connection closes that', () => {
  const good = { _ask: '1', _command: 'echo', value: 'good' };
  test.each<[string, (Buffer | Record<string, string>)[]]>([
    ['sends garbage', [Buffer.from('GET / HTTP/1.1\r\n\r\n')]],
    ['sends zeros after a good box', [good, Buffer.alloc(1024 * 1024)]],
    ['sends an empty box', [Buffer.from([0, 0])]],
    ['sends a key of 256 bytes', [Buffer.from([1, 0])]],
    ['sends an answer that was not requested', [{ _answer: '1' }]],
    ['sends an error that was not requested', [{ _error: '1', _error_code: 'X', _error_description: '' }]],
    ['sends a box that is not a command', [{ a: '1' }]],
  ])('%s', async (_, parts) => {
    const other = await open();
    await new Raw().send(...parts).closed();
    expect((await other.call('echo', { value: 'b' })).size).toBe(1);
    other.close();
  });

  test('does not finish a box within 60 seconds', async () => {
    const raw = new Raw().send({ _ask: '1', _command: 'echo', value: '' }, Buffer.from([0, 4, 0x5f]));
    await raw.received(1);
    await expect.poll(() => timers.size).toBe(1);
    raw.send(encodeBox(boxOf({ _ask: '1', _command: 'echo', value: 'x' })).subarray(3), Buffer.from([0]));
    await raw.received(2);
    for (const action of timers) action();
    await raw.closed();
  });

  test('was idle for the longest time, if there are more than 64', async () => {
    const oldest = new Raw().send(good);
    await oldest.received(1);
    const others = Array.from({ length: 63 }, () => new Raw().send(good));
    await Promise.all(others.map((one) => one.received(1)));
    oldest.send(good);
    await oldest.received(2);
    const began = performance.now();
    const client = await open();
    expect((await client.call('echo', { value: 'b' })).size).toBe(1);
    expect(performance.now() - began).toBeLessThan(1_000);
    await expect.poll(() => others.filter(({ isClosed }) => isClosed).length).toBe(1);
    expect(oldest.isClosed).toBe(false);
    client.close();
  });

  test('is opened while all 64 others wait for an answer', async () => {
    const waiting = Array.from({ length: 64 }, () => new Raw().send({ _ask: '1', _command: 'wait' }));
    await expect.poll(() => held.length).toBe(64);
    await new Raw().closed();
    for (const answer of held) answer();
    await Promise.all(waiting.map((one) => one.received(1)));
  });

  test('belongs to a client that is gone before its answer', async () => {
    const raw = new Raw().send({ _ask: '1', _command: 'wait' });
    await expect.poll(() => held.length).toBe(1);
    raw.socket.destroy();
    await raw.closed();
    held[0]?.();
    const client = await open();
    expect((await client.call('echo', { value: 'b' })).size).toBe(1);
    expect(faults).toEqual([]);
    client.close();
  });
});

test('a connection with 64 boxes under way is read no further until one is answered', async () => {
  const raw = new Raw();
  for (let ask = 1; ask <= 70; ask++) raw.send({ _ask: String(ask), _command: 'wait' });
  await expect.poll(() => held.length).toBe(64);
  held.shift()?.();
  await raw.received(1);
  await expect.poll(() => held.length).toBe(64);
  while (raw.boxes.length < 70) {
    for (const answer of held.splice(0)) answer();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(new Set(raw.boxes.map(({ _answer }) => _answer)).size).toBe(70);
});

describe('EN-25 the socket', () => {
  test('has the mode 0600, replaces what an earlier agent left, and is deleted at the end', async () => {
    const path = join(folder, 'left.sock');
    writeFileSync(path, '');
    writeFileSync(`${path}.new`, '');
    const other = await AmpServer.listen(path, { respond });
    expect(other.path).toBe(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const client = await AmpClient.open(path);
    expect((await client.call('echo', { value: 'b' })).size).toBe(1);
    client.close();
    await other.close();
    expect([path, `${path}.new`].filter((each) => existsSync(each))).toEqual([]);
  });

  test('EN-68 whose path is too long is in a separate folder, 0600 in 0700', async () => {
    const path = join(folder, 'd'.repeat(200 - folder.length), 'ensemble.sock');
    const first = await AmpServer.listen(path, { respond });
    expect(Buffer.byteLength(first.path)).toBeLessThan(100);
    expect([statSync(first.path).mode & 0o777, statSync(dirname(first.path)).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    const client = await AmpClient.open(first.path);
    expect((await client.call('echo', { value: 'b' })).size).toBe(1);
    client.close();
    // An agent that was killed leaves its socket, which the next one replaces.
    const second = await AmpServer.listen(path, { respond });
    expect(existsSync(dirname(first.path))).toBe(false);
    await second.close();
    await first.close();
    expect([path, dirname(second.path)].filter((each) => existsSync(each))).toEqual([]);
  });
});

test('a client reports that no server listens, and that the server closed the connection', async () => {
  await expect(AmpClient.open(join(folder, 'none.sock'))).rejects.toThrow('ENOENT');
  const client = await open();
  const call = client.call('wait', {});
  await expect.poll(() => held.length).toBe(1);
  await Promise.all([expect(call).rejects.toThrow('closed the connection'), server.close()]);
  await expect(client.call('echo', {})).rejects.toThrow('closed');
  server = await AmpServer.listen(join(folder, 'ensemble.sock'), { respond });
});
