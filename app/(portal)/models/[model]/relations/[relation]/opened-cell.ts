/** A key of a unit that the reader opened. */
export interface OpenedCell {
  unit: string;
  key: string;
}
