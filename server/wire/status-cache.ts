import { hash } from 'node:crypto';
import type { StatusObject } from '#protocol/index.ts';
import type { ShownStatus } from '#server/domain/stock-agents/index.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { type Report, reportSeconds } from './status/translate-status.ts';

/** Milliseconds after which an unchanged status is reported again, shortly before it would become stale. */
const repeatMs = (reportSeconds - 10) * 1_000;

/**
 * Remembers the last report of a stock agent. The agent sends the same status every few seconds, so most uploads need
 * only a comparison.
 */
export class StatusCache {
  /** The content of each extension's status, and when this content was first uploaded. */
  readonly #stamps = new Map<string, { content: string; at: string }>();
  #last: { text: string; at: number; blob: string; etag: string } | null = null;

  /** Adds the statuses that the portal shows, which another process may have received. */
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

  /** Returns when this content of a status was first received. */
  stamp(extension: string, status: object, now: Date): string {
    const content = contentOf(status);
    const known = this.#stamps.get(extension);
    if (known?.content === content) return known.at;
    const at = now.toISOString();
    this.#stamps.set(extension, { content, at });
    return at;
  }

  /** Whether a blob repeats the last one for the same goal state. It then need not be parsed. */
  isRepeated(blob: string, etag: string, now: Date): boolean {
    return this.#isFresh(now) && this.#last?.etag === etag && this.#last.blob === withoutTimes(blob);
  }

  /** Whether the portal already has everything in this report. */
  isKnown(report: Report, now: Date): boolean {
    return this.#isFresh(now) && this.#last?.text === textOf(report);
  }

  /** Stores a report that was committed. */
  keep(report: Report, blob: string, etag: string, now: Date): void {
    this.#last = { text: textOf(report), at: now.getTime(), blob: withoutTimes(blob), etag };
  }

  /** Whether the last report is recent enough that nothing has become stale. */
  #isFresh(now: Date): boolean {
    return this.#last !== null && now.getTime() - this.#last.at < repeatMs;
  }
}

/**
 * Returns a digest of a blob without the times of its upload. Times inside a text do not match, because their quotes
 * are escaped.
 */
const withoutTimes = (blob: string): string => digestOf(blob.replace(/"timestampUTC": ?"[^"\\]{0,40}"/g, ''));

/** Returns a digest of a report without the time of its upload. */
const textOf = ({ agentTime, ...report }: Report): string => digestOf(JSON.stringify(report));

/** Returns a status as the agent sent it, without what the portal derived or added. */
function contentOf(status: object): string {
  const pick = ({ name, operation, configurationAppliedTime, ...of }: Partial<StatusObject>): object => ({
    ...{ name: name ?? '', operation: operation ?? '', configurationAppliedTime: configurationAppliedTime ?? '' },
    ...{ status: of.status, code: of.code ?? null, formattedMessage: of.formattedMessage ?? null },
    substatus: (of.substatus ?? []).map(pick),
  });
  return digestOf(canonicalJson(pick(status)));
}

const digestOf = (text: string): string => hash('sha256', text, 'base64url');
