import { statusWords } from '#protocol/index.ts';

const names = [
  'version',
  'timestampUTC',
  'status',
  'name',
  'operation',
  'configurationAppliedTime',
  'code',
  'message',
  'formattedMessage',
  'substatus',
  'id',
  'params',
  'lang',
];
const schemaName = new Map(names.map((name) => [name.toLowerCase(), name]));
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Returns a sentence for each place where the spelling of a readable status file (AZ-S2) differs from the schema. */
export function oddSpellings(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(oddSpellings);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inside]) => {
    const name = schemaName.get(key.toLowerCase()) ?? key;
    const spelling = name === key ? [] : [`${key} is ${name} in the schema.`];
    return [...spelling, ...oddValue(name, inside), ...(name === 'params' ? [] : oddSpellings(inside))];
  });
}

function oddValue(name: string, value: unknown): string[] {
  if (name === 'status' && typeof value === 'string' && !isOneOf(statusWords, value)) {
    return [`The status ${value} is ${value.toLowerCase()} in the schema.`];
  }
  if (name === 'timestampUTC' && typeof value === 'string' && !isoTime.test(value)) {
    return ['timestampUTC is a time as 2026-01-31T12:00:00Z in the schema.'];
  }
  if (name === 'formattedMessage' && typeof value === 'string') {
    return ['formattedMessage is { "lang", "message" } in the schema, not a text.'];
  }
  if (name === 'id' && typeof value === 'number') return ['A message id is a string in the schema, not a number.'];
  return [];
}

function isOneOf(words: readonly string[], value: string): boolean {
  return words.includes(value);
}
