import type en from '#locales/en/errors.json';

/** All error codes: the keys of `locales/en/errors.json`, except those that start with `kind.`. */
export type ErrorCode = Exclude<keyof typeof en, `kind.${string}`>;

/** The category of an error. Each entry point maps a kind to a status in one place. */
export type ErrorKind =
  | 'bad_request'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'not_acceptable'
  | 'too_slow'
  | 'conflict'
  | 'precondition_failed'
  | 'too_large'
  | 'unsupported_media_type'
  | 'unprocessable'
  | 'rate_limited'
  | 'unavailable'
  | 'insufficient_storage';

/** Values for the placeholders of a sentence. Must not be raw input, which could contain a secret. */
export type ErrorParams = Readonly<Record<string, string | number>>;

/**
 * A fault and its location: a JSON pointer (`/publicSettings/port`), the name of a zip entry, or both joined by `#`
 * (`HandlerManifest.json#/0/version`). An empty path means the whole document.
 */
export interface Fault {
  path: string;
  code: ErrorCode;
  params?: ErrorParams;
}

/**
 * An error that a caller may see. Any other exception that `foreseen` does not convert is a bug, and the response
 * contains only a request id.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: ErrorCode;
  readonly kind: ErrorKind;
  readonly params: ErrorParams;
  readonly faults: readonly Fault[];
  /** Seconds after which the caller should retry; for `rate_limited` and `unavailable`. */
  readonly retryAfter: number | undefined;

  constructor(
    kind: ErrorKind,
    code: ErrorCode,
    options: { params?: ErrorParams; faults?: readonly Fault[]; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(code, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.code = code;
    this.params = options.params ?? {};
    this.faults = options.faults ?? [];
    this.retryAfter = options.retryAfter;
  }
}

/** The HTTP status of a problem document, by kind of error. */
export const statusOfKind: Readonly<Record<ErrorKind, number>> = {
  bad_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  too_slow: 408,
  conflict: 409,
  precondition_failed: 412,
  too_large: 413,
  unsupported_media_type: 415,
  unprocessable: 422,
  rate_limited: 429,
  unavailable: 503,
  insufficient_storage: 507,
};
