/** Rows of a log are read in windows of this many. */
export const windowRows = 500;
