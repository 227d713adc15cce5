import { type MemberTraffic, memberPortKey } from '#server/domain/topology-rules/fabric.ts';

type Port = Pick<MemberTraffic, 'vmId' | 'protocol' | 'publicPort'>;

/** Counts the connections and bytes of each member since they were last taken. */
export class Traffic {
  #counts = new Map<string, MemberTraffic>();

  add({ vmId, protocol, publicPort }: Port, connections: number, bytes: number): void {
    if (connections === 0 && bytes === 0) return;
    const key = memberPortKey({ vmId, protocol, publicPort });
    const count = this.#counts.get(key) ?? { vmId, protocol, publicPort, connections: 0, bytes: 0 };
    count.connections += connections;
    count.bytes += bytes;
    this.#counts.set(key, count);
  }

  hasAny(): boolean {
    return this.#counts.size > 0;
  }

  /** Returns the counts, and begins again. */
  take(): MemberTraffic[] {
    const taken = [...this.#counts.values()];
    this.#counts = new Map();
    return taken;
  }
}
