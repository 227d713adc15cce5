import { LRUCache } from 'lru-cache';
import type { Database } from '#db/client.ts';
import {
  type AgentIdentity,
  credentialHash,
  credentialsChannel,
  findAgents,
  listAgentNews,
} from '#server/domain/enrollment/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { goalStatesChannel } from '#server/domain/goal-states/index.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Listening, Wakes } from '#server/platform/wakes/index.ts';
import { CallWindow } from './call-window.ts';
import type { Bucket } from './rate-limit.ts';

/**
 * What a process remembers of an agent: one object with its call numbers and its bucket (rate-limit.ts). A million of
 * them may be kept, and whoever collects garbage looks at each object of each.
 */
export class KnownAgent extends CallWindow implements Omit<AgentIdentity, 'etag'>, Bucket {
  /** Of its credential. */
  readonly hash: string;
  vmId: string;
  vmName: string;
  instanceId: string | null;
  counter: number;
  logRequests: number;
  /** The goal state in force; null where it moved on and was not read again. */
  etag: string | null;
  /** In which listening it was read; it must be read again in every later one. */
  epoch: number;
  left = Number.POSITIVE_INFINITY;
  at = 0;

  constructor(hash: string, identity: AgentIdentity, epoch: number) {
    super();
    this.hash = hash;
    this.vmId = identity.vmId;
    this.vmName = identity.vmName;
    this.instanceId = identity.instanceId;
    this.counter = identity.counter;
    this.logRequests = identity.logRequests;
    this.etag = identity.etag;
    this.epoch = epoch;
  }
}

/** A half-open connection says nothing: what changed is looked up every few seconds too. */
const lookMs = 5_000;
/** Statements under way at once, and agents that one of them reads. */
const readsAtOnce = 4;
const readTogether = 500;
/** How far back is looked: a transaction's time was taken before its commit, maybe by another machine's clock. */
const overlapMs = 30_000;

export interface KnownAgentsOptions {
  db: Database;
  wakes: Wakes;
  clock: Clock;
  /** Agents that are remembered; of those that are not, each call costs one statement. */
  most: number;
  /** A VM's goal state or credential may be another now. */
  onNews(vmId: string): void;
  onError(error: unknown): void;
}

/**
 * Whose credential it is and which goal state is in force for it, from memory: filled by the first call of an agent,
 * told by wake-ups of what changed. While wake-ups are not heard nothing is taken from memory, and every few seconds
 * what changed is looked up all the same, so that a wake-up that was lost without a word is made up for.
 */
export class KnownAgents {
  readonly #options: KnownAgentsOptions;
  readonly #byCredential: LRUCache<string, KnownAgent>;
  readonly #byVm = new Map<string, KnownAgent>();
  /** Those that many VMs have are kept once. */
  readonly #etags = new LRUCache<string, string>({ max: 1_000 });
  readonly #listening: Listening;
  readonly #timer: NodeJS.Timeout;
  #epoch = 0;
  #hears = false;
  /** From when on it is not sure that everything was heard. */
  #unsureSince: number;
  #looking: Promise<void> | undefined;
  /** News that came while something was read: what was read may be from before. */
  readonly #meanwhile = new Map<string, number>();
  #reading = 0;
  #turn = 0;
  /** Agents that wait to be read, by their credentials' hashes. */
  readonly #wanted = new Map<string, PromiseWithResolvers<KnownAgent>>();
  #scheduled = false;

  constructor(options: KnownAgentsOptions) {
    this.#options = options;
    this.#unsureSince = options.clock().getTime();
    this.#byCredential = new LRUCache({
      max: options.most,
      dispose: (agent) => {
        if (this.#byVm.get(agent.vmId) === agent) this.#byVm.delete(agent.vmId);
      },
    });
    this.#listening = options.wakes.listen([goalStatesChannel, credentialsChannel], {
      heard: (channel, vmId) => this.#moved(vmId, channel === credentialsChannel),
      lost: () => {
        this.#hears = false;
        this.#epoch += 1;
      },
      back: () => {
        this.#hears = true;
        void this.#look();
      },
    });
    this.#timer = setInterval(() => void this.#look(), lookMs);
    this.#timer.unref();
  }

  /** Agents that are remembered. */
  get size(): number {
    return this.#byCredential.size;
  }

  /** The agent with this `Authorization`: at once where it is remembered. Throws 401 `credential_refused`. */
  find(authorization: string | null): KnownAgent | Promise<KnownAgent> {
    const hash = credentialHash(authorization);
    if (hash === null) throw refused();
    const agent = this.#byCredential.get(hash);
    const isFresh = agent !== undefined && this.#hears && agent.epoch === this.#epoch && agent.etag !== null;
    return isFresh ? agent : this.#read(hash);
  }

  /** What was remembered of a VM's goal state is not so any more; for who changed it in this process. */
  forget(vmId: string): void {
    this.#moved(vmId, false);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#listening.close();
    await this.#looking;
  }

  #read(hash: string): Promise<KnownAgent> {
    const asked = this.#wanted.get(hash) ?? Promise.withResolvers<KnownAgent>();
    this.#wanted.set(hash, asked);
    this.#schedule();
    return asked.promise;
  }

  /** Those that call while others are being read are read together, when the loop is free. */
  #schedule(): void {
    if (this.#scheduled || this.#reading >= readsAtOnce || this.#wanted.size === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      const batch = [...this.#wanted].slice(0, readTogether);
      for (const [hash] of batch) this.#wanted.delete(hash);
      void this.#readBatch(batch);
      this.#schedule();
    });
  }

  async #readBatch(batch: readonly [string, PromiseWithResolvers<KnownAgent>][]): Promise<void> {
    const turn = ++this.#turn;
    const epoch = this.#epoch;
    const hears = this.#hears;
    this.#reading += 1;
    try {
      const hashes = batch.map(([hash]) => hash);
      const found = await findAgents(this.#options.db, hashes);
      for (const [hash, asked] of batch) {
        const identity = found.get(hash);
        if (identity === undefined) {
          this.#byCredential.delete(hash);
          asked.reject(refused());
        } else if ((this.#meanwhile.get(identity.vmId) ?? 0) > turn) {
          // From before the news: a poll that is held by it would not be woken again.
          asked.resolve(this.#read(hash));
        } else asked.resolve(this.#remember(hash, identity, hears ? epoch : -1));
      }
    } catch (error) {
      for (const [, asked] of batch) asked.reject(error);
    } finally {
      this.#reading -= 1;
      if (this.#reading === 0) this.#meanwhile.clear();
      this.#schedule();
    }
  }

  #remember(hash: string, identity: AgentIdentity, epoch: number): KnownAgent {
    const etag = this.#etags.get(identity.etag) ?? identity.etag;
    this.#etags.set(etag, etag);
    const agent = this.#byCredential.peek(hash) ?? new KnownAgent(hash, identity, epoch);
    Object.assign(agent, identity, { etag, epoch });
    const before = this.#byVm.get(identity.vmId);
    if (before !== undefined && before.hash !== hash) this.#byCredential.delete(before.hash);
    this.#byCredential.set(hash, agent);
    this.#byVm.set(identity.vmId, agent);
    return agent;
  }

  #moved(vmId: string, isCredential: boolean): void {
    if (this.#reading > 0) this.#meanwhile.set(vmId, ++this.#turn);
    const known = this.#byVm.get(vmId);
    if (known !== undefined) {
      known.etag = null;
      // Another machine, which counts its calls anew.
      if (isCredential) this.#byCredential.delete(known.hash);
    }
    this.#options.onNews(vmId);
  }

  /** Looks up what changed since it was last sure; what is known already is no news. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookUp()
      .catch(this.#options.onError)
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async #lookUp(): Promise<void> {
    const began = this.#options.clock().getTime();
    for (const news of await listAgentNews(this.#options.db, new Date(this.#unsureSince - overlapMs))) {
      const agent = this.#byVm.get(news.vmId);
      if (agent === undefined) continue;
      if (news.etag === null) {
        if (news.credentialHash !== agent.hash) this.#moved(news.vmId, true);
      } else if (agent.etag !== null && agent.etag !== news.etag) this.#moved(news.vmId, false);
    }
    this.#unsureSince = began;
  }
}

const refused = (): DomainError => new DomainError('unauthenticated', 'credential_refused');
