import type { ExecutionException } from '#db/schema/index.ts';
import {
  errorCodes,
  executionResult,
  formatOf,
  fromVCurrentResult,
  vCurrentResult,
} from '#protocol/executions/index.ts';
import { parse } from '#server/domain/parse.ts';

/** What the portal reads from a result in format vNext or vCurrent. */
export interface ReceivedResult {
  /** The error code; null for a fault of the plan in format vCurrent, which has no codes. */
  code: number | null;
  /** The ID of the plan; null in format vCurrent. */
  sourceId: string | null;
  exception: ExecutionException;
}

/** Maximum length of an exception's message or script name in `ExecutionException`. */
const messageLength = 2_000;

/** Reads a result in format vNext or vCurrent (MU-75). Throws 400 `invalid`. */
export function resultOf(value: unknown): ReceivedResult {
  if (isVCurrent(value)) {
    const { code } = fromVCurrentResult(parse(vCurrentResult, value, 'bad_request'));
    return { code, sourceId: null, exception: exceptionOf(value) };
  }
  const { ErrorCode: code, SourceID: sourceId } = parse(executionResult, value, 'bad_request');
  return { code, sourceId, exception: exceptionOf(value) };
}

/** Whether a plan with this result has succeeded. */
export const isSuccess = ({ code }: Pick<ReceivedResult, 'code'>): boolean => code === errorCodes.none;

/**
 * Returns the message and the script of a result's exception; empty texts if the result does not name them. Long texts
 * are truncated. Accepts any JSON value.
 */
export function exceptionOf(value: unknown): ExecutionException {
  const known = isVCurrent(value) ? vCurrentResult.safeParse(value).data : undefined;
  const body = known === undefined ? propertyOf(value, 'Body') : fromVCurrentResult(known).body;
  // The Murano agent for Windows sends the type, the message and more texts in a list.
  const listed = known !== undefined && Array.isArray(body) ? body.filter((each) => typeof each === 'string') : [];
  const message = propertyOf(body, 'Message') ?? listed.slice(0, 2).join(': ');
  return { message: textOf(message), script: textOf(propertyOf(propertyOf(body, 'AdditionalInfo'), 'script')) };
}

const isVCurrent = (value: unknown): boolean =>
  propertyOf(value, 'IsException') !== undefined && formatOf(value as object) === 'v-current';

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : '';
  return text.length > messageLength ? `${text.slice(0, messageLength).toWellFormed()}…` : text;
}

function propertyOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
