import {
  type ListenerFault,
  listenerReason,
  type MemberTraffic,
  memberPortKey,
  type PublicEndpoint,
} from '#server/domain/topology-rules/fabric.ts';
import type { Served, Shared } from './endpoint.ts';
import { defaultProxyLimits, type ProxyLimits } from './limits.ts';
import { TcpEndpoint } from './tcp-endpoint.ts';
import { Traffic } from './traffic.ts';
import { UdpEndpoint } from './udp-endpoint.ts';

interface Serving {
  endpoint: PublicEndpoint;
  served: Served;
}

/** Balances the connections to public ports over their members. */
export class PortProxy {
  readonly #shared: Shared;
  readonly #serving = new Map<string, Serving>();
  /** Endpoints that are closed and have connections left. */
  readonly #leaving = new Set<Serving>();
  readonly #faults = new Map<string, ListenerFault>();
  readonly #sweeps: NodeJS.Timeout;
  #standing: ReadonlySet<string> = new Set();

  constructor(limits: Partial<ProxyLimits> = {}, now: () => number = () => performance.now()) {
    const all = { ...defaultProxyLimits, ...limits };
    const open = { connections: 0, clients: new Set<never>() };
    this.#shared = { limits: all, traffic: new Traffic(), open, now };
    this.#sweeps = setInterval(() => this.sweep(), all.sweepMs).unref();
  }

  /**
   * Serves exactly these endpoints. Endpoints that are new begin to listen, and those that are gone end; connections
   * stay as long as their port is `standing`. An endpoint that cannot listen is a fault, and is tried again with the
   * next call.
   */
  async serve(endpoints: readonly PublicEndpoint[], standing: ReadonlySet<string>): Promise<void> {
    this.#standing = standing;
    const wanted = new Map(endpoints.map((endpoint) => [keyOf(endpoint), endpoint]));
    for (const [key, serving] of this.#serving) {
      const next = wanted.get(key);
      if (next === undefined) {
        this.#leave(key, serving);
        continue;
      }
      serving.endpoint = next;
      serving.served.replace(next);
    }
    for (const key of this.#faults.keys()) if (!wanted.has(key)) this.#faults.delete(key);
    for (const [key, endpoint] of wanted) if (!this.#serving.has(key)) await this.#begin(key, endpoint);
    this.sweep();
  }

  async #begin(key: string, endpoint: PublicEndpoint): Promise<void> {
    const served =
      endpoint.protocol === 'tcp' ? new TcpEndpoint(this.#shared, endpoint) : new UdpEndpoint(this.#shared, endpoint);
    try {
      await served.listen();
      this.#serving.set(key, { endpoint, served });
      this.#faults.delete(key);
    } catch (error) {
      const { cloudService, protocol, publicPort } = endpoint;
      const reason = listenerReason((error as NodeJS.ErrnoException).code);
      const known = this.#faults.get(key);
      const since = known?.reason === reason ? known.since : new Date().toISOString();
      this.#faults.set(key, { cloudService, protocol, publicPort, reason, since });
    }
  }

  #leave(key: string, serving: Serving): void {
    serving.served.close();
    this.#serving.delete(key);
    this.#leaving.add(serving);
  }

  /** Counts traffic, and ends connections that are idle or whose port is closed. */
  sweep(): void {
    for (const serving of [...this.#serving.values(), ...this.#leaving]) {
      const { protocol, publicPort } = serving.endpoint;
      serving.served.sweep((vmId) => this.#standing.has(memberPortKey({ vmId, protocol, publicPort })));
      if (!serving.served.isBusy()) this.#leaving.delete(serving);
    }
  }

  /** The ports on which the proxy cannot listen. */
  faults(): ListenerFault[] {
    return [...this.#faults.values()];
  }

  /** Returns what the members carried since the last call. */
  takeTraffic(): MemberTraffic[] {
    return this.#shared.traffic.take();
  }

  hasTraffic(): boolean {
    return this.#shared.traffic.hasAny();
  }

  /** Adds traffic again that could not be stored. */
  returnTraffic(traffic: readonly MemberTraffic[]): void {
    for (const { connections, bytes, ...port } of traffic) this.#shared.traffic.add(port, connections, bytes);
  }

  /** Stops listening and ends all connections. */
  close(): void {
    clearInterval(this.#sweeps);
    for (const { served } of [...this.#serving.values(), ...this.#leaving]) {
      served.close();
      served.destroy();
    }
    this.#serving.clear();
    this.#leaving.clear();
  }
}

const keyOf = ({ publicAddress, protocol, publicPort }: PublicEndpoint): string =>
  `${publicAddress} ${protocol} ${publicPort}`;
