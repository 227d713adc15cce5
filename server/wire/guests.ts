import { LRUCache } from 'lru-cache';
import type { AgentCall } from '#server/agent-api/call.ts';
import type { KnownAgent } from '#server/agent-api/memory/agent-memory.ts';
import type { KnownAgents } from '#server/agent-api/memory/known-agents.ts';
import { takeFrom } from '#server/agent-api/rate-limit.ts';
import { DomainError } from '#server/domain/error.ts';
import { wireTokenHash } from '#server/domain/stock-agents/index.ts';
import { Guest } from './guest.ts';
import { orAfterTimeout } from './or-after-timeout.ts';
import { Pages } from './pages.ts';
import type { Refusals } from './refusals.ts';

/** Maximum number of cached VMs, at a few kilobytes each. Evicted VMs are read again. */
const most = 20_000;

/** Authenticates forwarders, and caches their VMs. */
export class Guests {
  readonly #agents: KnownAgents;
  readonly #refusals: Refusals;
  /** Hashes of rejected tokens, so that they are not looked up again. */
  readonly #refused = new LRUCache<string, true>({ max: most });
  readonly #byVm = new LRUCache<string, Guest>({ max: most });
  readonly #pages = new Pages();

  constructor(agents: KnownAgents, refusals: Refusals) {
    this.#agents = agents;
    this.#refusals = refusals;
  }

  /**
   * Returns the VM whose forwarder is calling. Throws 429 `too_many_requests` above the rate limit, and 403
   * `wire_refused` for any other rejection, without revealing the reason. While the database is unavailable or slow,
   * callers that were accepted before are accepted again, but get only what this process has in memory; the tenant key
   * always requires the database.
   */
  async admit(call: AgentCall, vmId: string): Promise<Guest> {
    const { config } = call.door.services;
    const token = call.header('x-guest-token');
    if (!config.wire || token === null || token.length > 512) throw this.refuse(call);
    const hash = wireTokenHash(vmId, token);
    if (this.#refused.has(hash)) throw this.refuse(call);
    const agent = await this.#find(call, hash, this.#known(vmId, hash));
    takeFrom(agent, config.vmRate, call.door.clock().getTime());
    // Looks up the guest again, because a concurrent call may have added it.
    const guest = this.#known(vmId, hash) ?? new Guest(vmId, hash, agent, this.#pages);
    guest.agent = agent;
    this.#byVm.set(vmId, guest);
    return guest;
  }

  #known(vmId: string, hash: string): Guest | null {
    const known = this.#byVm.get(vmId);
    return known?.hash === hash ? known : null;
  }

  async #find(call: AgentCall, hash: string, before: Guest | null): Promise<KnownAgent> {
    try {
      const found = this.#agents.findByHash(hash);
      if (!(found instanceof Promise)) return found;
      return await (before === null ? found : orAfterTimeout(found, before.agent));
    } catch (error) {
      if (error instanceof DomainError && error.code === 'credential_refused') {
        this.#refused.set(hash, true);
        throw this.refuse(call);
      }
      if (before !== null) return before.agent;
      throw error;
    }
  }

  /**
   * Counts a rejected call and returns the error. The error is always the same, so that it does not reveal the reason.
   */
  refuse(call: AgentCall): DomainError {
    this.#refusals.count(call.remoteAddress, call.door.clock());
    return new DomainError('forbidden', 'wire_refused');
  }
}
