import { z } from 'zod';
import { errorCode } from '#server/domain/answers.ts';
import { type DomainError, type ErrorCode, type ErrorParams, type Fault, statusOfKind } from '#server/domain/error.ts';
import { foreseen } from './foreseen.ts';
import type { Language } from './languages.ts';
import { translate } from './translator.ts';

export const translatedFault = z.object({
  path: z.string(),
  code: errorCode,
  message: z.string(),
  line: z.int().optional().describe('The line of the fault, in the text at `path`, if it is known.'),
});
export type TranslatedFault = z.infer<typeof translatedFault>;

/** The response to a rejected or failed call, as in RFC 9457, with the additional members of the API contract. */
export const problemDocument = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    code: errorCode,
    requestId: z.string(),
    errors: z.array(translatedFault).optional(),
  })
  .describe(
    'A problem document (RFC 9457) in the language of Accept-Language. `errors` lists every error with its path.',
  );
export type Problem = z.infer<typeof problemDocument>;

/** Maximum length of values in messages, so that a response stays readable and small. */
const shownLength = 200;
const pathLength = 1_024;
/** Maximum length of a property name in a path. Senders choose these names, so a long one could contain any text. */
const nameLength = 64;
/** Maximum number of faults in a response, because a body can have a fault in every byte. */
const shownFaults = 1_000;

/**
 * Characters to replace in values and to escape in paths. Control, line and direction characters could make a value
 * look like part of the message.
 */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const shown = (text: string, most: number): string => {
  const clean = text.replace(invisible, '\u{FFFD}');
  return clean.length > most ? `${clean.slice(0, most - 1)}…` : clean;
};

/** Returns a JSON pointer with invisible characters escaped and long names truncated. */
function shownPath(path: string): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const names = path.split('/').map((name) => {
    const cut = name.length > nameLength ? `${name.slice(0, nameLength - 1).toWellFormed()}…` : name;
    return cut.replace(invisible, (found) => found.split('').map(escaped).join(''));
  });
  return shown(names.join('/'), pathLength);
}

function shownParams(params: ErrorParams): ErrorParams {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      typeof value === 'string' ? shown(value, shownLength) : value,
    ]),
  );
}

/** Returns the message for a code, such as an error code or the code of a package warning. */
export function sentence(code: ErrorCode, params: ErrorParams, language: Language): string {
  return translate(language, 'errors', code, shownParams(params));
}

/** Converts any error to a problem document in this language. An unexpected error shows only the request id. */
export function translateError(error: unknown, language: Language, requestId: string): Problem {
  const refusal: DomainError | null = foreseen(error);
  if (!refusal) return problem('internal', 'internal', 500, { requestId }, language, requestId);
  const { kind, code, params, faults } = refusal;
  const document = problem(kind, code, statusOfKind[kind], params, language, requestId);
  if (faults.length === 0) return document;
  return { ...document, errors: translateFaults(faults, language) };
}

/** Adds messages to faults. If there are more than a thousand, the last entry says how many are missing. */
export function translateFaults(faults: readonly Fault[], language: Language): TranslatedFault[] {
  const hidden = faults.length - shownFaults;
  const more: Fault = { path: '', code: 'more_faults', params: { count: hidden } };
  const listed = hidden > 0 ? [...faults.slice(0, shownFaults), more] : faults;
  return listed.map(({ path, code, params = {} }) => ({
    path: shownPath(path),
    code,
    message: sentence(code, params, language),
    ...(typeof params.line === 'number' && { line: params.line }),
  }));
}

function problem(
  kind: string,
  code: ErrorCode,
  status: number,
  params: ErrorParams,
  language: Language,
  requestId: string,
): Problem {
  return {
    type: `urn:annex:problem:${code}`,
    title: translate(language, 'errors', `kind.${kind}`),
    status,
    detail: sentence(code, params, language),
    code,
    requestId,
  };
}
