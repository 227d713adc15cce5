import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { PublicEndpoint } from '#server/domain/topology-rules/fabric.ts';
import type { Served, Shared } from './endpoint.ts';
import { Members, type ProxyMember } from './members.ts';

/** Datagrams that wait until the socket to the member is open. */
const maxEarly = 16;

/** A client of a UDP port, which stays with its member until it is silent for too long. */
interface Client {
  member: ProxyMember;
  socket: Socket;
  /** Datagrams from before the socket was open; null from then on. */
  early: Buffer[] | null;
  lastAt: number;
  forget(): void;
}

/** A public UDP port, whose clients are balanced over its members. */
export class UdpEndpoint implements Served {
  readonly #shared: Shared;
  readonly #endpoint: PublicEndpoint;
  readonly #members: Members;
  readonly #socket: Socket;
  readonly #clients = new Map<string, Client>();
  #isListening = false;

  constructor(shared: Shared, endpoint: PublicEndpoint) {
    this.#shared = shared;
    this.#endpoint = endpoint;
    this.#members = new Members(shared.now);
    this.#members.replace(endpoint.members);
    this.#socket = createSocket('udp4');
    this.#socket.on('error', () => {});
    this.#socket.on('message', (data, from) => this.#hear(data, from));
  }

  async listen(): Promise<void> {
    const { publicAddress: address, publicPort: port } = this.#endpoint;
    this.#socket.bind({ address, port, exclusive: true });
    await once(this.#socket, 'listening');
    this.#isListening = true;
  }

  replace({ members }: PublicEndpoint): void {
    this.#members.replace(members);
  }

  /** Passes a client’s datagram to its member. */
  #hear(data: Buffer, from: RemoteInfo): void {
    const client = this.#clients.get(`${from.address}:${from.port}`) ?? this.#admit(from);
    if (client === null) return;
    this.#touch(client);
    if (client.early !== null) {
      if (client.early.length < maxEarly) client.early.push(data);
      return;
    }
    this.#pass(client, data);
  }

  #pass(client: Client, data: Buffer): void {
    if (client.socket.getSendQueueSize() > this.#shared.limits.clientBytes) return;
    this.#count(client, 0, data.length);
    // The member's answer to a datagram that it does not take is an error of a later one.
    client.socket.send(data, () => {});
  }

  #touch(client: Client): void {
    const { clients } = this.#shared.open;
    client.lastAt = this.#shared.now();
    // The set keeps the order of insertion, so the client that was silent longest comes first.
    clients.delete(client);
    clients.add(client);
  }

  #admit(from: RemoteInfo): Client | null {
    const { limits, open } = this.#shared;
    const [member] = this.#members.inOrder();
    if (member === undefined) return null;
    if (open.clients.size >= limits.clients) for (const oldest of open.clients.values().take(1)) oldest.forget();
    const key = `${from.address}:${from.port}`;
    const socket = createSocket('udp4');
    const client: Client = {
      ...{ member, socket, early: [], lastAt: 0 },
      forget: () => {
        if (!this.#clients.delete(key)) return;
        open.clients.delete(client);
        this.#members.end(member);
        socket.close();
      },
    };
    this.#clients.set(key, client);
    this.#members.begin(member);
    this.#count(client, 1, 0);
    socket.on('error', () => {
      this.#members.passOver(member, limits.passOverMs);
      client.forget();
    });
    // The socket is connected, so it gets datagrams from the member only.
    socket.on('message', (data) => {
      if (!this.#isListening || this.#socket.getSendQueueSize() > limits.clientBytes) return;
      this.#touch(client);
      this.#count(client, 0, data.length);
      this.#socket.send(data, from.port, from.address, () => {});
    });
    socket.connect(member.localPort, member.address, () => {
      const early = client.early ?? [];
      client.early = null;
      for (const data of early) this.#pass(client, data);
    });
    return client;
  }

  #count({ member: { vmId } }: Client, connections: number, bytes: number): void {
    const { protocol, publicPort } = this.#endpoint;
    this.#shared.traffic.add({ vmId, protocol, publicPort }, connections, bytes);
  }

  sweep(standing: (vmId: string) => boolean): void {
    const { limits, now } = this.#shared;
    for (const client of [...this.#clients.values()]) {
      if (now() - client.lastAt >= limits.clientMs || !standing(client.member.vmId)) client.forget();
    }
  }

  /** Stops listening. Clients are forgotten too, because their answers would have no sender. */
  close(): void {
    this.destroy();
    if (!this.#isListening) return;
    this.#isListening = false;
    this.#socket.close();
  }

  isBusy(): boolean {
    return false;
  }

  destroy(): void {
    for (const client of [...this.#clients.values()]) client.forget();
  }
}
