import { LRUCache } from 'lru-cache';
import type { AgentIdentity } from '#server/domain/enrollment/index.ts';
import type { CallWindow } from '../call-window.ts';
import type { Bucket, Spending } from '../rate-limit.ts';
import { KeyIndex } from './key-index.ts';

const wordsOfHash = 8;
const wordsOfUuid = 4;

/**
 * A column per fact, a row per agent, and one row more, which is nobody's. Beside two texts and an ETag an agent is
 * numbers outside of the heap: who collects garbage among a million agents looks at each object of each.
 */
class Columns {
  readonly spare: number;
  /** Counts whose row it was. */
  readonly turn: Uint32Array;
  readonly vmId: string[];
  /** Instance id and name. */
  readonly text: string[];
  readonly etag: (string | null)[];
  readonly epoch: Int32Array;
  readonly counter: Float64Array;
  readonly highest: Float64Array;
  /** When it called last, in milliseconds; 0 where that is unknown. */
  readonly calledAt: Float64Array;
  readonly near: Int32Array;
  readonly far: Int32Array;
  readonly left: Float64Array;
  readonly at: Float64Array;
  /** Bytes of reports that count still, and when that was counted. */
  readonly spent: Float64Array;
  readonly spentAt: Float64Array;
  readonly logRequests: Int32Array;
  readonly newestLogRequest: (string | null)[];
  readonly told: (string | null)[];
  /** Whether it called since the hand passed. */
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
    this.told = new Array<string | null>(rows).fill(null);
    this.called = new Uint8Array(rows);
  }
}

/**
 * What a process remembers of an agent, for as long as one call takes. Where its row became another agent's meanwhile,
 * it is known by who it was, and its goal state is not known.
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
  /** First instance id seen with its credential; null until one was. */
  get instanceId(): string | null {
    const end = this.#text.indexOf('\n');
    return end === 0 ? null : this.#text.slice(0, end);
  }

  /** The goal state in force; null where it moved on and was not read again. */
  get etag(): string | null {
    return this.#columns.etag[this.#here] ?? null;
  }
  /** In which listening it was read; it must be read again in every later one. */
  get epoch(): number {
    return this.#columns.epoch[this.#here] ?? 0;
  }
  /** Highest call counter that was written down when it was read. */
  get counter(): number {
    return this.#columns.counter[this.#here] ?? 0;
  }
  /** How many log archives operators wait for. */
  get logRequests(): number {
    return this.#columns.logRequests[this.#here] ?? 0;
  }

  /** The newest of them. */
  get newestLogRequest(): string | null {
    return this.#columns.newestLogRequest[this.#here] ?? null;
  }

  /** The one that was the newest when it was told last. */
  get told(): string | null {
    return this.#columns.told[this.#here] ?? null;
  }
  set told(request: string | null) {
    this.#columns.told[this.#here] = request;
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

  /** Its row, or nobody's where it is another agent's by now. */
  get #here(): number {
    return this.#columns.turn[this.#row] === this.#turn ? this.#row : this.#columns.spare;
  }
}

/**
 * Agents by their credentials' hashes and by their VMs, `most` at once: of more, one goes that has not called for long
 * (the hand of a clock passes over the rows, and takes the first that was silent since it last came by).
 */
export class AgentMemory {
  readonly #most: number;
  readonly #columns: Columns;
  readonly #byHash: KeyIndex;
  readonly #byVm: KeyIndex;
  /** Those that many VMs have are kept once. */
  readonly #etags = new LRUCache<string, string>({ max: 1_000 });
  /** Rows that were given up. */
  readonly #free: number[] = [];
  /** Rows that were ever used. */
  #used = 0;
  #hand = 0;

  constructor(most: number) {
    this.#most = most;
    this.#columns = new Columns(most);
    this.#byHash = new KeyIndex(most, wordsOfHash);
    this.#byVm = new KeyIndex(most, wordsOfUuid);
  }

  /** Agents that are remembered. */
  get size(): number {
    return this.#used - this.#free.length;
  }

  /** Whose credential has this hash; it calls. */
  find(hash: string): KnownAgent | undefined {
    const row = this.#byHash.find(hash);
    if (row < 0) return undefined;
    this.#columns.called[row] = 1;
    return new KnownAgent(this.#columns, row);
  }

  /** The VM's agent. */
  findByVm(vmId: string): KnownAgent | undefined {
    const row = this.#byVm.find(vmId);
    return row < 0 ? undefined : new KnownAgent(this.#columns, row);
  }

  /** Whether the credential with this hash is the one of the VM's agent. */
  isOfVm(hash: string, vmId: string): boolean {
    const row = this.#byVm.find(vmId);
    return row >= 0 && row === this.#byHash.find(hash);
  }

  /** Takes in what was read of an agent; its calls go on being counted where it is known. */
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
    columns.called[row] = 1;
    return new KnownAgent(columns, row);
  }

  /** The VM's goal state moved on. */
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
    columns.spent[row] = 0;
    columns.spentAt[row] = 0;
    columns.told[row] = null;
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
    columns.turn[row] = (columns.turn[row] ?? 0) + 1;
    columns.vmId[row] = '';
    columns.text[row] = '';
    columns.etag[row] = null;
    columns.newestLogRequest[row] = null;
    columns.told[row] = null;
    columns.called[row] = 0;
    this.#free.push(row);
  }
}
