/** What `Annex-Agent` says: which machine, and its how-manieth call. */
export interface AgentClaim {
  instanceId: string;
  counter: number;
}

/** Reads `Annex-Agent: <instance id>; <counter>`. Null where the header is absent or not of that form. */
export function readClaim(header: string | null): AgentClaim | null {
  const match = /^\s*([A-Za-z0-9._:-]{1,128})\s*;\s*(\d{1,15})\s*$/.exec(header ?? '');
  return match?.[1] && match[2] ? { instanceId: match[1], counter: Number(match[2]) } : null;
}

/** Calls may overtake each other by this many; a number that was used before, or is older, comes from a copy. */
const width = 64;
const keptVms = 200_000;

/**
 * Per VM the call numbers seen lately: a machine that was copied repeats what its original already said. Where several
 * gateways serve one VM, each of them knows a part of the numbers: a copy is then found out a few calls later.
 */
export class IdentityWindow {
  readonly #vms = new Map<string, { instanceId: string; highest: number; seen: Set<number> }>();

  /**
   * Takes a call's number. False where it was used before. `known` is the number last written down, from which a
   * process that has not met this machine goes on; it rises when other processes serve the VM.
   */
  accept(vmId: string, { instanceId, counter }: AgentClaim, known: number): boolean {
    const met = this.#vms.get(vmId);
    const window =
      met?.instanceId === instanceId
        ? { ...met, highest: Math.max(met.highest, known) }
        : { instanceId, highest: Math.max(0, known - 8), seen: new Set<number>() };
    this.#vms.delete(vmId);
    this.#vms.set(vmId, window);
    if (this.#vms.size > keptVms) {
      const [oldest] = this.#vms.keys();
      if (oldest !== undefined) this.#vms.delete(oldest);
    }
    const tooOld = window.seen.size === 0 ? counter <= window.highest : counter <= window.highest - width;
    if (tooOld || window.seen.has(counter)) return false;
    window.seen.add(counter);
    if (counter > window.highest) window.highest = counter;
    for (const old of window.seen) if (old <= window.highest - width) window.seen.delete(old);
    return true;
  }

  /** Forgets a VM, whose next machine counts anew. */
  forget(vmId: string): void {
    this.#vms.delete(vmId);
  }
}
