import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A process between clients and their target. */
export interface Middle {
  address: string;
  port: number;
  pid: number;
  stop(): Promise<void>;
}

const address = '127.80.99.1';

/** Starts a program that passes connections from a free port to `target`. */
export async function startMiddle(file: string, target: { address: string; localPort: number }): Promise<Middle> {
  const port = await freePort();
  const child = fork(file, [JSON.stringify({ address, port, member: target })], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => [{ ready: false }]),
  ])) as [{ ready: boolean }];
  if (!message.ready) throw new Error(`${file} did not start.`);
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  };
  return { address, port, pid: child.pid ?? 0, stop };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A target for connections, which answers each as `answer` does. */
export async function startTarget(answer: (socket: Socket) => void): Promise<{
  address: string;
  localPort: number;
  stop(): Promise<void>;
}> {
  const open = new Set<Socket>();
  const server: Server = createServer({ noDelay: true }, (socket) => {
    open.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => open.delete(socket));
    answer(socket);
  });
  server.listen(0, '127.64.99.1', 2_048);
  await once(server, 'listening');
  const stop = async (): Promise<void> => {
    for (const socket of open) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  return { address: '127.64.99.1', localPort: (server.address() as AddressInfo).port, stop };
}

/** Connects to a middle process. */
export async function dial({ address: host, port }: Pick<Middle, 'address' | 'port'>): Promise<Socket> {
  const socket = connect({ host, port, noDelay: true });
  await once(socket, 'connect');
  socket.on('error', () => {});
  return socket;
}
