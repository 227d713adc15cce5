import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';

/**
 * The characters that `String.trim` removes. The `\s` of PostgreSQL matches a different set, which depends on the
 * database's locale.
 */
const whiteSpace = `\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff`;

/** Whether a stored template has text, by the same rule as `templateOf`: a blank template counts as missing. */
export const hasText = (template: SQLWrapper): SQL => sql`btrim(${template}, ${whiteSpace}) <> ''`;
