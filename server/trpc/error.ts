import { TRPCError } from '@trpc/server';
import { DomainError, type ErrorCode, type ErrorKind } from '#server/domain/error.ts';
import { foreseen } from '#server/i18n/foreseen.ts';
import { type Language, translateError } from '#server/i18n/index.ts';

type TrpcCode = TRPCError['code'];

const codeOfKind: Readonly<Record<ErrorKind, TrpcCode>> = {
  bad_request: 'BAD_REQUEST',
  unauthenticated: 'UNAUTHORIZED',
  forbidden: 'FORBIDDEN',
  not_found: 'NOT_FOUND',
  method_not_allowed: 'METHOD_NOT_SUPPORTED',
  not_acceptable: 'BAD_REQUEST',
  too_slow: 'TIMEOUT',
  conflict: 'CONFLICT',
  precondition_failed: 'PRECONDITION_FAILED',
  too_large: 'PAYLOAD_TOO_LARGE',
  unsupported_media_type: 'UNSUPPORTED_MEDIA_TYPE',
  unprocessable: 'UNPROCESSABLE_CONTENT',
  rate_limited: 'TOO_MANY_REQUESTS',
  unavailable: 'SERVICE_UNAVAILABLE',
  insufficient_storage: 'SERVICE_UNAVAILABLE',
};

/** Everything that pages receive about an error, in the user's language. */
export interface ErrorData {
  code: ErrorCode;
  httpStatus: number;
  /** The same text as the error's `message`. */
  message: string;
  title: string;
  requestId: string;
  faults: readonly { path: string; code: ErrorCode; message: string }[];
  /** Seconds after which to retry, if known. */
  retryAfter: number | null;
}

/** Converts anything thrown to a tRPC error. Expected errors keep their kind; all others are internal. */
export function toTrpcError(thrown: unknown, language: Language, requestId: string): TRPCError {
  const cause = thrown instanceof TRPCError && thrown.cause !== undefined ? thrown.cause : thrown;
  const refusal = foreseen(cause) ?? (thrown instanceof TRPCError ? refusalOfLibrary(thrown) : null);
  return new TRPCError({
    code: refusal === null ? 'INTERNAL_SERVER_ERROR' : codeOfKind[refusal.kind],
    message: translateError(refusal ?? cause, language, requestId).detail,
    cause: refusal ?? cause,
  });
}

/** Returns the data of an error for the page. */
export function errorData(error: TRPCError, language: Language, requestId: string): ErrorData {
  const refusal = foreseen(error.cause) ?? refusalOfLibrary(error);
  const problem = translateError(refusal ?? error, language, requestId);
  return {
    code: problem.code,
    httpStatus: problem.status,
    message: problem.detail,
    title: problem.title,
    requestId,
    faults: problem.errors ?? [],
    retryAfter: refusal?.retryAfter ?? null,
  };
}

/** Converts errors that the library throws before a verb runs, because their texts are English and may repeat input. */
function refusalOfLibrary(error: TRPCError): DomainError | null {
  switch (error.code) {
    case 'NOT_FOUND':
      return new DomainError('not_found', 'call_unknown');
    case 'PARSE_ERROR':
    case 'BAD_REQUEST':
    case 'UNSUPPORTED_MEDIA_TYPE':
      return new DomainError('bad_request', 'call_unreadable');
    case 'METHOD_NOT_SUPPORTED':
      return new DomainError('method_not_allowed', 'call_unreadable');
    default:
      return null;
  }
}
