import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { endpointOf, freePort, type LabMember, standingOf, udpMember } from '../testing/lab-members.ts';
import type { ProxyLimits } from './limits.ts';
import { PortProxy } from './port-proxy.ts';

const [front, a, b] = ['127.80.9.2', '127.64.9.3', '127.64.9.4'] as const;
const closings: (() => Promise<void> | void)[] = [];
let clock = 0;

afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

async function serve(members: readonly Member[], limits: Partial<ProxyLimits> = {}) {
  const proxy = new PortProxy({ sweepMs: 60_000, ...limits }, () => clock);
  closings.push(() => proxy.close());
  const port = await freePort(front);
  const change = (now: readonly Member[]) => {
    const endpoints = [endpointOf(front, port, now, 'udp')];
    return proxy.serve(endpoints, standingOf(endpoints));
  };
  await change(members);
  return { proxy, port, change };
}

type Member = Pick<LabMember, 'vmId' | 'address' | 'localPort'>;

const started = async (vmId: string, address: string): Promise<LabMember> => {
  const one = await udpMember(vmId, address);
  closings.push(one.close);
  return one;
};
const client = (): Socket => {
  const socket = createSocket('udp4');
  closings.push(() => void socket.close());
  return socket;
};
const ask = async (socket: Socket, port: number, words = 'hello'): Promise<string> => {
  const answered = once(socket, 'message') as Promise<[Buffer]>;
  socket.send(words, port, front);
  return (await answered)[0].toString();
};
/** Sends a datagram again and again, because datagrams can be lost, and returns the first answer. */
const answerOf = async (socket: Socket, port: number): Promise<string> => {
  const answers: string[] = [];
  socket.on('message', (data) => answers.push(data.toString()));
  const send = () => {
    if (answers.length === 0) socket.send('again', port, front);
    return answers.length;
  };
  await expect.poll(send).toBeGreaterThan(0);
  return answers[0] ?? '';
};

describe('UDP', () => {
  test('a client stays with its member, and clients are balanced in turn', async () => {
    const { port } = await serve([await started('a', a), await started('b', b)]);
    const [one, other] = [client(), client()];
    expect([await ask(one, port), await ask(other, port)]).toEqual(['a hello', 'b hello']);
    for (let count = 0; count < 5; count += 1) {
      expect([await ask(one, port), await ask(other, port)]).toEqual(['a hello', 'b hello']);
    }
  });

  test('a client that was silent for a minute is forgotten', async () => {
    const { proxy, port } = await serve([await started('a', a), await started('b', b)]);
    const one = client();
    expect(await ask(one, port)).toBe('a hello');
    clock += 59_000;
    proxy.sweep();
    expect(await ask(one, port)).toBe('a hello');
    clock += 60_000;
    proxy.sweep();
    expect(await ask(one, port)).toBe('b hello');
  });

  test('counts clients and bytes of each member', async () => {
    const { proxy, port } = await serve([await started('a', a)]);
    const one = client();
    for (const words of ['12', '345']) await ask(one, port, words);
    const [row] = proxy.takeTraffic();
    expect(row).toMatchObject({ vmId: 'a', protocol: 'udp', connections: 1, bytes: 2 + 4 + 3 + 5 });
  });

  test('datagrams of a client arrive in order, including those before the socket was open, and empty ones', async () => {
    const { port } = await serve([await started('a', a)]);
    const one = client();
    const answers: string[] = [];
    one.on('message', (data) => answers.push(data.toString()));
    for (const words of ['1', '', '2', '3']) one.send(words, port, front);
    await expect.poll(() => answers).toEqual(['a 1', 'a ', 'a 2', 'a 3']);
  });

  test('JU-34 a member that accepts no datagrams is skipped for the next client', async () => {
    const dead = { vmId: 'dead', address: b, localPort: await freePort(b) };
    const { port } = await serve([dead, await started('a', a)]);
    const one = client();
    one.send('lost', port, front);
    expect(await answerOf(one, port)).toBe('a again');
  });

  test('a member that leaves loses its clients, and a port that is closed does not answer', async () => {
    const [one, other] = [await started('a', a), await started('b', b)];
    const { proxy, port, change } = await serve([one, other]);
    const sender = client();
    expect(await ask(sender, port)).toBe('a hello');
    await change([other]);
    expect(await ask(sender, port)).toBe('b hello');
    await proxy.serve([], new Set());
    sender.send('lost', port, front);
    await change([one]);
    expect(await answerOf(sender, port)).toBe('a again');
  });
});

describe('a flood of datagrams', () => {
  test('from more addresses than the limit forgets the client that was silent longest', async () => {
    const { proxy, port } = await serve([await started('a', a)], { clients: 3 });
    const first = client();
    await ask(first, port);
    for (let count = 0; count < 10; count += 1) {
      await ask(client(), port);
      // The first client keeps sending, so it is not the one that is forgotten.
      await ask(first, port);
    }
    const [row] = proxy.takeTraffic();
    expect(row?.connections).toBe(11);
    await ask(client(), port);
    await ask(client(), port);
    await ask(client(), port);
    await ask(first, port);
    expect(proxy.takeTraffic()[0]?.connections).toBe(4);
  });

  test('does not keep other clients from being served', async () => {
    const { port } = await serve([await started('a', a)], { clients: 50 });
    const senders = Array.from({ length: 100 }, client);
    for (let round = 0; round < 20; round += 1) for (const one of senders) one.send('flood', port, front);
    const one = client();
    expect(await answerOf(one, port)).toBe('a again');
  });
});
