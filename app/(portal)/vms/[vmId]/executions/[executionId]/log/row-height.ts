/** Height in pixels of a row that does not wrap. */
export const rowHeight = 20;
