import { hash } from 'node:crypto';
import type { StatusObject } from '#protocol/index.ts';
import type { ShownStatus } from '#server/domain/stock-agents/index.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { type Report, reportSeconds } from './status/translate-status.ts';

/** Milliseconds after which an unchanged status is ingested again, shortly before it would become stale. */
const repeatMs = (reportSeconds - 10) * 1_000;

/**
 * Caches the last report of a stock agent. The agent sends the same status every few seconds, so most uploads need only
 * a comparison.
 */
export class StatusCache {
  /** A digest of each extension's status, and when it was first uploaded. */
  readonly #stamps = new Map<string, { content: string; at: string }>();
  #last: { text: string; at: number; blob: string; etag: string } | null = null;

  /** Adds the statuses that the portal shows, because another process may have received them. */
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

  /** Returns when a status with these contents was first received. */
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

  /** Whether this report repeats the last one. */
  isKnown(report: Report, now: Date): boolean {
    return this.#isFresh(now) && this.#last?.text === textOf(report);
  }

  /** Caches a report that was committed or rejected. */
  keep(report: Report, blob: string, etag: string, now: Date): void {
    this.#last = { text: textOf(report), at: now.getTime(), blob: withoutTimes(blob), etag };
  }

  /** Whether the last report is so recent that nothing has become stale. */
  #isFresh(now: Date): boolean {
    return this.#last !== null && now.getTime() - this.#last.at < repeatMs;
  }
}

/**
 * Returns a digest of a blob without the times of its upload. Times inside texts do not match the pattern, because
 * their quotes are escaped.
 */
const withoutTimes = (blob: string): string => digestOf(blob.replace(/"timestampUTC": ?"[^"\\]{0,40}"/g, ''));

/** Returns a digest of a report without the time of its upload. */
const textOf = ({ agentTime, ...report }: Report): string => digestOf(JSON.stringify(report));

/** Returns a digest of a status as the agent sent it, without what the portal derived or added. */
function contentOf(status: object): string {
  const pick = ({ name, operation, configurationAppliedTime, ...of }: Partial<StatusObject>): object => ({
    ...{ name: name ?? '', operation: operation ?? '', configurationAppliedTime: configurationAppliedTime ?? '' },
    ...{ status: of.status, code: of.code ?? null, formattedMessage: of.formattedMessage ?? null },
    substatus: (of.substatus ?? []).map(pick),
  });
  return digestOf(canonicalJson(pick(status)));
}

const digestOf = (text: string): string => hash('sha256', text, 'base64url');
