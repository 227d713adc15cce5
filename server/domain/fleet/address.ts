import type { FieldShape, FieldValue, TagFilter, ValueOf } from '#server/domain/fleet-field.ts';

/* Filter fields as URL parameters. Pages and entry points share this file, so it imports only types. */

/**
 * A parameter's value; undefined if it is absent or invalid. A list omits its invalid entries. `isValid` is false if
 * the value or any of its entries is invalid.
 */
export interface ReadParameter {
  value: ValueOf<FieldValue> | undefined;
  isValid: boolean;
}

/** Reads the URL parameter of a field. */
export function readParameter({ parameter, value }: FieldShape, parameters: URLSearchParams): ReadParameter {
  const given = parameters.getAll(parameter).filter((text) => text !== '');
  const [first] = given;
  if (first === undefined) return { value: undefined, isValid: true };
  switch (value.kind) {
    case 'text':
      return readText(first, value);
    case 'number': {
      const number = Number(first);
      const isValid = /^-?\d+$/.test(first) && number >= value.min && number <= value.max;
      return { value: isValid ? number : undefined, isValid };
    }
    case 'time':
      return { value: isInstant(first) ? first : undefined, isValid: isInstant(first) };
    case 'words': {
      const words = first.split(',').filter((word) => word !== '');
      return {
        value: value.words.filter((word) => words.includes(word)),
        isValid: words.every((word) => value.words.includes(word)),
      };
    }
    case 'tags': {
      const tags = given.map(tagFrom).filter((tag) => isTag(tag, value.max));
      return { value: tags.slice(0, value.count), isValid: tags.length === given.length && tags.length <= value.count };
    }
  }
}

function readText(text: string, { min = 0, max, form }: Extract<FieldValue, { kind: 'text' }>): ReadParameter {
  const isLong = text.length >= min && text.length <= max;
  const isValid = isLong && !text.includes('\0') && (form === undefined || new RegExp(form).test(text));
  return { value: isValid ? text : undefined, isValid };
}

/** Whether the text is a time in UTC that PostgreSQL can read, such as `2026-03-01T12:00:00Z`. */
export const isInstant = (text: string): boolean =>
  /^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/.test(text) &&
  // `Date` turns an impossible date, such as February 30, into another date.
  new Date(text.slice(0, 10)).toJSON()?.slice(0, 10) === text.slice(0, 10) &&
  !Number.isNaN(Date.parse(text));

/** Writes a field as a URL parameter, or nothing if the value is absent or empty. */
export function writeParameter(
  { parameter }: Pick<FieldShape, 'parameter'>,
  value: ValueOf<FieldValue> | undefined,
  parameters: URLSearchParams,
): void {
  if (value === undefined || value === '') return;
  const entries = Array.isArray(value) ? value : [String(value)];
  const words = entries.filter((entry) => typeof entry === 'string');
  if (words.length > 0) parameters.set(parameter, words.join(','));
  for (const entry of entries) if (typeof entry !== 'string') parameters.append(parameter, tagText(entry));
}

/** Encodes a tag as a parameter: `name=value`, or only the name. In the name, `%` and `=` become `%25` and `%3D`. */
export function tagText({ name, value }: TagFilter): string {
  const key = name.replaceAll('%', '%25').replaceAll('=', '%3D');
  return value === undefined ? key : `${key}=${value}`;
}

/** Decodes a tag from a parameter. */
export function tagFrom(text: string): TagFilter {
  const at = text.indexOf('=');
  const name = (at < 0 ? text : text.slice(0, at)).replaceAll('%3D', '=').replaceAll('%25', '%');
  return at < 0 ? { name } : { name, value: text.slice(at + 1) };
}

const isTag = ({ name, value = '' }: TagFilter, max: number): boolean =>
  name !== '' && name.length <= max && value.length <= max && !`${name}${value}`.includes('\0');
