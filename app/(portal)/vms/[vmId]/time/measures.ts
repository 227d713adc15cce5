/** Heights of a lane and of the clock above the lanes, in pixels. */
export const laneHeight = 26;
export const headHeight = 20;

/** Heights of the space below the lanes, in pixels: for a line of notes, or for the button for more lanes. */
export const footHeights = { notes: 24, button: 34 };

/** Number of extensions whose lanes are shown at first. */
export const shownLanes = 12;

/** The lanes above the extensions' lanes. The heartbeat lane is below the extensions' lanes. */
export const lanesAbove = ['configuration', 'act', 'execution'] as const;

/** Number of lanes of an axis that shows this many extensions. */
export const laneCount = (extensions: number): number => lanesAbove.length + extensions + 1;
