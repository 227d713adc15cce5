import { LRUCache } from 'lru-cache';
import type { AgentIdentity } from '#server/domain/enrollment/index.ts';
import type { CallWindow } from '../call-window.ts';
import type { Bucket, Spending } from '../rate-limit.ts';
import { KeyIndex } from './key-index.ts';
import { RelationIndex } from './relation-index.ts';

/** Kinds of news about executions, one bit each. */
const executionNews = { waiting: 1, cancel: 2 };

const wordsOfHash = 8;
const wordsOfUuid = 4;

/**
 * The data of all cached agents: one array per field, with one row per agent and one unassigned row. Apart from a few
 * strings per agent, the data consists of numbers outside the heap, because garbage collection would otherwise visit
 * every object of a million agents.
 */
class Columns {
  readonly spare: number;
  /** Incremented when the row's agent is removed. */
  readonly turn: Uint32Array;
  readonly vmId: string[];
  /** The instance id, a line break, and the VM's name. */
  readonly text: string[];
  readonly etag: (string | null)[];
  readonly epoch: Int32Array;
  readonly counter: Float64Array;
  readonly highest: Float64Array;
  /** When the agent last called, in milliseconds; 0 if unknown. */
  readonly calledAt: Float64Array;
  readonly near: Int32Array;
  readonly far: Int32Array;
  readonly left: Float64Array;
  readonly at: Float64Array;
  /** Bytes of reports that still count toward the limit, and when this was last computed. */
  readonly spent: Float64Array;
  readonly spentAt: Float64Array;
  readonly logRequests: Int32Array;
  readonly newestLogRequest: (string | null)[];
  readonly announcedLogRequest: (string | null)[];
  readonly executionStamp: Float64Array;
  readonly executionTurn: Float64Array;
  readonly cancelStamp: Float64Array;
  /** Bits of `executionNews` that were announced to the agent. */
  readonly announcedExecutions: Uint8Array;
  readonly unitsRevision: Float64Array;
  readonly unitsClocks: Float64Array;
  /** Whether the agent has called since the CLOCK hand last passed its row. */
  readonly called: Uint8Array;

  constructor(most: number) {
    const rows = most + 1;
    this.spare = most;
    this.turn = new Uint32Array(rows);
    this.vmId = new Array<string>(rows).fill('');
    this.text = new Array<string>(rows).fill('');
    this.etag = new Array<string | null>(rows).fill(null);
    this.epoch = new Int32Array(rows);
    this.counter = new Float64Array(rows);
    this.highest = new Float64Array(rows);
    this.calledAt = new Float64Array(rows);
    this.near = new Int32Array(rows);
    this.far = new Int32Array(rows);
    this.left = new Float64Array(rows);
    this.at = new Float64Array(rows);
    this.spent = new Float64Array(rows);
    this.spentAt = new Float64Array(rows);
    this.logRequests = new Int32Array(rows);
    this.newestLogRequest = new Array<string | null>(rows).fill(null);
    this.announcedLogRequest = new Array<string | null>(rows).fill(null);
    this.executionStamp = new Float64Array(rows);
    this.executionTurn = new Float64Array(rows);
    this.cancelStamp = new Float64Array(rows);
    this.announcedExecutions = new Uint8Array(rows);
    this.unitsRevision = new Float64Array(rows).fill(-1);
    this.unitsClocks = new Float64Array(rows);
    this.called = new Uint8Array(rows);
  }
}

/**
 * A handle to a cached agent, for one call. If the agent is removed from the cache meanwhile, the handle keeps the
 * agent's identity but has no goal state.
 */
export class KnownAgent implements Bucket, CallWindow, Spending {
  readonly vmId: string;
  readonly #columns: Columns;
  readonly #row: number;
  readonly #turn: number;
  readonly #text: string;

  constructor(columns: Columns, row: number) {
    this.#columns = columns;
    this.#row = row;
    this.#turn = columns.turn[row] ?? 0;
    this.#text = columns.text[row] ?? '';
    this.vmId = columns.vmId[row] ?? '';
  }

  get vmName(): string {
    return this.#text.slice(this.#text.indexOf('\n') + 1);
  }
  /** The first instance id seen with the credential; null if no call has named one. */
  get instanceId(): string | null {
    const end = this.#text.indexOf('\n');
    return end === 0 ? null : this.#text.slice(0, end);
  }

  /** ETag of the current goal state; null if it may have changed since it was read. */
  get etag(): string | null {
    return this.#columns.etag[this.#here] ?? null;
  }
  /**
   * Number of the listening period in which the agent was read. When wake-ups are interrupted, a new period begins, and
   * the agent must be read again.
   */
  get epoch(): number {
    return this.#columns.epoch[this.#here] ?? 0;
  }
  /** The highest call counter that was stored when the agent was read. */
  get counter(): number {
    return this.#columns.counter[this.#here] ?? 0;
  }
  /** Number of open log requests. */
  get logRequests(): number {
    return this.#columns.logRequests[this.#here] ?? 0;
  }

  get newestLogRequest(): string | null {
    return this.#columns.newestLogRequest[this.#here] ?? null;
  }

  /** Id of the last log request that was announced to the agent. */
  get announcedLogRequest(): string | null {
    return this.#columns.announcedLogRequest[this.#here] ?? null;
  }
  set announcedLogRequest(request: string | null) {
    this.#columns.announcedLogRequest[this.#here] = request;
  }

  /** Stamp and turn of the oldest waiting execution; 0 if there is none. */
  get executionStamp(): number {
    return this.#columns.executionStamp[this.#here] ?? 0;
  }
  get executionTurn(): number {
    return this.#columns.executionTurn[this.#here] ?? 0;
  }
  /** Stamp of the execution that the machine should end; 0 if there is none. */
  get cancelStamp(): number {
    return this.#columns.cancelStamp[this.#here] ?? 0;
  }

  /** Whether a waiting execution, or an execution to end, has not been announced to the agent yet. */
  get hasUnannouncedExecution(): boolean {
    const announced = this.#columns.announcedExecutions[this.#here] ?? 0;
    const isWaitingKnown = this.executionStamp === 0 || (announced & executionNews.waiting) !== 0;
    const isCancelKnown = this.cancelStamp === 0 || (announced & executionNews.cancel) !== 0;
    return !isWaitingKnown || !isCancelKnown;
  }
  noteExecutionsAnnounced(): void {
    this.#columns.announcedExecutions[this.#here] = executionNews.waiting | executionNews.cancel;
  }

  /**
   * Revision of the VM's units and sum of the clocks of their relations, such as `41.17`; null during a hold, when the
   * agent gets no news of its units.
   */
  get unitsVersion(): string | null {
    const revision = this.#columns.unitsRevision[this.#here] ?? -1;
    return revision < 0 ? null : `${revision}.${this.#columns.unitsClocks[this.#here] ?? 0}`;
  }

  get highest(): number {
    return this.#columns.highest[this.#here] ?? 0;
  }
  set highest(highest: number) {
    this.#columns.highest[this.#here] = highest;
  }
  get calledAt(): number {
    return this.#columns.calledAt[this.#here] ?? 0;
  }
  set calledAt(milliseconds: number) {
    this.#columns.calledAt[this.#here] = milliseconds;
  }
  get near(): number {
    return this.#columns.near[this.#here] ?? 0;
  }
  set near(bits: number) {
    this.#columns.near[this.#here] = bits;
  }
  get far(): number {
    return this.#columns.far[this.#here] ?? 0;
  }
  set far(bits: number) {
    this.#columns.far[this.#here] = bits;
  }

  get left(): number {
    return this.#columns.left[this.#here] ?? 0;
  }
  set left(calls: number) {
    this.#columns.left[this.#here] = calls;
  }
  get at(): number {
    return this.#columns.at[this.#here] ?? 0;
  }
  set at(milliseconds: number) {
    this.#columns.at[this.#here] = milliseconds;
  }

  get spent(): number {
    return this.#columns.spent[this.#here] ?? 0;
  }
  set spent(bytes: number) {
    this.#columns.spent[this.#here] = bytes;
  }
  get spentAt(): number {
    return this.#columns.spentAt[this.#here] ?? 0;
  }
  set spentAt(milliseconds: number) {
    this.#columns.spentAt[this.#here] = milliseconds;
  }

  /** The agent's row, or the unassigned row if the agent has been removed. */
  get #here(): number {
    return this.#columns.turn[this.#row] === this.#turn ? this.#row : this.#columns.spare;
  }
}

/**
 * Caches up to `most` agents, indexed by credential hash and by VM. When the cache is full, the CLOCK algorithm evicts
 * an agent that has not called recently.
 */
export class AgentMemory {
  readonly #most: number;
  readonly #columns: Columns;
  readonly #byHash: KeyIndex;
  readonly #byVm: KeyIndex;
  /** Cache of ETags, so that an ETag that many VMs share is stored only once. */
  readonly #etags = new LRUCache<string, string>({ max: 1_000 });
  /** The bytes that removed agents have sent, by VM, so that a new credential does not reset a VM's limit. */
  readonly #spentBefore = new LRUCache<string, Spending>({ max: 10_000 });
  readonly #relations = new RelationIndex();
  /** Rows that are free because their agent was removed. */
  readonly #free: number[] = [];
  /** Number of rows used so far, including those that are free again. */
  #used = 0;
  #hand = 0;

  constructor(most: number) {
    this.#most = most;
    this.#columns = new Columns(most);
    this.#byHash = new KeyIndex(most, wordsOfHash);
    this.#byVm = new KeyIndex(most, wordsOfUuid);
  }

  get size(): number {
    return this.#used - this.#free.length;
  }

  /** Finds the agent with this credential hash, and records its call. */
  find(hash: string): KnownAgent | undefined {
    const row = this.#byHash.find(hash);
    if (row < 0) return undefined;
    this.#columns.called[row] = 1;
    return new KnownAgent(this.#columns, row);
  }

  findByVm(vmId: string): KnownAgent | undefined {
    const row = this.#byVm.find(vmId);
    return row < 0 ? undefined : new KnownAgent(this.#columns, row);
  }

  /** Whether the VM's agent has the credential with this hash. */
  isOfVm(hash: string, vmId: string): boolean {
    const row = this.#byVm.find(vmId);
    return row >= 0 && row === this.#byHash.find(hash);
  }

  /**
   * Stores an agent as read from the database. If the agent is already cached, keeps what only the cache knows, such as
   * recent call numbers.
   */
  remember(hash: string, identity: AgentIdentity, epoch: number): KnownAgent {
    const { vmId, vmName, instanceId, counter, logRequests, newestLogRequest } = identity;
    if (!this.isOfVm(hash, vmId)) {
      this.forget(hash);
      this.forgetVm(vmId);
    }
    const known = this.#byHash.find(hash);
    const row = known < 0 ? this.#enter(hash, vmId) : known;
    const columns = this.#columns;
    if (known < 0) columns.calledAt[row] = identity.lastSeenAt?.getTime() ?? 0;
    const etag = this.#etags.get(identity.etag) ?? identity.etag;
    this.#etags.set(etag, etag);
    columns.vmId[row] = vmId;
    columns.text[row] = `${instanceId ?? ''}\n${vmName}`;
    columns.etag[row] = etag;
    columns.epoch[row] = epoch;
    columns.counter[row] = counter;
    columns.logRequests[row] = logRequests;
    columns.newestLogRequest[row] = newestLogRequest;
    this.#rememberExecutions(row, identity);
    columns.unitsRevision[row] = identity.unitsRevision;
    columns.unitsClocks[row] = identity.unitsClocks;
    this.#relations.set(vmId, identity.relations);
    columns.called[row] = 1;
    return new KnownAgent(columns, row);
  }

  /** Stores the waiting execution and the execution that must end. Marks a changed one as not announced. */
  #rememberExecutions(row: number, { executionStamp, executionTurn, cancelStamp }: AgentIdentity): void {
    const columns = this.#columns;
    let announced = columns.announcedExecutions[row] ?? 0;
    if (columns.executionStamp[row] !== executionStamp) announced &= ~executionNews.waiting;
    if (columns.cancelStamp[row] !== cancelStamp) announced &= ~executionNews.cancel;
    columns.announcedExecutions[row] = announced;
    columns.executionStamp[row] = executionStamp;
    columns.executionTurn[row] = executionTurn;
    columns.cancelStamp[row] = cancelStamp;
  }

  /** Returns the cached VMs whose units take part in a relation. */
  vmsOfRelation(relation: number): readonly string[] {
    return this.#relations.vmsOf(relation);
  }

  /** Returns the number of cached VMs in the largest relation of a VM. */
  largestRelationOf(vmId: string): number {
    return this.#relations.largestOf(vmId);
  }

  /** Marks the VM's cached goal state as stale. */
  moveOn(vmId: string): void {
    const row = this.#byVm.find(vmId);
    if (row >= 0) this.#columns.etag[row] = null;
  }

  forget(hash: string): void {
    const row = this.#byHash.find(hash);
    if (row >= 0) this.#giveUp(row);
  }

  forgetVm(vmId: string): void {
    const row = this.#byVm.find(vmId);
    if (row >= 0) this.#giveUp(row);
  }

  #enter(hash: string, vmId: string): number {
    const columns = this.#columns;
    const row = this.#free.pop() ?? (this.#used < this.#most ? this.#used++ : this.#evict());
    this.#byHash.add(row, hash);
    this.#byVm.add(row, vmId);
    columns.highest[row] = -1;
    columns.left[row] = Number.POSITIVE_INFINITY;
    columns.at[row] = 0;
    const { spent, spentAt } = this.#spentBefore.get(vmId) ?? { spent: 0, spentAt: 0 };
    columns.spent[row] = spent;
    columns.spentAt[row] = spentAt;
    columns.announcedLogRequest[row] = null;
    columns.executionStamp[row] = 0;
    columns.cancelStamp[row] = 0;
    columns.announcedExecutions[row] = 0;
    return row;
  }

  #evict(): number {
    const { called } = this.#columns;
    for (; called[this.#hand] === 1; this.#hand = (this.#hand + 1) % this.#most) called[this.#hand] = 0;
    this.#giveUp(this.#hand);
    return this.#free.pop() ?? 0;
  }

  #giveUp(row: number): void {
    const columns = this.#columns;
    this.#byHash.remove(row);
    this.#byVm.remove(row);
    const [vmId = '', spent = 0, spentAt = 0] = [columns.vmId[row], columns.spent[row], columns.spentAt[row]];
    if (spent > 0) this.#spentBefore.set(vmId, { spent, spentAt });
    this.#relations.forget(vmId);
    columns.turn[row] = (columns.turn[row] ?? 0) + 1;
    columns.vmId[row] = '';
    columns.text[row] = '';
    columns.etag[row] = null;
    columns.newestLogRequest[row] = null;
    columns.announcedLogRequest[row] = null;
    columns.called[row] = 0;
    this.#free.push(row);
  }
}
