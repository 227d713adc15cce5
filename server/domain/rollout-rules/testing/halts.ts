/** The smallest lead with which a comparison halts (RO-25): number of compared rings, changed first, control first. */
export const halts: readonly (readonly [rings: number, changedFirst: number, controlFirst: number])[] = [
  [1, 7, 0],
  [1, 10, 1],
  [1, 12, 2],
  [1, 14, 3],
  [1, 16, 4],
  [4, 9, 0],
  [4, 12, 1],
  [4, 15, 2],
];
