import parseSemver from 'semver/functions/parse.js';

/** Returns the parts of a semantic version without a leading `v` or spaces; null for other values. */
export function semverOf(value: unknown) {
  return typeof value === 'string' && /^\d\S*$/.test(value) ? parseSemver(value) : null;
}

/** Whether a value is a semantic version without a leading `v` or spaces. */
export const isSemver = (value: unknown): value is string => semverOf(value) !== null;

/**
 * Whether a text can be the version of a runbook: a semantic version without build metadata, which is ignored when
 * versions are compared.
 */
export const isRunbookVersion = (text: string): boolean => isSemver(text) && !text.includes('+') && text.length <= 64;
