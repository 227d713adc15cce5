import { z } from 'zod';
import { afterOf, receiveUnits, type UnitRecord, type UnitState, unitState } from '#protocol/index.ts';
import { sentenceOf } from '../../agent-error.ts';
import type { AgentLayout } from '../../folder/layout.ts';
import { readJson, writeJson } from '../../folder/write-file.ts';
import type { Journal } from '../../journal.ts';
import { backoff } from '../../portal/backoff.ts';
import { PortalRefusal } from '../../portal/portal.ts';
import type { UnitCalls, UnitNews } from '../../portal/unit-calls.ts';
import { wait } from '../../portal/wait.ts';
import { bootOf } from './hook-run.ts';

export interface UnitLooksOptions {
  layout: AgentLayout;
  journal: Journal;
  portal: Pick<UnitCalls, 'unitState'>;
  boot: string;
  recordOf(unit: string): UnitRecord;
  /** Called with a new unit state, which is on disk. */
  onState(state: UnitState): void;
  /** Called after each look, whatever its result. */
  onLooked(): void;
  onProblem(message: string): void;
}

const stored = z.object({ stamp: z.string().nullable(), state: unitState });
type StoredUnitState = z.output<typeof stored>;

/** Returns the unit state on disk, with its stamp; null if there is none. */
export function readStoredUnitState(layout: AgentLayout): StoredUnitState | null {
  const parsed = stored.safeParse(readJson(layout.unitState));
  return parsed.success ? parsed.data : null;
}

/** The agent fetches the unit state this often, even if nothing seems to have changed. */
const usualSeconds = 300;
/** The interval if the portal does not have units. A stamp in a response ends it. */
const unsupportedSeconds = 3600;

/** Fetches what this machine's units should be, whenever it may have changed, and keeps it on disk. */
export class UnitLooks {
  private readonly options: UnitLooksOptions;
  private readonly pauses = backoff(1, 30);
  private held: StoredUnitState | null = null;
  /** The last stamp that the portal sent. */
  private heard: string | null = null;
  private wanted = new AbortController();
  private later: NodeJS.Timeout | undefined;
  private isDone = false;
  private trouble: string | null = null;

  constructor(options: UnitLooksOptions) {
    this.options = options;
  }

  /** Restores the unit state from disk. */
  begin(): void {
    this.held = readStoredUnitState(this.options.layout);
    if (this.held === null) return;
    this.heard = this.held.stamp;
    this.options.onState(this.held.state);
  }

  /** The last stamp that the portal sent; null if it has not sent one. */
  get stamp(): string | null {
    return this.heard;
  }

  /** Whether the agent has fetched the unit state, or tried to. */
  get hasLooked(): boolean {
    return this.isDone;
  }

  note({ stamp, after }: UnitNews): void {
    if (stamp === null || stamp === this.heard) return;
    this.heard = stamp;
    if (stamp === this.held?.stamp) return;
    clearTimeout(this.later);
    if (after > 0) this.later = setTimeout(() => this.look(), after * 1000);
    else this.look();
  }

  /** Fetches the unit state now. */
  look(): void {
    this.wanted.abort();
  }

  async run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      this.wanted = new AbortController();
      const seconds = await this.fetch(stopping);
      this.isDone = true;
      this.options.onLooked();
      await wait(seconds, [stopping, this.wanted.signal]);
    }
    clearTimeout(this.later);
  }

  /** Fetches the unit state once. Returns the seconds until the next time. Does not throw. */
  private async fetch(stopping: AbortSignal): Promise<number> {
    const { portal, journal, boot, onProblem } = this.options;
    try {
      const state = this.held?.state;
      const known = state === undefined ? {} : { epoch: state.epoch, after: afterOf(state) };
      const answer = await portal.unitState({ ...known, ...bootOf({ boot }) }, stopping);
      const parsed = unitState.safeParse(jsonOf(answer.text));
      if (answer.stamp !== null) this.heard = answer.stamp;
      if (!parsed.success) {
        const message = `The unit state cannot be read: ${z.prettifyError(parsed.error)}. The last valid one is used.`;
        if (message !== this.trouble) journal.warn(message);
        if (message !== this.trouble) onProblem(message);
        this.trouble = message;
        return usualSeconds;
      }
      this.receive(parsed.data, answer.stamp);
      this.pauses.reset();
      this.trouble = null;
      return usualSeconds;
    } catch (error) {
      if (error instanceof PortalRefusal && [404, 405].includes(error.status)) return unsupportedSeconds;
      const asked = error instanceof PortalRefusal ? error.retryAfter : null;
      if (!stopping.aborted && this.trouble === null) {
        this.trouble = sentenceOf(error);
        journal.note(`The unit state could not be fetched: ${this.trouble}.`);
      }
      return asked ?? this.pauses.next();
    }
  }

  /** Stores a unit state, and only then makes it current. */
  private receive(received: UnitState, stamp: string | null): void {
    const { layout, recordOf, onState } = this.options;
    const state = receiveUnits(this.held?.state ?? null, received, recordOf);
    const next = { stamp: stamp ?? this.heard, state };
    if (JSON.stringify(next) === JSON.stringify(this.held)) return;
    writeJson(layout.unitState, next);
    this.held = next;
    onState(state);
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
