/** Seconds in which an agent must fetch a goal state before it is taken back. */
export const fetchSeconds = 300;

/** Seconds after which a step is judged again if its VM's health is to be evaluated first. */
export const markSeconds = 2;
/** Seconds after which a step is judged again if its clock is paused, or if it waits for a call of its agent. */
export const pausedSeconds = 60;
export const callSeconds = 10;

/** A step whose VM did not stay healthy this often has failed. */
export const maxBreaks = 3;

export const secondsAfter = (from: Date, seconds: number): Date => new Date(from.getTime() + seconds * 1_000);
export const earliest = (...times: readonly [Date, ...Date[]]): Date =>
  new Date(Math.min(...times.map((time) => time.getTime())));
