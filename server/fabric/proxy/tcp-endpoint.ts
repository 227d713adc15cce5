import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { PublicEndpoint } from '#server/domain/topology-rules/fabric.ts';
import type { Served, Shared } from './endpoint.ts';
import { ProxyLink } from './link.ts';
import { Members, type ProxyMember } from './members.ts';

/** A public TCP port, whose connections are balanced over its members. */
export class TcpEndpoint implements Served {
  readonly #shared: Shared;
  readonly #endpoint: PublicEndpoint;
  readonly #members: Members;
  readonly #server: Server;
  readonly #links = new Set<ProxyLink>();
  /** Clients for which a member is being sought. */
  readonly #seeking = new Set<Socket>();

  constructor(shared: Shared, endpoint: PublicEndpoint) {
    this.#shared = shared;
    this.#endpoint = endpoint;
    this.#members = new Members(shared.now);
    this.#members.replace(endpoint.members);
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (client) =>
      this.#accept(client),
    );
    // Running out of file descriptors stops neither the process nor the listener.
    this.#server.on('error', () => {});
  }

  async listen(): Promise<void> {
    const { publicAddress: host, publicPort: port } = this.#endpoint;
    this.#server.listen({ host, port, exclusive: true });
    await once(this.#server, 'listening');
  }

  replace({ members }: PublicEndpoint): void {
    this.#members.replace(members);
  }

  #accept(client: Socket): void {
    const { limits, open } = this.#shared;
    client.on('error', () => {});
    const own = this.#links.size + this.#seeking.size;
    if (own >= limits.endpointConnections || open.connections >= limits.connections) {
      client.resetAndDestroy();
      return;
    }
    open.connections += 1;
    this.#seeking.add(client);
    void this.#seek(client).then((found) => {
      this.#seeking.delete(client);
      if (found === null || client.destroyed) {
        found?.target.destroy();
        if (found !== null) this.#members.end(found.member);
        open.connections -= 1;
        client.destroy();
      } else this.#join(client, found.target, found.member);
    });
  }

  /** Connects to the first member that takes the connection; null if none does. */
  async #seek(client: Socket): Promise<{ target: Socket; member: ProxyMember } | null> {
    const { limits } = this.#shared;
    for (const member of this.#members.inOrder()) {
      if (client.destroyed) return null;
      this.#members.begin(member);
      const target = await reach(member, limits.connectMs);
      if (target !== null) return { target, member };
      this.#members.end(member);
      this.#members.passOver(member, limits.passOverMs);
    }
    return null;
  }

  #join(client: Socket, target: Socket, member: ProxyMember): void {
    const { limits, open, now } = this.#shared;
    const link = new ProxyLink(member, client, target, now());
    this.#links.add(link);
    this.#count(link, 1);
    target.once('end', () => {
      if (link.isRefused && now() - link.begunAt < limits.hastyMs) this.#members.passOver(member, limits.passOverMs);
    });
    link.join(() => {
      this.#count(link, 0);
      this.#links.delete(link);
      this.#members.end(member);
      open.connections -= 1;
    });
  }

  #count(link: ProxyLink, connections: number): void {
    const { protocol, publicPort } = this.#endpoint;
    const bytes = link.takeBytes(this.#shared.now());
    this.#shared.traffic.add({ vmId: link.member.vmId, protocol, publicPort }, connections, bytes);
  }

  sweep(standing: (vmId: string) => boolean): void {
    const { limits, now } = this.#shared;
    for (const link of [...this.#links]) {
      this.#count(link, 0);
      if (link.idleMs(now()) >= limits.idleMs || !standing(link.member.vmId)) link.destroy();
    }
  }

  close(): void {
    this.#server.close();
  }

  isBusy(): boolean {
    return this.#links.size + this.#seeking.size > 0;
  }

  destroy(): void {
    for (const client of this.#seeking) client.destroy();
    for (const link of [...this.#links]) link.destroy();
  }
}

/** Connects to a member; null if the member does not take the connection in time. */
function reach({ address, localPort }: ProxyMember, connectMs: number): Promise<Socket | null> {
  return new Promise((resolve) => {
    const target = connect({ host: address, port: localPort, allowHalfOpen: true, noDelay: true });
    const late = setTimeout(() => fail(), connectMs);
    const fail = (): void => {
      clearTimeout(late);
      target.destroy();
      resolve(null);
    };
    target.on('error', fail);
    target.once('connect', () => {
      clearTimeout(late);
      target.off('error', fail);
      target.on('error', () => {});
      resolve(target);
    });
  });
}
