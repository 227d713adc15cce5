import type { FabricMember } from '#server/domain/topology-rules/fabric.ts';

/** A member of an endpoint, with what the proxy knows of it. */
export interface ProxyMember extends FabricMember {
  /** Open connections or clients, including those that are being opened. */
  open: number;
  /** Until when the member comes after all others, by the monotonic clock. */
  passedOverUntil: number;
}

/** The members of one endpoint, over which connections are balanced. */
export class Members {
  #members: ProxyMember[] = [];
  #turn = 0;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Replaces the members. A member that stays keeps its count of open connections. */
  replace(members: readonly FabricMember[]): void {
    const known = new Map(this.#members.map((member) => [keyOf(member), member]));
    this.#members = members.map((member) => known.get(keyOf(member)) ?? { ...member, open: 0, passedOverUntil: 0 });
  }

  /**
   * Returns the members in the order in which a connection tries them: the one with the fewest connections first, and
   * equals in turn. Members that were passed over come last, so that they are tried if no other takes the connection.
   */
  inOrder(): ProxyMember[] {
    const now = this.#now();
    const count = this.#members.length;
    const turn = this.#turn;
    const distance = (place: number) => (place - turn + count) % count;
    const isPassedOver = ({ passedOverUntil }: ProxyMember) => Number(passedOverUntil > now);
    return this.#members
      .map((member, place) => ({ member, place }))
      .sort(
        (a, b) =>
          isPassedOver(a.member) - isPassedOver(b.member) ||
          a.member.open - b.member.open ||
          distance(a.place) - distance(b.place),
      )
      .map(({ member }) => member);
  }

  /** Notes that a connection begins at a member: among equals, the members after it are next. */
  begin(member: ProxyMember): void {
    member.open += 1;
    const place = this.#members.indexOf(member);
    if (place >= 0) this.#turn = (place + 1) % this.#members.length;
  }

  end(member: ProxyMember): void {
    member.open -= 1;
  }

  passOver(member: ProxyMember, ms: number): void {
    member.passedOverUntil = this.#now() + ms;
  }
}

const keyOf = ({ vmId, address, localPort }: FabricMember): string => `${vmId} ${address} ${localPort}`;
