/** Returns the first whole millisecond that is certainly after a time of PostgreSQL, in seconds since 1970. */
export const afterSeconds = (seconds: number): string => new Date(Math.ceil(seconds * 1000) + 1).toISOString();
