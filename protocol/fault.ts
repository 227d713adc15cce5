import { z } from 'zod';
import { jsonPointer } from './pointer.ts';

/** Codes of faults in wire documents. Each is a key in `locales/<lng>/errors.json`. */
export type ProtocolFaultCode =
  | 'field_missing'
  | 'field_not_text'
  | 'field_not_number'
  | 'field_not_integer'
  | 'field_not_boolean'
  | 'field_not_object'
  | 'field_not_array'
  | 'field_empty'
  | 'field_choice'
  | 'field_format'
  | 'field_invalid'
  | 'field_too_small'
  | 'field_too_big'
  | 'field_too_long'
  | 'text_too_long'
  | 'json_character'
  | 'file_not_array'
  | 'file_not_single'
  | 'file_version'
  | 'language_tag'
  | 'message_id_twice'
  | 'messages_too_many'
  | 'placeholders_too_many'
  | 'substatus_too_deep'
  | 'substatus_too_many';

/** One fault. `path` is a JSON pointer into the document, in the sender's spelling. */
export interface ProtocolFault {
  path: string;
  code: ProtocolFaultCode;
  params?: Record<string, string | number>;
}

export type ReadResult<T> = { value: T } | { faults: ProtocolFault[] };

/**
 * Limits the number of faults in a response. A response without this limit could be many times as large as a hostile
 * document.
 */
export const maxFaults = 1_000;

/** Parses a document. Every fault has a path and a code. Faults repeat no part of the input except property names. */
export function read<S extends z.ZodType>(schema: S, input: unknown): ReadResult<z.output<S>> {
  const result = schema.safeParse(input, { error: (issue) => codeOf(issue) });
  if (result.success) return { value: result.data };
  return { faults: result.error.issues.slice(0, maxFaults).map((issue) => faultOf(issue, input)) };
}

/** Returns the argument for `ctx.addIssue` in custom checks, with the code as the message. */
export function issueOf(
  code: ProtocolFaultCode,
  input: unknown,
  params: Record<string, string | number> = {},
  path: PropertyKey[] = [],
): {
  code: 'custom';
  input: unknown;
  message: ProtocolFaultCode;
  params: Record<string, string | number>;
  path: PropertyKey[];
} {
  return { code: 'custom', input, message: code, params, path };
}

/**
 * Returns a schema that parses each input with the schema that `choose` returns for it. Unlike a union, it reports the
 * faults of that schema only.
 */
export function chosen<T>(choose: (input: unknown) => z.ZodType<T>) {
  return z.unknown().transform((input, ctx): T => {
    const result = choose(input).safeParse(input, { error: (issue) => codeOf(issue) });
    if (result.success) return result.data;
    for (const issue of result.error.issues) {
      ctx.addIssue(issueOf(issue.message as ProtocolFaultCode, input, paramsOf(issue), [...issue.path]));
    }
    return z.NEVER;
  });
}

const codeOfExpected: Readonly<Record<string, ProtocolFaultCode>> = {
  string: 'field_not_text',
  number: 'field_not_number',
  int: 'field_not_integer',
  boolean: 'field_not_boolean',
  object: 'field_not_object',
  record: 'field_not_object',
  array: 'field_not_array',
};

function codeOf(issue: z.core.$ZodRawIssue): ProtocolFaultCode {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'field_missing';
      return codeOfExpected[String(issue.expected)] ?? 'field_invalid';
    case 'invalid_value':
      return issue.input === undefined ? 'field_missing' : 'field_choice';
    case 'invalid_format':
      return 'field_format';
    case 'too_small':
      return issue.origin === 'string' ? 'field_empty' : 'field_too_small';
    case 'too_big':
      return issue.origin === 'string' ? 'field_too_long' : 'field_too_big';
    default:
      return 'field_invalid';
  }
}

function paramsOf(issue: z.core.$ZodIssue): Record<string, string | number> {
  if (issue.code === 'too_big') return { maximum: Number(issue.maximum) };
  if (issue.code === 'too_small') return { minimum: Number(issue.minimum) };
  if (issue.code === 'invalid_value') return { choices: issue.values.map(String).join(', ') };
  return issue.code === 'custom' ? ((issue.params ?? {}) as Record<string, string | number>) : {};
}

function faultOf(issue: z.core.$ZodIssue, input: unknown): ProtocolFault {
  const fault: ProtocolFault = {
    path: jsonPointer(asSent(issue.path, input)),
    code: issue.message as ProtocolFaultCode,
  };
  const params = paramsOf(issue);
  return Object.keys(params).length > 0 ? { ...fault, params } : fault;
}

/**
 * Returns the path in the sender's spelling: schemas use canonical property names, but people search for what they
 * wrote.
 */
function asSent(path: readonly PropertyKey[], input: unknown): PropertyKey[] {
  let at: unknown = input;
  return path.map((part) => {
    if (typeof at !== 'object' || at === null) return part;
    const object = at as Record<PropertyKey, unknown>;
    let key = part;
    if (!Object.hasOwn(object, part) && typeof part === 'string') {
      key = Object.keys(object).find((name) => name.toLowerCase() === part.toLowerCase()) ?? part;
    }
    at = object[key];
    return key;
  });
}
