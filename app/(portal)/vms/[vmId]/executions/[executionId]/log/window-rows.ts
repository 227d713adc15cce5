/** Number of rows in a window, the unit in which a log is read. */
export const windowRows = 500;
