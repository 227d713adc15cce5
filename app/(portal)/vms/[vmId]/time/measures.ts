/** Heights of a lane and of the clock above the lanes, in pixels. */
export const laneHeight = 26;
export const headHeight = 20;

/** Number of extensions whose lanes are shown at first. */
export const shownLanes = 12;
