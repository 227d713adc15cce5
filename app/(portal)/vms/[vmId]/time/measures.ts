/** Pixels: a lane, and the clock above them. */
export const laneHeight = 26;
export const headHeight = 20;

/** Lanes of extensions that are shown first. */
export const shownLanes = 12;
