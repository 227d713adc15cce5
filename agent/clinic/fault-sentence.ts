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
    field_unknown: 'is unknown',
    field_invalid: 'is not valid',
    field_format: 'has the wrong format',
    field_too_small: 'is too small',
    field_too_big: 'is too large',
    field_too_many: 'has too many entries',
    format_quote: 'has a quote without its end',
    format_brace: 'has a brace without its end',
    format_placeholder: 'has an empty placeholder',
    json_too_deep: 'is nested too deeply',
    plan_action: 'must be Execute',
    plan_base64: 'is not base64',
    plan_file_and_folder: 'has the name of a folder of another file',
    plan_file_missing: 'names a file that the plan does not have',
    plan_file_name: 'must be a relative path without ..',
    plan_file_twice: 'has the name of another file of the script',
    plan_format_newer: 'is newer than this agent supports',
    plan_id: 'must have 1 to 256 bytes without control characters',
    plan_parameters_too_large: 'is larger than 256 KiB',
    plan_platform_missing: 'is not on this machine',
    plan_platform_old: 'is newer than the program on this machine',
    plan_script_name: 'is a reserved or empty name',
    plan_semver: 'is not a semantic version',
    plan_uri: 'is not an http or https address',
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
