import type { Database } from '#db/client.ts';
import { credentialHash, credentialsChannel, findAgents, listAgentNews } from '#server/domain/enrollment/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { goalStatesChannel } from '#server/domain/goal-states/index.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Listening, Wakes } from '#server/platform/wakes/index.ts';
import { AgentMemory, type KnownAgent } from './agent-memory.ts';

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
  readonly #memory: AgentMemory;
  readonly #listening: Listening;
  readonly #timer: NodeJS.Timeout;
  #epoch = 0;
  #hears = false;
  /** From when on it is not sure that everything was heard. */
  #unsureSince: number;
  #looking: Promise<void> | undefined;
  /** News that came while something was read, the oldest first: what was read may be from before. */
  readonly #meanwhile = new Map<string, number>();
  /** When what is being read was begun, the oldest first. */
  readonly #reading = new Set<number>();
  #turn = 0;
  /** Agents that wait to be read, by their credentials' hashes. */
  readonly #wanted = new Map<string, PromiseWithResolvers<KnownAgent>>();
  #scheduled = false;

  constructor(options: KnownAgentsOptions) {
    this.#options = options;
    this.#unsureSince = options.clock().getTime();
    this.#memory = new AgentMemory(options.most);
    this.#listening = options.wakes.listen([goalStatesChannel, credentialsChannel], {
      heard: (channel, vmId) => this.#moved(vmId, channel === credentialsChannel),
      lost: () => {
        this.#hears = false;
        this.#epoch += 1;
      },
      back: () => {
        this.#hears = true;
        // One that is under way may have looked before.
        const earlier = this.#looking;
        void this.#look();
        void earlier?.then(() => this.#look());
      },
    });
    this.#timer = setInterval(() => void this.#look(), lookMs);
    this.#timer.unref();
  }

  /** Agents that are remembered. */
  get size(): number {
    return this.#memory.size;
  }

  /** The agent with this `Authorization`: at once where it is remembered. Throws 401 `credential_refused`. */
  find(authorization: string | null): KnownAgent | Promise<KnownAgent> {
    const hash = credentialHash(authorization);
    if (hash === null) throw refused();
    return this.findByHash(hash);
  }

  /** The agent with the credential of this hash. */
  findByHash(hash: string): KnownAgent | Promise<KnownAgent> {
    const agent = this.#memory.find(hash);
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
    if (this.#scheduled || this.#reading.size >= readsAtOnce || this.#wanted.size === 0) return;
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
    this.#reading.add(turn);
    try {
      const hashes = batch.map(([hash]) => hash);
      const found = await findAgents(this.#options.db, hashes);
      for (const [hash, asked] of batch) {
        const identity = found.get(hash);
        if (identity === undefined) {
          this.#memory.forget(hash);
          asked.reject(refused());
        } else if ((this.#meanwhile.get(identity.vmId) ?? 0) > turn) {
          // From before the news: a poll that is held by it would not be woken again.
          asked.resolve(this.#read(hash));
        } else asked.resolve(this.#memory.remember(hash, identity, hears ? epoch : -1));
      }
    } catch (error) {
      for (const [, asked] of batch) asked.reject(error);
    } finally {
      this.#reading.delete(turn);
      this.#forgetNews();
      this.#schedule();
    }
  }

  /** Those that are older than all that is being read. */
  #forgetNews(): void {
    const [oldest = Number.POSITIVE_INFINITY] = this.#reading;
    for (const [vmId, turn] of this.#meanwhile) {
      if (turn > oldest) return;
      this.#meanwhile.delete(vmId);
    }
  }

  #moved(vmId: string, isCredential: boolean): void {
    if (this.#reading.size > 0) {
      this.#meanwhile.delete(vmId);
      this.#meanwhile.set(vmId, ++this.#turn);
    }
    // A credential that is another's is another machine's, which counts its calls anew.
    if (isCredential) this.#memory.forgetVm(vmId);
    else this.#memory.moveOn(vmId);
    this.#options.onNews(vmId);
  }

  /** Looks up what changed since it was last sure; what is known already is no news, unless nothing is remembered. */
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
      const agent = this.#memory.findByVm(news.vmId);
      if (agent === undefined) {
        // Its poll may be held all the same.
        this.#options.onNews(news.vmId);
      } else if (news.etag === null) {
        if (news.credentialHash === null || !this.#memory.isOfVm(news.credentialHash, news.vmId)) {
          this.#moved(news.vmId, true);
        }
      } else if (agent.etag !== null && agent.etag !== news.etag) this.#moved(news.vmId, false);
    }
    this.#unsureSince = began;
  }
}

const refused = (): DomainError => new DomainError('unauthenticated', 'credential_refused');
