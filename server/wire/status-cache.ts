import { hash } from 'node:crypto';
import type { StatusObject } from '#protocol/index.ts';
import type { ShownStatus } from '#server/domain/stock-agents/index.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { type Report, reportSeconds } from './status/translate-status.ts';

/** An unchanged status is reported again after this time, a few of the agent's periods before it would be stale. */
const repeatMs = (reportSeconds - 10) * 1_000;

/**
 * The digest of a stock agent's last report. It repeats the same every few seconds, so most uploads need no more than a
 * comparison.
 */
export class StatusCache {
  /** The content of each extension's status, and the time of its first upload. */
  readonly #stamps = new Map<string, { content: string; at: string }>();
  #last: { text: string; at: number; blob: string; etag: string } | null = null;

  /** Takes in the statuses that the portal shows, which another process may have received. */
  learn(shown: readonly ShownStatus[]): void {
    for (const { extension, document } of shown) {
      if (document.timestampUTC === null) continue;
      this.#stamps.set(extension, { content: contentOf(document), at: document.timestampUTC });
    }
  }

  /** Whether a status differs from the cached one. */
  isNews(extension: string, status: object): boolean {
    return this.#stamps.get(extension)?.content !== contentOf(status);
  }

  /** When this content of a status was first received. */
  stamp(extension: string, status: object, now: Date): string {
    const content = contentOf(status);
    const known = this.#stamps.get(extension);
    if (known?.content === content) return known.at;
    const at = now.toISOString();
    this.#stamps.set(extension, { content, at });
    return at;
  }

  /** Whether a blob repeats the last one for the same goal state, so that it need not be parsed. */
  isRepeated(blob: string, etag: string, now: Date): boolean {
    return this.#isFresh(now) && this.#last?.etag === etag && this.#last.blob === withoutTimes(blob);
  }

  /** Whether all of this was reported to the portal. */
  isKnown(report: Report, now: Date): boolean {
    return this.#isFresh(now) && this.#last?.text === textOf(report);
  }

  /** Stores a report that was committed. */
  keep(report: Report, blob: string, etag: string, now: Date): void {
    this.#last = { text: textOf(report), at: now.getTime(), blob: withoutTimes(blob), etag };
  }

  /** Whether the last report is so recent that nothing becomes stale. */
  #isFresh(now: Date): boolean {
    return this.#last !== null && now.getTime() - this.#last.at < repeatMs;
  }
}

/** A blob without the times of its upload; inside a text the quotes would be escaped. */
const withoutTimes = (blob: string): string => digestOf(blob.replace(/"timestampUTC": ?"[^"\\]{0,40}"/g, ''));

/** Without the time of the upload. */
const textOf = ({ agentTime, ...report }: Report): string => digestOf(JSON.stringify(report));

/** A status as the agent sent it, without what the portal derived or added. */
function contentOf(status: object): string {
  const pick = ({ name, operation, configurationAppliedTime, ...of }: Partial<StatusObject>): object => ({
    ...{ name: name ?? '', operation: operation ?? '', configurationAppliedTime: configurationAppliedTime ?? '' },
    ...{ status: of.status, code: of.code ?? null, formattedMessage: of.formattedMessage ?? null },
    substatus: (of.substatus ?? []).map(pick),
  });
  return digestOf(canonicalJson(pick(status)));
}

const digestOf = (text: string): string => hash('sha256', text, 'base64url');
