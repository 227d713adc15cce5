import type { UnitGoal } from '#protocol/index.ts';
import { AgentError, sentenceOf } from '../../agent-error.ts';
import type { AgentLayout } from '../../folder/layout.ts';
import type { Journal } from '../../journal.ts';
import { type Backoff, backoff } from '../../portal/backoff.ts';
import type { Portal } from '../../portal/portal.ts';
import { fetchFormula } from '../../unit/fetch-formula.ts';
import type { LocalUnit } from '../../unit/local-unit.ts';
import { formulaRootOf } from '../../unit/unit-paths.ts';

export interface FormulaFetcherOptions {
  layout: AgentLayout;
  portal: Pick<Portal, 'downloadPackage'>;
  journal: Journal;
  signal: AbortSignal;
  /** Called when a download has ended or may be retried. */
  onChange(): void;
  onProblem(message: string): void;
}

interface Pausing {
  pauses: Backoff;
  timer: NodeJS.Timeout | null;
  reported: string | null;
}

/** Downloads and unpacks formulas while the lane does other work. Retries with backoff while a formula is needed. */
export class FormulaFetcher {
  private readonly running = new Map<string, Promise<void>>();
  private readonly pausing = new Map<string, Pausing>();
  private readonly options: FormulaFetcherOptions;

  constructor(options: FormulaFetcherOptions) {
    this.options = options;
  }

  /** Starts the download of a unit's formula, unless it is running or waits for its retry. */
  start(unit: LocalUnit, goal: UnitGoal): void {
    const key = `${unit.name} ${goal.formula.version} ${goal.formula.package.sha256}`;
    if (this.running.has(key) || this.pausing.get(key)?.timer) return;
    const fetch = this.fetch(unit, goal, key).finally(() => {
      this.running.delete(key);
      this.options.onChange();
    });
    this.running.set(key, fetch);
  }

  stop(): void {
    for (const { timer } of this.pausing.values()) clearTimeout(timer ?? undefined);
    this.pausing.clear();
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.running.values());
  }

  private async fetch(unit: LocalUnit, goal: UnitGoal, key: string): Promise<void> {
    const { layout, portal, journal, signal } = this.options;
    const { version, package: wanted } = goal.formula;
    try {
      await fetchFormula(layout, portal, goal, formulaRootOf(unit.paths, version), signal);
      if (unit.isRemoved) return;
      unit.noteFormula(version, wanted.sha256);
      this.pausing.delete(key);
      journal.info(`${unit.name}: the formula ${goal.formula.id} ${version} was unpacked.`);
    } catch (error) {
      if (!signal.aborted) this.retryLater(unit, key, error);
    }
  }

  private retryLater(unit: LocalUnit, key: string, error: unknown): void {
    const pausing = this.pausing.get(key) ?? { pauses: backoff(1, 60), timer: null, reported: null };
    const message = `${unit.name}: its formula could not be fetched: ${sentenceOf(error)}`;
    if (pausing.reported !== message) {
      this.options.journal.warn(message);
      if (error instanceof AgentError) this.options.onProblem(message);
    }
    pausing.reported = message;
    pausing.timer = setTimeout(() => {
      pausing.timer = null;
      this.options.onChange();
    }, pausing.pauses.next() * 1000);
    this.pausing.set(key, pausing);
  }
}
