import { hash } from 'node:crypto';
import type { StatusObject } from '#protocol/index.ts';
import type { ShownStatus } from '#server/domain/stock-agents/index.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { type Report, reportSeconds } from './status/translate-status.ts';

/** An unchanged status is told to the portal again after so long, a few of the agent's periods before it is missed. */
const repeatMs = (reportSeconds - 10) * 1_000;

/**
 * What was last heard of a stock agent: it sends the same again every few seconds, and nine times out of ten that is
 * all that has to be known of it.
 */
export class Said {
  // Of all that was said a digest is enough, however long it was.
  /** Times of statuses by extension, as long as nothing else of them changes. */
  readonly #stamps = new Map<string, { said: string; at: string }>();
  #told: { text: string; at: number; blob: string; etag: string } | null = null;

  /** What is shown of statuses, maybe heard of by another process. */
  learn(shown: readonly ShownStatus[]): void {
    for (const { extension, document } of shown) {
      if (document.timestampUTC === null) continue;
      this.#stamps.set(extension, { said: contentOf(document), at: document.timestampUTC });
    }
  }

  /** Whether a status is another than this process knows of. */
  isNews(extension: string, status: object): boolean {
    return this.#stamps.get(extension)?.said !== contentOf(status);
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

  /** Whether a blob says what the last one said of the same goal state, and that is known: it need not be read. */
  isRepeated(blob: string, etag: string, now: Date): boolean {
    return this.#isFresh(now) && this.#told?.etag === etag && this.#told.blob === withoutTimes(blob);
  }

  /** Whether the portal was told all of this. */
  isKnown(report: Report, now: Date): boolean {
    return this.#isFresh(now) && this.#told?.text === textOf(report);
  }

  /** It is committed. */
  keep(report: Report, blob: string, etag: string, now: Date): void {
    this.#told = { text: textOf(report), at: now.getTime(), blob: withoutTimes(blob), etag };
  }

  /** So lately that nothing ages for the want of it. */
  #isFresh(now: Date): boolean {
    return this.#told !== null && now.getTime() - this.#told.at < repeatMs;
  }
}

/** A blob but for the times of its upload; within a text the quotes would be escaped. */
const withoutTimes = (blob: string): string => digestOf(blob.replace(/"timestampUTC": ?"[^"\\]{0,40}"/g, ''));

/** Without the time of the upload. */
const textOf = ({ agentTime, ...report }: Report): string => digestOf(JSON.stringify(report));

/** What the agent told of a status, and nothing that was found out or filled in since. */
function contentOf(status: object): string {
  const pick = ({ name, operation, configurationAppliedTime, ...of }: Partial<StatusObject>): object => ({
    ...{ name: name ?? '', operation: operation ?? '', configurationAppliedTime: configurationAppliedTime ?? '' },
    ...{ status: of.status, code: of.code ?? null, formattedMessage: of.formattedMessage ?? null },
    substatus: (of.substatus ?? []).map(pick),
  });
  return digestOf(canonicalJson(pick(status)));
}

const digestOf = (text: string): string => hash('sha256', text, 'base64url');
