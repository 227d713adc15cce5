/**
 * Codes of missing values, which are shown only after the reader has visited the field or has tried to continue.
 */
export const missingValues: ReadonlySet<string> = new Set(['setting_required', 'protected_setting']);
