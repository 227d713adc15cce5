/** Heights of a lane and of the clock above the lanes, in pixels. */
export const laneHeight = 26;
export const headHeight = 20;

/** Heights of the space below the lanes, in pixels: for a line of notes, or for the button for more lanes. */
export const footHeights = { notes: 24, button: 34 };

/** Number of extensions whose lanes are shown at first. */
export const shownLanes = 12;

/** The lanes above the extensions' lanes. Only machines that can have units have the lane `hook`. */
export const lanesAbove = ['configuration', 'act', 'execution', 'hook'] as const;

/** The lanes of an axis. The heartbeat lane is below the extensions' lanes. */
export interface Lanes {
  hasHooks: boolean;
  /** The extensions that have a lane, in order. */
  names: readonly string[];
}

/** Number of lanes above the extensions' lanes. */
export const countAbove = ({ hasHooks }: Pick<Lanes, 'hasHooks'>): number => lanesAbove.length - (hasHooks ? 0 : 1);

/** Number of lanes of an axis that shows this many extensions. */
export const laneCount = (extensions: number, hasHooks: boolean): number => countAbove({ hasHooks }) + extensions + 1;
