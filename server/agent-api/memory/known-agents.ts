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
import { unitsChannel } from '#server/domain/services/index.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Listening, Wakes } from '#server/platform/wakes/index.ts';
import { AgentMemory, type KnownAgent } from './agent-memory.ts';
import { RelationPace } from './relation-pace.ts';

/**
 * Milliseconds between lookups of changes. A lookup finds changes whose wake-ups a half-open connection did not
 * deliver.
 */
const lookMs = 5_000;
/** Maximum number of concurrent database statements, and of agents per statement. */
const readsAtOnce = 4;
const readTogether = 500;
/**
 * How far lookups overlap, in milliseconds. They must overlap, because a transaction's time is earlier than its commit
 * and may come from another machine's clock.
 */
const overlapMs = 30_000;

export interface KnownAgentsOptions {
  db: Database;
  wakes: Wakes;
  clock: Clock;
  /** Maximum number of cached agents. A call from an agent that is not cached costs a database statement. */
  most: number;
  /** Called when a VM's goal state or credential may have changed. */
  onNews(vmId: string): void;
  onError(error: unknown): void;
}

/**
 * Caches the agent of each credential and the ETag of its current goal state. An agent's first call fills the cache;
 * wake-ups invalidate it. While wake-ups cannot be received, the cache is bypassed. In case a wake-up is lost, changes
 * are also looked up every few seconds.
 */
export class KnownAgents {
  readonly #options: KnownAgentsOptions;
  readonly #memory: AgentMemory;
  readonly #pace: RelationPace;
  readonly #listening: Listening;
  readonly #timer: NodeJS.Timeout;
  #epoch = 0;
  #hears = false;
  /** The time from which wake-ups may have been missed, in milliseconds. */
  #unsureSince: number;
  #looking: Promise<void> | undefined;
  /**
   * VMs and relations that were invalidated since the oldest running read began, with the turn of each invalidation,
   * oldest first. The running reads may return older data.
   */
  readonly #meanwhile = new Map<string, number>();
  /** Turns of the running reads, oldest first. A turn is a number that increases with every read and invalidation. */
  readonly #reading = new Set<number>();
  #turn = 0;
  /** Agents queued for reading, by credential hash. */
  readonly #wanted = new Map<string, PromiseWithResolvers<KnownAgent>>();
  #scheduled = false;

  constructor(options: KnownAgentsOptions) {
    this.#options = options;
    this.#unsureSince = options.clock().getTime();
    this.#memory = new AgentMemory(options.most);
    this.#pace = new RelationPace(
      (relation) => this.#relationMoved(relation),
      () => performance.now(),
    );
    this.#listening = options.wakes.listen([goalStatesChannel, credentialsChannel, unitsChannel], {
      heard: (channel, key) => {
        if (channel === unitsChannel) this.#unitsMoved(key);
        else this.#moved(key, channel === credentialsChannel);
      },
      lost: () => {
        this.#hears = false;
        this.#epoch += 1;
      },
      back: () => {
        this.#hears = true;
        // A lookup that is already running may miss changes made before listening resumed.
        const earlier = this.#looking;
        void this.#look();
        void earlier?.then(() => this.#look());
      },
    });
    this.#timer = setInterval(() => void this.#look(), lookMs);
    this.#timer.unref();
  }

  get size(): number {
    return this.#memory.size;
  }

  /** Returns the agent of this `Authorization` header, from the cache if possible. Throws 401 `credential_refused`. */
  find(authorization: string | null): KnownAgent | Promise<KnownAgent> {
    const hash = credentialHash(authorization);
    if (hash === null) throw refused();
    return this.findByHash(hash);
  }

  /** Returns the agent with this credential hash, from the cache if possible. Throws 401 `credential_refused`. */
  findByHash(hash: string): KnownAgent | Promise<KnownAgent> {
    const agent = this.#memory.find(hash);
    const isFresh = agent !== undefined && this.#hears && agent.epoch === this.#epoch && agent.etag !== null;
    return isFresh ? agent : this.#read(hash);
  }

  /** Invalidates a VM's cached goal state after a change in this process. */
  forget(vmId: string): void {
    this.#moved(vmId, false);
  }

  /** Returns the number of cached VMs in the largest relation of a VM. */
  largestRelationOf(vmId: string): number {
    return this.#memory.largestRelationOf(vmId);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#listening.close();
    this.#pace.close();
    await this.#looking;
  }

  #read(hash: string): Promise<KnownAgent> {
    const pending = this.#wanted.get(hash) ?? Promise.withResolvers<KnownAgent>();
    this.#wanted.set(hash, pending);
    this.#schedule();
    return pending.promise;
  }

  /** Starts reading the queued agents together, once pending events have been processed. */
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
      for (const [hash, pending] of batch) {
        const identity = found.get(hash);
        if (identity === undefined) {
          this.#memory.forget(hash);
          pending.reject(refused());
        } else if (this.#movedSince(turn, identity)) {
          // The result may be older than the invalidation. A poll held with an outdated result would get no further
          // wake-up.
          pending.resolve(this.#read(hash));
        } else pending.resolve(this.#memory.remember(hash, identity, hears ? epoch : -1));
      }
    } catch (error) {
      for (const [, pending] of batch) pending.reject(error);
    } finally {
      this.#reading.delete(turn);
      this.#forgetNews();
      this.#schedule();
    }
  }

  #movedSince(turn: number, { vmId, relations }: AgentIdentity): boolean {
    const since = (key: string) => (this.#meanwhile.get(key) ?? 0) > turn;
    return since(vmId) || relations.some((id) => since(`r${id}`));
  }

  /** Drops invalidations older than all running reads. */
  #forgetNews(): void {
    const [oldest = Number.POSITIVE_INFINITY] = this.#reading;
    for (const [key, turn] of this.#meanwhile) {
      if (turn > oldest) return;
      this.#meanwhile.delete(key);
    }
  }

  #noteMoved(key: string): void {
    if (this.#reading.size === 0) return;
    this.#meanwhile.delete(key);
    this.#meanwhile.set(key, ++this.#turn);
  }

  /** Handles the news that units changed: `v<vm>` for the units of a VM, `r<relation>` for a relation's settings. */
  #unitsMoved(key: string): void {
    if (key.startsWith('v')) this.#moved(key.slice(1), false);
    else this.#pace.moved(key.slice(1));
  }

  #relationMoved(relation: string): void {
    this.#noteMoved(`r${relation}`);
    for (const vmId of this.#memory.vmsOfRelation(Number(relation))) this.#moved(vmId, false);
  }

  #moved(vmId: string, isCredential: boolean): void {
    this.#noteMoved(vmId);
    // A new credential may mean a new machine with a new call counter.
    if (isCredential) this.#memory.forgetVm(vmId);
    else this.#memory.moveOn(vmId);
    this.#options.onNews(vmId);
  }

  /**
   * Looks up changes since the last complete lookup. Cached goal states are compared with the stored ones. For VMs that
   * are not cached, `onNews` is always called.
   */
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
