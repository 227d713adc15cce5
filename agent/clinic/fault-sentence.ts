/** Formats a protocol fault as a sentence, for example `/0/status is missing.` */
export function faultSentence({ path, code, params }: Fault): string {
  const words: Record<string, string> = {
    field_missing: 'is missing',
    field_choice: 'is not one of the allowed values',
    file_not_array: 'must be an array of one object',
    file_not_single: 'must be an array of one object',
    file_version: 'must be 1.0',
    manifest_not_array: 'must be an array of one object',
    manifest_not_single: 'must be an array of one object',
    field_not_text: 'must be a string',
    field_not_number: 'must be a number',
    field_not_integer: 'must be a whole number',
    field_not_boolean: 'must be true or false',
    field_not_object: 'must be an object',
    field_not_array: 'must be an array',
    field_empty: 'must not be empty',
    text_too_long: 'is too long',
    substatus_too_deep: 'nests substatuses too deeply',
    substatus_too_many: 'has too many substatuses',
    json_character: 'has a character that the database cannot store',
  };
  const choices = params?.choices === undefined ? '' : ` (${params.choices})`;
  return `${path === '' ? '/' : path} ${words[code] ?? `does not match the schema (${code})`}${choices}.`;
}

interface Fault {
  path: string;
  code: string;
  params?: Record<string, string | number>;
}
