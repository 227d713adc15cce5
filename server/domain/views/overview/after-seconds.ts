/** Converts a PostgreSQL time, given in seconds since 1970, to the first whole millisecond that is certainly later. */
export const afterSeconds = (seconds: number): string => new Date(Math.ceil(seconds * 1000) + 1).toISOString();
