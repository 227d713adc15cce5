import { z } from 'zod';
import type { PortalResponse } from './call.ts';

/** The error for a request that the portal rejected. */
export class PortalRefusal extends Error {
  override readonly name = 'PortalRefusal';
  readonly status: number;
  readonly code: string;
  /** The delay that the portal requests, in seconds, or null. */
  readonly retryAfter: number | null;

  constructor(answer: PortalResponse) {
    const problem = problemOf(answer.text);
    super(`${(problem.detail ?? problem.title ?? 'no reason given').replace(/\.$/, '')} (${answer.status})`);
    this.status = answer.status;
    this.code = problem.code ?? '';
    this.retryAfter = secondsIn(answer.headers['retry-after']);
  }

  /** Whether the same request may succeed later. */
  get passing(): boolean {
    return this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

const problemDocument = z.object({
  title: z.string().optional(),
  detail: z.string().optional(),
  code: z.string().optional(),
});

function problemOf(text: string): z.infer<typeof problemDocument> {
  try {
    return problemDocument.catch({}).parse(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Maximum delay. A longer delay is a mistake, and a timer treats more than 24 days as no delay. */
const maxDelaySeconds = 3600;

/** Returns the number of seconds in a header, at most an hour; null if the header is absent or invalid. */
export function secondsIn(value: string | string[] | undefined): number | null {
  const number = Number(Array.isArray(value) ? value[0] : value);
  return value === undefined || !Number.isFinite(number) || number < 0 ? null : Math.min(number, maxDelaySeconds);
}
