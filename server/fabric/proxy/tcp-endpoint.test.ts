import { once } from 'node:events';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import {
  ask,
  dial,
  echoMember,
  endpointOf,
  freePort,
  type LabMember,
  namedMember,
  standingOf,
  tcpMember,
} from '../testing/lab-members.ts';
import type { ProxyLimits } from './limits.ts';
import { PortProxy } from './port-proxy.ts';

/** An address of the fabric, and the addresses of two role instances. */
const [front, a, b] = ['127.80.9.1', '127.64.9.1', '127.64.9.2'] as const;
const closings: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

const started = async (member: Promise<LabMember>): Promise<LabMember> => {
  const one = await member;
  closings.push(one.close);
  return one;
};

/** Serves members at a public port. `change` replaces the members. */
async function serve(members: readonly Member[], limits: Partial<ProxyLimits> = {}) {
  const proxy = new PortProxy({ sweepMs: 10, ...limits });
  closings.push(() => proxy.close());
  const port = await freePort(front);
  const change = (now: readonly Member[], kept: readonly Member[] = []) => {
    const endpoints = [endpointOf(front, port, now)];
    return proxy.serve(endpoints, standingOf([...endpoints, endpointOf(front, port, kept)]));
  };
  await change(members);
  return { proxy, port, change };
}

type Member = Pick<LabMember, 'vmId' | 'address' | 'localPort'>;

const counted = (answers: readonly string[]) =>
  Object.fromEntries([...Map.groupBy(answers, (one) => one)].map(([one, all]) => [one, all.length]));
const closing = (socket: Socket): Promise<void> => new Promise((resolve) => socket.once('close', () => resolve()));
const echo = async (socket: Socket, words: string): Promise<string> => {
  socket.write(words);
  const [data] = (await once(socket, 'data')) as [Buffer];
  return data.toString();
};

describe('balancing', () => {
  test('JU-16 JU-32 each of two members gets every other one of 100 connections', async () => {
    const { port } = await serve([await started(namedMember('a', a)), await started(namedMember('b', b))]);
    const answers: string[] = [];
    for (let count = 0; count < 100; count += 1) answers.push(await ask(front, port));
    expect(counted(answers)).toEqual({ a: 50, b: 50 });
    expect(answers.slice(0, 4)).toEqual(['a', 'b', 'a', 'b']);
  });

  test('the member with the fewest open connections gets the next one', async () => {
    const [one, other] = [await started(echoMember('a', a)), await started(echoMember('b', b))];
    const { port } = await serve([one, other]);
    const held = [];
    for (let count = 0; count < 4; count += 1) held.push(await dial(front, port));
    await expect.poll(() => [one.sockets.size, other.sockets.size]).toEqual([2, 2]);
    for (const socket of one.sockets) socket.resetAndDestroy();
    await expect.poll(() => one.sockets.size).toBe(0);
    for (let count = 0; count < 2; count += 1) {
      const socket = await dial(front, port);
      await expect.poll(() => one.sockets.size).toBe(count + 1);
      held.push(socket);
    }
    expect(other.sockets.size).toBe(2);
    for (const socket of held) socket.destroy();
  });

  test('a member that is added gets connections, and one that leaves gets none', async () => {
    const [one, other] = [await started(namedMember('a', a)), await started(namedMember('b', b))];
    const { port, change } = await serve([one]);
    expect([await ask(front, port), await ask(front, port)]).toEqual(['a', 'a']);
    await change([one, other]);
    expect([await ask(front, port), await ask(front, port)].toSorted()).toEqual(['a', 'b']);
    await change([other]);
    expect([await ask(front, port), await ask(front, port)]).toEqual(['b', 'b']);
  });

  test('counts connections and bytes of each member', async () => {
    const [one, other] = [await started(echoMember('a', a)), await started(echoMember('b', b))];
    const { proxy, port } = await serve([one, other]);
    const sockets = [await dial(front, port), await dial(front, port), await dial(front, port)];
    for (const socket of sockets) expect(await echo(socket, '12345')).toBe('12345');
    proxy.sweep();
    const traffic = new Map(proxy.takeTraffic().map((row) => [row.vmId, row]));
    expect(traffic.get('a')).toMatchObject({ connections: 2, bytes: 20, protocol: 'tcp', publicPort: port });
    expect(traffic.get('b')).toMatchObject({ connections: 1, bytes: 10 });
    expect(proxy.takeTraffic()).toEqual([]);
    for (const socket of sockets) socket.end();
    await expect.poll(() => one.sockets.size + other.sockets.size).toBe(0);
    expect(proxy.takeTraffic()).toEqual([]);
  });
});

describe('JU-29 after a swap', () => {
  test('new connections reach only the previous Staging, and existing connections are not cut', async () => {
    const [one, other] = [await started(echoMember('a', a)), await started(namedMember('b', b))];
    const { port, change } = await serve([one]);
    const standing = await dial(front, port);
    expect(await echo(standing, 'before')).toBe('before');
    await change([other], [one]);
    expect([await ask(front, port), await ask(front, port)]).toEqual(['b', 'b']);
    expect(await echo(standing, 'after')).toBe('after');
    standing.destroy();
  });

  test('connections stay although the port is no longer public, until they end', async () => {
    const one = await started(echoMember('a', a));
    const { proxy, port } = await serve([one]);
    const standing = await dial(front, port);
    await echo(standing, 'before');
    const kept = standingOf([endpointOf(front, port, [one])]);
    await proxy.serve([], kept);
    expect(await echo(standing, 'after')).toBe('after');
    expect(await ask(front, port)).toBe('error ECONNREFUSED');
    standing.end();
    await once(standing, 'end');
  });
});

describe('a port that is closed', () => {
  test('JU-32 accepts no further connections, and ends those that it had', async () => {
    const one = await started(echoMember('a', a));
    const { proxy, port } = await serve([one]);
    const socket = await dial(front, port);
    await echo(socket, 'before');
    await proxy.serve([], new Set());
    await closing(socket);
    expect(await ask(front, port)).toBe('error ECONNREFUSED');
    await expect.poll(() => one.sockets.size).toBe(0);
  });
});

describe('the direction of a connection', () => {
  test('that a client ended leaves the opposite direction open', async () => {
    const received = Promise.withResolvers<string>();
    const one = await started(
      tcpMember('a', a, (socket) => {
        socket.write('first ');
        void text(socket).then((all) => {
          received.resolve(all);
          socket.end('second');
        });
      }),
    );
    const { port } = await serve([one]);
    const socket = await dial(front, port);
    socket.end('request');
    expect(await text(socket)).toBe('first second');
    expect(await received.promise).toBe('request');
  });

  test('that a member ended leaves the opposite direction open', async () => {
    const received = Promise.withResolvers<string>();
    const one = await started(
      tcpMember('a', a, (socket) => {
        socket.end('bye');
        void text(socket).then(received.resolve);
      }),
    );
    const { port } = await serve([one], { hastyMs: 0 });
    const socket = await dial(front, port);
    expect(await text(socket)).toBe('bye');
    socket.end('still here');
    expect(await received.promise).toBe('still here');
  });

  test('is not read further than a slow reader takes', async () => {
    const one = await started(tcpMember('a', a, (socket) => void socket.pause()));
    const { port } = await serve([one]);
    const socket = await dial(front, port);
    const sent = 64 * 1024 * 1024;
    socket.write(Buffer.alloc(sent));
    await expect.poll(() => one.sockets.size).toBe(1);
    let before = -1;
    await expect
      .poll(() => {
        const still = socket.bytesWritten - socket.writableLength === before;
        before = socket.bytesWritten - socket.writableLength;
        return still;
      })
      .toBe(true);
    const [target] = one.sockets;
    let received = 0;
    target?.on('data', (data: Buffer) => {
      received += data.length;
    });
    target?.resume();
    socket.end();
    await expect.poll(() => received, { timeout: 20_000 }).toBe(sent);
  });

  test('is reset if the other side resets', async () => {
    const one = await started(echoMember('a', a));
    const { port } = await serve([one]);
    const socket = await dial(front, port);
    await echo(socket, 'x');
    const [target] = one.sockets;
    const failed = once(socket, 'error') as Promise<[NodeJS.ErrnoException]>;
    target?.resetAndDestroy();
    expect((await failed)[0].code).toBe('ECONNRESET');
  });
});

describe('JU-34 a member', () => {
  test('that refuses connections is skipped, and clients see no error', async () => {
    const one = await started(namedMember('a', a));
    const dead = { vmId: 'dead', address: b, localPort: await freePort(b) };
    const { port } = await serve([dead, one]);
    for (let count = 0; count < 6; count += 1) expect(await ask(front, port)).toBe('a');
  });

  test('that does not answer within the time is skipped, and is tried later', async () => {
    const one = await started(namedMember('a', a));
    // Nothing at this address answers: the system drops packets to a network for documentation, or has no route to it.
    const silent = { vmId: 'silent', address: '192.0.2.1', localPort: 9 };
    const { port } = await serve([silent, one], { connectMs: 30, passOverMs: 60_000 });
    for (let count = 0; count < 6; count += 1) expect(await ask(front, port)).toBe('a');
  });

  test('is tried again after the time, and gets connections again', async () => {
    const one = await started(namedMember('a', a));
    const localPort = await freePort(b);
    const { port } = await serve([{ vmId: 'b', address: b, localPort }, one], { passOverMs: 1 });
    expect(await ask(front, port)).toBe('a');
    await started(tcpMember('b', b, (socket) => socket.end('b'), { port: localPort }));
    await expect.poll(() => ask(front, port)).toBe('b');
  });

  test('that closes connections without an answer comes after the others', async () => {
    const one = await started(namedMember('a', a));
    const hasty = await started(tcpMember('hasty', b, (socket) => socket.end()));
    const { port } = await serve([hasty, one]);
    expect(await ask(front, port)).toBe('');
    for (let count = 0; count < 6; count += 1) expect(await ask(front, port)).toBe('a');
  });

  test('is tried although it was skipped, if there is no other', async () => {
    const localPort = await freePort(b);
    const { port } = await serve([{ vmId: 'b', address: b, localPort }], { passOverMs: 60_000 });
    expect(await ask(front, port)).toBe('');
    await started(tcpMember('b', b, (socket) => socket.end('b'), { port: localPort }));
    expect(await ask(front, port)).toBe('b');
  });

  test('is missing: the connection is closed', async () => {
    const { port } = await serve([]);
    expect(await ask(front, port)).toBe('');
  });
});

describe('hostile clients', () => {
  test('connections above the limit of an endpoint are refused, and a free place is used', async () => {
    const one = await started(echoMember('a', a));
    const { port } = await serve([one], { endpointConnections: 20 });
    const held = await Promise.all(Array.from({ length: 20 }, () => dial(front, port)));
    await expect.poll(() => one.sockets.size).toBe(20);
    const flood = await Promise.all(Array.from({ length: 200 }, () => ask(front, port)));
    expect(counted(flood)).toEqual({ 'error ECONNRESET': 200 });
    expect(await echo(held[0] as Socket, 'still served')).toBe('still served');
    held[0]?.destroy();
    await expect.poll(() => one.sockets.size).toBe(19);
    const next = await dial(front, port);
    expect(await echo(next, 'a free place')).toBe('a free place');
    for (const socket of [...held, next]) socket.destroy();
  });

  test('the limit of all endpoints together leaves every endpoint its connections', async () => {
    const one = await started(echoMember('a', a));
    const proxy = new PortProxy({ sweepMs: 10, connections: 5 });
    closings.push(() => proxy.close());
    const ports = [await freePort(front), await freePort(front)];
    const endpoints = ports.map((port) => endpointOf(front, port, [one]));
    await proxy.serve(endpoints, standingOf(endpoints));
    const held = await Promise.all(Array.from({ length: 5 }, () => dial(front, ports[0] ?? 0)));
    await expect.poll(() => one.sockets.size).toBe(5);
    expect(await ask(front, ports[1] ?? 0)).toBe('error ECONNRESET');
    for (const socket of held) socket.destroy();
    await expect.poll(() => one.sockets.size).toBe(0);
    const next = await dial(front, ports[1] ?? 0);
    expect(await echo(next, 'served')).toBe('served');
    next.destroy();
  });

  test('a connection without a byte is closed in time, and one that occasionally sends a byte is kept', async () => {
    let clock = 0;
    const one = await started(echoMember('a', a));
    const proxy = new PortProxy({ sweepMs: 60_000 }, () => clock);
    closings.push(() => proxy.close());
    const port = await freePort(front);
    const endpoints = [endpointOf(front, port, [one])];
    await proxy.serve(endpoints, standingOf(endpoints));
    const [idle, slow] = [await dial(front, port), await dial(front, port)];
    await expect.poll(() => one.sockets.size).toBe(2);
    const closed = closing(idle);
    for (let minute = 0; minute < 10; minute += 1) {
      clock += 60_000;
      expect(await echo(slow, '.')).toBe('.');
      proxy.sweep();
    }
    await closed;
    await expect.poll(() => one.sockets.size).toBe(1);
    expect(await echo(slow, 'alive')).toBe('alive');
    slow.destroy();
  });

  test('a client that is gone before a member was found leaves nothing behind', async () => {
    const silent = { vmId: 'silent', address: '192.0.2.1', localPort: 9 };
    const { port } = await serve([silent], { connectMs: 50, endpointConnections: 1 });
    for (let count = 0; count < 3; count += 1) {
      const socket = await dial(front, port);
      socket.resetAndDestroy();
      await expect.poll(() => ask(front, port), { interval: 5 }).toBe('');
    }
  });
});
