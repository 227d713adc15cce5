import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { AgentError, sentenceOf } from '../agent-error.ts';
import { openSocketTables, type SocketTables } from './socket-tables.ts';

export interface Endpoint {
  host: string;
  port: number;
}

export interface Listeners {
  /** One server for each endpoint, in the same order. */
  servers: Server[];
  tables: SocketTables;
}

/** Listens in this process's network namespace. Throws an AgentError that explains how to add a missing address. */
export async function listenHere(endpoints: Endpoint[]): Promise<Listeners> {
  const servers: Server[] = [];
  try {
    for (const endpoint of endpoints) servers.push(await listenAt(endpoint));
  } catch (error) {
    for (const server of servers) server.close();
    throw error;
  }
  return { servers, tables: openSocketTables('self') };
}

/**
 * Listens in another network namespace, given by its name in `ip netns` or by a path such as /proc/PID/ns/net. A socket
 * stays in the namespace where it was created, so a child process enters the namespace, creates the sockets, passes
 * them to this process and ends. This process accepts the connections but remains in its own namespace, so the guest
 * gains access to nothing else.
 */
export async function listenInside(namespace: string, endpoints: Endpoint[], program: string[]): Promise<Listeners> {
  const path = namespace.includes('/') ? namespace : `/run/netns/${namespace}`;
  if (!existsSync(path)) {
    throw new AgentError(`There is no network namespace ${path}. \`ip netns\` lists those that have a name.`);
  }
  const listed = endpoints.map(({ host, port }) => `${host}:${port}`);
  const child = spawn('nsenter', [`--net=${path}`, ...program, insideCommand, ...listed], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  try {
    const servers = await handedOver(child, endpoints.length);
    // Opens the tables while the child is running: it ends when the channel is closed.
    return { servers, tables: openSocketTables(child.pid ?? 'self') };
  } finally {
    if (child.connected) child.disconnect();
  }
}

/** Name of the hidden command that the child runs inside the namespace. */
export const insideCommand = 'wire-listen';

/** Runs in the child: creates the sockets, passes them to the parent, and waits until the parent disconnects. */
export async function handOver(endpoints: Endpoint[]): Promise<void> {
  const parent = process;
  if (parent.send === undefined) throw new AgentError('Only wire-forward starts this command.');
  const released = new Promise<void>((resolve) => parent.once('disconnect', resolve));
  const { servers, tables } = await listenHere(endpoints);
  tables.close();
  for (const [index, server] of servers.entries()) parent.send({ index }, server, {}, () => server.close());
  await released;
}

function handedOver(child: ChildProcess, count: number): Promise<Server[]> {
  const servers: Server[] = [];
  let errorText = '';
  child.stderr?.on('data', (chunk) => {
    errorText += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on('message', (_, handle) => {
      servers.push(handle as Server);
      if (servers.length === count) resolve(servers);
    });
    child.once('error', (error) =>
      reject(new AgentError(`nsenter cannot be started: ${sentenceOf(error)}. It is part of util-linux.`)),
    );
    child.once('close', () => {
      for (const server of servers) server.close();
      reject(new AgentError(errorText.trim() || 'The network namespace could not be entered. Run this as root.'));
    });
  });
}

function listenAt({ host, port }: Endpoint): Promise<Server> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new AgentError(reasonOf(error, host, port))));
    server.listen({ host, port, backlog: 64 }, () => resolve(server));
  });
}

function reasonOf(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === 'EADDRNOTAVAIL') {
    return `${host} is not an address of this machine. Add it: ip address replace ${host}/32 dev lo, and ip route replace ${host}/32 dev lo.`;
  }
  if (error.code === 'EACCES')
    return `Port ${port} requires privileges. Run this as root, or with CAP_NET_BIND_SERVICE.`;
  if (error.code === 'EADDRINUSE') return `${host}:${port} is in use. Another forwarder may be running: ss -ltnp.`;
  return `The forwarder cannot listen on ${host}:${port}: ${sentenceOf(error)}.`;
}
