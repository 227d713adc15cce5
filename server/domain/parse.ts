import type { z } from 'zod';
import en from '#locales/en/errors.json' with { type: 'json' };
import { jsonPointer } from '#protocol/pointer.ts';
import { DomainError, type ErrorCode, type Fault } from '#server/domain/error.ts';

/**
 * Parses a verb's input. Throws `invalid` (422, or the given kind) with a fault for every issue: a JSON pointer and a
 * code for what was expected, never the value that was sent.
 */
export function parse<S extends z.ZodType>(
  schema: S,
  input: unknown,
  kind: 'bad_request' | 'unprocessable' = 'unprocessable',
): z.output<S> {
  const result = schema.safeParse(input, { reportInput: true });
  if (result.success) return result.data;
  throw new DomainError(kind, 'invalid', { faults: result.error.issues.flatMap(faultsOfIssue) });
}

type Issue = z.core.$ZodIssue;

/**
 * The names of unknown fields are shown only if they match this pattern, so that they cannot contain a sentence or a
 * secret.
 */
const plainName = /^[A-Za-z_$][\w$.-]{0,63}$/;

/** Returns the pointer up to the first name that is not plain. */
function shownPointer(path: readonly PropertyKey[]): string {
  const strange = path.findIndex((part) => typeof part !== 'number' && !plainName.test(String(part)));
  return jsonPointer(strange < 0 ? path : path.slice(0, strange));
}

const isCode = (text: string): text is ErrorCode => Object.hasOwn(en, text) && !text.startsWith('kind.');

/**
 * Converts an issue of zod (parsed with `reportInput`) to faults. An unknown key is a fault at its own path. For a
 * union, returns the faults of the best-fitting branch. If the message of a check is an error code, as in
 * `z.string().regex(form, 'vm_name_form')`, the fault gets that code and, for a custom check, its `params`.
 */
export function faultsOfIssue(issue: Issue): Fault[] {
  const path = shownPointer(issue.path);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: shownPointer([...issue.path, key]), code: 'field_unknown' as const }));
  }
  if (isCode(issue.message)) {
    return [{ path, code: issue.message, ...(issue.code === 'custom' && issue.params && { params: issue.params }) }];
  }
  if (issue.code === 'invalid_union') {
    const inside = issue.errors.filter((branch) => branch.some((inner) => inner.path.length > 0));
    const nearest = inside.toSorted((a, b) => a.length - b.length)[0];
    if (nearest) return nearest.flatMap((inner) => faultsOfIssue({ ...inner, path: [...issue.path, ...inner.path] }));
  }
  return [{ path, ...codeOf(issue) }];
}

/** JSON types have their own sentences, so that users do not see zod's names `record` or `int`. */
const typeCodes: Readonly<Record<string, { code: ErrorCode }>> = {
  string: { code: 'field_not_text' },
  boolean: { code: 'field_not_boolean' },
  number: { code: 'field_not_number' },
  int: { code: 'field_not_integer' },
  array: { code: 'field_not_array' },
  object: { code: 'field_not_object' },
  record: { code: 'field_not_object' },
};

function codeOf(issue: Issue): { code: ErrorCode; params?: Record<string, string | number> } {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return { code: 'field_missing' };
      return typeCodes[issue.expected] ?? { code: 'field_type', params: { expected: issue.expected } };
    case 'too_small': {
      const minimum = Number(issue.minimum);
      if (issue.origin === 'string') {
        return minimum === 1 ? { code: 'field_empty' } : { code: 'field_too_short', params: { minimum } };
      }
      return { code: issue.origin === 'array' ? 'field_too_few' : 'field_too_small', params: { minimum } };
    }
    case 'too_big': {
      const maximum = Number(issue.maximum);
      if (issue.origin === 'string') return { code: 'field_too_long', params: { maximum } };
      return { code: issue.origin === 'array' ? 'field_too_many' : 'field_too_big', params: { maximum } };
    }
    case 'invalid_value':
      return issue.input === undefined
        ? { code: 'field_missing' }
        : { code: 'field_choice', params: { choices: issue.values.map(String).join(', ') } };
    case 'invalid_format':
      return { code: 'field_format' };
    default:
      return { code: 'field_invalid' };
  }
}
