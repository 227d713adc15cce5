/** The format of a runbook's name, which the portal also checks. */
const form = /^[a-z0-9]+(?:[-._][a-z0-9]+)*$/;
const maxLength = 64;

export const isRunbookName = (name: string): boolean => name.length <= maxLength && form.test(name);

/**
 * Returns a name for a runbook with this title, such as `rotate-certificates`; empty if the title has no letters or
 * digits that a name can contain.
 */
export const runbookNameOf = (title: string): string =>
  title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, maxLength)
    .replace(/^-+|-+$/g, '');
