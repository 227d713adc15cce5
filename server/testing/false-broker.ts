import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { TlsFiles } from './tls-authority.ts';

/** A server with a certificate that a client must not accept. It does not speak AMQP. */
export interface FalseBroker extends TestServer {
  /** Uses another certificate for the next connections. */
  use(files: TlsFiles): void;
  /** Everything that clients sent over TLS. Empty if no client has accepted a certificate. */
  received(): string;
}

/** Starts a TLS server on loopback. */
export async function startFalseBroker(files: TlsFiles): Promise<FalseBroker> {
  let received = '';
  const server = createTlsServer(contextOf(files), (socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
    });
  });
  // A client that rejects the certificate ends the handshake.
  server.on('tlsClientError', () => {});
  const { port, close } = await listen(server);
  return { port, use: (next) => server.setSecureContext(contextOf(next)), received: () => received, close };
}

/** A server on loopback. */
export interface TestServer {
  port: number;
  close(): Promise<void>;
}

/** Starts a server that accepts connections and never sends anything, like a broker that hangs. */
export async function startSilentServer(): Promise<TestServer> {
  return listen(createServer((socket) => socket.on('error', () => {}).resume()));
}

/** Starts a server that responds like a broker port that does not use TLS. */
export async function startPlainServer(): Promise<TestServer> {
  return listen(
    createServer((socket) => socket.on('error', () => {}).once('data', () => socket.end('AMQP\0\0\x09\x01'))),
  );
}

/** A TCP proxy that can lose all packets, like a firewall that drops them without rejecting the connection. */
export interface LossyProxy extends TestServer {
  /** Drops all data from now on. New connections are accepted, but no data passes. */
  drop(): void;
  /** Forwards the data of new connections. Connections that lost data remain unusable. */
  recover(): void;
}

/** Starts a proxy on loopback for a server on loopback. */
export async function startLossyProxy(target: number): Promise<LossyProxy> {
  let isDropping = false;
  const joined = new Set<{ client: Socket; server: Socket }>();
  const proxy = createServer((client) => {
    client.on('error', () => {});
    if (isDropping) {
      client.resume();
      return;
    }
    const server = createConnection({ host: '127.0.0.1', port: target });
    server.on('error', () => client.destroy());
    client.pipe(server);
    server.pipe(client);
    joined.add({ client, server });
  });
  const { port, close } = await listen(proxy);
  return {
    port,
    drop() {
      isDropping = true;
      for (const { client, server } of joined) {
        client.unpipe(server).resume();
        server.unpipe(client).resume();
      }
    },
    recover() {
      isDropping = false;
    },
    async close() {
      for (const { server } of joined) server.destroy();
      await close();
    },
  };
}

const contextOf = ({ cert, key }: TlsFiles) => ({ cert: readFileSync(cert), key: readFileSync(key) });

async function listen(server: ReturnType<typeof createServer>): Promise<TestServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy();
      await once(server.close(), 'close');
    },
  };
}
