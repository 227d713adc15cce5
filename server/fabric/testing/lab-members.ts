import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { memberPortKey, type PublicEndpoint } from '#server/domain/topology-rules/fabric.ts';

/** A small server, as a unit of a role instance has one. */
export interface LabMember {
  vmId: string;
  address: string;
  localPort: number;
  /** Its open connections. */
  sockets: Set<Socket>;
  close(): Promise<void>;
}

/** Starts a TCP server at an address of this machine. `answer` gets each connection. */
export async function tcpMember(
  vmId: string,
  address: string,
  answer: (socket: Socket) => void,
  { port = 0 }: { port?: number } = {},
): Promise<LabMember> {
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    answer(socket);
  });
  server.listen(port, address);
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  return { vmId, address, localPort: (server.address() as AddressInfo).port, sockets, close };
}

/** Starts a TCP server that sends its name and ends the connection. */
export const namedMember = (vmId: string, address: string): Promise<LabMember> =>
  tcpMember(vmId, address, (socket) => socket.end(vmId));

/** Starts a TCP server that sends everything back. */
export const echoMember = (vmId: string, address: string): Promise<LabMember> =>
  tcpMember(vmId, address, (socket) => socket.pipe(socket));

/** Starts a UDP server that answers each datagram with its name and the datagram. */
export async function udpMember(vmId: string, address: string): Promise<LabMember> {
  const socket = createSocket('udp4');
  socket.on('message', (data, from) => socket.send(`${vmId} ${data}`, from.port, from.address));
  socket.bind(0, address);
  await once(socket, 'listening');
  const close = async (): Promise<void> => void socket.close();
  return { vmId, address, localPort: socket.address().port, sockets: new Set(), close };
}

/** Returns a port that nothing listens on at an address. */
export async function freePort(address: string): Promise<number> {
  const server = createServer().listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Returns a public endpoint with these members. */
export const endpointOf = (
  publicAddress: string,
  publicPort: number,
  members: readonly Pick<LabMember, 'vmId' | 'address' | 'localPort'>[],
  protocol: 'tcp' | 'udp' = 'tcp',
): PublicEndpoint => ({
  ...{ cloudService: `service at ${publicAddress}`, publicAddress, protocol, publicPort },
  members: members.map(({ vmId, address, localPort }) => ({ vmId, address, localPort })),
});

/** Returns the ports of all members of endpoints, whose connections may continue. */
export const standingOf = (endpoints: readonly PublicEndpoint[]): Set<string> =>
  new Set(
    endpoints.flatMap(({ protocol, publicPort, members }) =>
      members.map(({ vmId }) => memberPortKey({ vmId, protocol, publicPort })),
    ),
  );

/** Connects, and resolves once the connection is open. */
export async function dial(address: string, port: number): Promise<Socket> {
  const socket = connect({ host: address, port, allowHalfOpen: true });
  await once(socket, 'connect');
  socket.on('error', () => {});
  return socket;
}

/** Connects and reads until the other side ends. An error of the connection is part of the text. */
export async function ask(address: string, port: number): Promise<string> {
  const socket = connect({ host: address, port });
  return text(socket).catch((error: NodeJS.ErrnoException) => `error ${error.code}`);
}
