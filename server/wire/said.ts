import type { StatusObject } from '#protocol/index.ts';
import type { StockGoalState } from '#server/domain/stock-agents/index.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import type { Report } from './status/translate-status.ts';

/**
 * What was last heard of a stock agent: it sends the same again every few seconds, and nine times out of ten that is
 * all that has to be known of it.
 */
export class Said {
  /** Times of statuses by extension, as long as nothing else of them changes. */
  readonly #stamps = new Map<string, { said: string; at: string }>();
  #told: { text: string; at: number } | null = null;

  constructor(shown: StockGoalState['shown']) {
    for (const { extension, document } of shown) {
      if (document.timestampUTC === null) continue;
      this.#stamps.set(extension, { said: contentOf(document), at: document.timestampUTC });
    }
  }

  /** When a status was first heard of as it is. */
  stamp(extension: string, status: object, now: Date): string {
    const said = contentOf(status);
    const known = this.#stamps.get(extension);
    if (known?.said === said) return known.at;
    const at = now.toISOString();
    this.#stamps.set(extension, { said, at });
    return at;
  }

  /** Whether the portal was told all of this, so lately that nothing ages for the want of it. */
  isKnown(report: Report, now: Date, withinMs: number): boolean {
    return this.#told !== null && now.getTime() - this.#told.at < withinMs && this.#told.text === textOf(report);
  }

  /** It is committed. */
  keep(report: Report, now: Date): void {
    this.#told = { text: textOf(report), at: now.getTime() };
  }
}

/** Without the time of the upload. */
const textOf = ({ agentTime, ...report }: Report): string => JSON.stringify(report);

/** What the agent told of a status, and nothing that was found out or filled in since. */
function contentOf(status: object): string {
  const pick = ({ name, operation, configurationAppliedTime, ...of }: Partial<StatusObject>): object => ({
    ...{ name: name ?? '', operation: operation ?? '', configurationAppliedTime: configurationAppliedTime ?? '' },
    ...{ status: of.status, code: of.code ?? null, formattedMessage: of.formattedMessage ?? null },
    substatus: (of.substatus ?? []).map(pick),
  });
  return canonicalJson(pick(status));
}
